"""The stage of text lines, and of binary records with an integer key: kinds of input, each with its commands and its peer."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ecosort_bench.contenders import Contenders, Work

STAGE_PREFIX = "lines_"
SMALL_BYTES = 1_000_000
SMALL_ROUNDS = 50
_RECORD_KEY = ["--record-size", "16", "--key", "0:u64"]


@dataclass(frozen=True)
class Case:
    """One input and how it is sorted. `share` is its part of the size that was asked for."""

    name: str
    what: str
    input_kind: str
    share: float
    words: tuple[str, ...] = ()
    peer: str = "gnu_sort"
    moves_everything: bool = True  # all of the input is stored, if not in memory, and comes out: its floor is known

    @property
    def stage(self) -> str:
        return STAGE_PREFIX + self.name

    def bytes(self, asked_bytes: int) -> int:
        return SMALL_BYTES if self.is_small else max(int(asked_bytes * self.share), SMALL_BYTES)

    @property
    def peer_title(self) -> str:
        return "GNU sort" if self.peer == "gnu_sort" else "STXXL ksort"

    @property
    def contenders(self) -> tuple[str, ...]:
        return ("ecosort", "floor_b", self.peer) if self.moves_everything else ("ecosort", self.peer)

    @property
    def is_small(self) -> bool:
        return self.share == 0


TEXT = Case("text", "lines of about 100 bytes, by the whole line", "text", 1)
CASES = (
    TEXT,
    Case("csv", "CSV-like lines, -t, -k2,2n", "csv", 0.5, ("-t", ",", "-k2,2n")),
    Case("short", "lines of 10 bytes", "short", 0.1),
    Case("unique", "-u, 1 % of the lines are different", "few", 0.2, ("-u",), moves_everything=False),
    Case("small", "1 MB, warm, to standard output", "text", 0, moves_everything=False),
    Case("numeric", "decimal numbers, -n", "numbers", 0.1, ("-n",), moves_everything=False),
    Case("general", "decimal numbers, -g", "numbers", 0.1, ("-g",), moves_everything=False),
    Case("versions", "versions, -V", "versions", 0.1, ("-V",), moves_everything=False),
    Case("equal", "equal lines of 20 bytes", "equal", 0.2, moves_everything=False),
    Case("u64", "records of 16 bytes, u64 key", "u64", 0.4, peer="stxxl_ksort_u64"),
)


def case_of(stage: str) -> Case | None:
    return next((case for case in CASES if case.stage == stage), None)


def command(case: Case, contender: str, programs: Contenders, work: Work) -> tuple[list[str], dict[str, str]]:
    """The command line and what it adds to the environment. A small input goes to standard output, where no one syncs."""
    if case.peer == "stxxl_ksort_u64":
        if contender != "ecosort":
            return programs.stxxl_command(contender, work)
        return programs.sort_command(work, *_RECORD_KEY, "--stats", str(work.stats)), {}
    output = [] if case.is_small else ["-o", str(work.output)]
    words = [
        "-S",
        f"{work.memory_bytes}b",
        f"--parallel={work.threads}",
        "-T",
        str(work.temp),
        *case.words,
        *output,
        str(work.input),
    ]
    if contender == "gnu_sort":
        return ["sort", *words], {"LC_ALL": "C"}
    stats = [] if case.is_small else ["--stats", str(work.stats)]
    # The floor moves what a sort moves that compresses nothing.
    return [str(programs.ecosort), "lines", "--compress=none", "--progress", "none", *stats, *words], {"LC_ALL": "C"}


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def chosen(programs: Contenders, names: tuple[str, ...]) -> Iterator[Case]:
    """The cases of these names, or all; that of records only where STXXL is there to compare with."""
    for case in CASES:
        if (not names or case.name in names) and (case.peer == "gnu_sort" or programs.has_stxxl()):
            yield case
