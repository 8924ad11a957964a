"""In which order contenders take their turns."""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Slot:
    """One run of the schedule."""

    round: int
    contender: str


def schedule(quotas: dict[str, int]) -> list[Slot]:
    """All runs, interleaved, contenders with fewer rounds spread evenly.

    A different contender begins each round, and every second round of the same contenders runs backwards, so that no one always
    follows the same one: what a drive has just written can slow down the next.
    """
    rounds = max(quotas.values(), default=0)
    seen: Counter[tuple[str, ...]] = Counter()
    slots = []
    for round_ in range(rounds):
        present = [name for name, quota in quotas.items() if round_ * quota // rounds != (round_ + 1) * quota // rounds]
        turn, is_backwards = divmod(seen[tuple(present)], 2)
        seen[tuple(present)] += 1
        turn %= max(len(present), 1)
        order = present[turn:] + present[:turn]
        slots += [Slot(round_, name) for name in (reversed(order) if is_backwards else order)]
    return slots
