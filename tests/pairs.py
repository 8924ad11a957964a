"""Matrices of tests, of which a soak has every combination and `make test` some."""

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

from capabilities import SOAK

Row = tuple[Any, ...]


def pairs(*axes: Sequence[Any], soak: bool = SOAK) -> list[Row]:
    """Rows to parametrize a test by: every pair of values of any two axes comes at least once."""
    rows = list(product(*(range(len(axis)) for axis in axes)))
    if not soak:
        rows = _covering(rows)
    return [tuple(axis[i] for axis, i in zip(axes, row, strict=True)) for row in rows]


def turns(*axes: Sequence[Any], rounds: int = 1, soak: bool = SOAK) -> list[Row]:
    """Every value of each axis comes at least once: for axes that have little to do with each other. In each further round they
    come with others."""
    if soak:
        return list(product(*axes))
    first, *others = axes
    rows = range(max(map(len, axes)))
    return [(first[i % len(first)], *(axis[(i + turn) % len(axis)] for axis in others)) for turn in range(rounds) for i in rows]


def _covering(rows: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The row that shows most pairs not yet seen, again and again, until none is left."""
    shown = {row: {(a, row[a], b, row[b]) for a, b in combinations(range(len(row)), 2)} for row in rows}
    missing = set().union(*shown.values())
    chosen = []
    while missing:
        best = max(rows, key=lambda row: len(shown[row] & missing))
        chosen.append(best)
        missing -= shown[best]
    return chosen
