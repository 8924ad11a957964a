"""The stages of text lines: kinds of input, each with its commands and its peer. `lines`: random lines, and binary records with
an integer key. `data`: lines as people have them, which begin alike or are in order."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ecosort_bench.contenders import UUTILS, Contenders, Work

SMALL_BYTES = 1_000_000
SMALL_ROUNDS = 50
BEFORE = "before"  # EcoSort as it was: another build of the program
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
    group: str = "lines"  # the stage of `make bench` that it belongs to

    @property
    def stage(self) -> str:
        return f"{self.group}_{self.name}"

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


@dataclass(frozen=True)
class Asked:
    """A kind of people's data has these targets: CPU of GNU sort / EcoSort, CPU of the program before / EcoSort, and the bytes
    moved per byte of input at most.
    """

    gnu: float | None
    before: float
    moved: float | None = None


def _data(name: str, what: str, kind: str, words: tuple[str, ...] = ()) -> Case:
    return Case(name, what, kind, 1, words, moves_everything=False, group="data")


DATA = {
    _data("paths", "paths of a file system", "paths"): Asked(2.6, 2.2),
    _data("links", "URLs of 50 shops", "links"): Asked(2.8, 1.9),
    _data("dated", "dated log lines", "dated"): Asked(3, 1.5),
    _data("events", "JSON lines as text", "events"): Asked(3, 1.5),
    _data("packages", "package lists", "packages"): Asked(2.8, 1.7),
    _data("addresses", "addresses by four numbers", "addresses", ("-t.", "-k1,1n", "-k2,2n", "-k3,3n", "-k4,4n")): Asked(3.5, 3),
    _data("integers_n", "integers, -n", "integers", ("-n",)): Asked(7, 1.2),
    _data("integers", "integers as text", "integers"): Asked(4, 1.3),
    _data("in_order", "a log in order", "in-order"): Asked(3, 2, 3.05),
    _data("appended", "a log in order, 5 % appended", "appended"): Asked(None, 1.7, 3.2),
    _data("random", "random lines of 60 to 140 bytes", "text"): Asked(None, 0.99),
}
ALL_CASES = (*CASES, *DATA)


def case_of(stage: str) -> Case | None:
    return next((case for case in ALL_CASES if case.stage == stage), None)


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
    if contender in ("gnu_sort", UUTILS):
        sorter = ["sort"] if contender == "gnu_sort" else [str(programs.uutils), "sort"]
        return [*sorter, *words], {"LC_ALL": "C"}
    stats = [] if case.is_small or contender == BEFORE else ["--stats", str(work.stats)]
    program = programs.before if contender == BEFORE else programs.ecosort
    # The floor moves what a sort moves that compresses nothing.
    return [str(program), "lines", "--compress=none", "--progress", "none", *stats, *words], {"LC_ALL": "C"}


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def chosen(programs: Contenders, group: str, names: tuple[str, ...]) -> Iterator[Case]:
    """The cases of these names, or all of the group; that of records only where STXXL is there to compare with."""
    for case in ALL_CASES:
        if case.group == group and (not names or case.name in names) and (case.peer == "gnu_sort" or programs.has_stxxl()):
            yield case
