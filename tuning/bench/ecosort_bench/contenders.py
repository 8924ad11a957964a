"""The contenders: how each is called for the same work with the same means."""

from dataclasses import dataclass
from pathlib import Path

from ecosort_measure.programs import Programs
from ecosort_power.planned import NEUTRAL
from ecosort_power.records import RECORD_BYTES

STXXL_PEERS = ("stxxl_sort", "stxxl_ksort", "stxxl_stream")
PEERS = ("gnu_sort", *STXXL_PEERS)
UUTILS = "uutils_sort"
# Sorters that no registry has: a reader's own checkouts, each with a program `run INPUT OUTPUT MEMORY_BYTES THREADS TEMP`.
CHECKOUTS = ("bsort", "crocsort", "rustbucket")
MAKES_SORTED_OUTPUT = ("ecosort", "ecosort_pool", "inplace", *PEERS, *CHECKOUTS)
# These find a copy of the input as their output: they sort in place, or may.
WORKS_IN_OUTPUT = ("inplace", *CHECKOUTS)

# Buffers that take turns through so much are not in a cache of the processors when their turn comes again.
BEYOND_CACHES_BYTES = 64 << 20

# Below this, a peer with large blocks would need one more merge pass.
_LARGE_BLOCKS_FROM_BYTES = 256 << 20


@dataclass(frozen=True)
class Work:
    """A contender gets files, memory and threads."""

    input: Path
    output: Path
    temp: Path
    memory_bytes: int
    threads: int
    trace: Path  # of the sort, for the floors (a)
    floor_trace: Path  # the best trace found for the minimal bytes, for floor (b)
    floor_depth: int
    floor_reserve: bool
    read_depth: int  # of the plan
    write_depth: int
    stats: Path
    spare_bytes: int | None = None  # what in-place sorting may take; None: all there is


@dataclass(frozen=True)
class Contenders(Programs):
    """The sorter and its peers, with the command line of each. `before`: the sorter as it was, if it is to be compared."""

    before: Path | None = None
    peer_dir: Path | None = None  # of the checkouts

    @property
    def uutils(self) -> Path:
        return self.ecosort.parent / "peers" / "bin" / "coreutils"

    def checkout(self, name: str) -> Path:
        return (self.peer_dir or Path("/nonexistent")) / name / "run"

    def peer(self, name: str, blocks: int) -> Path:
        return self.ecosort.parent / "bench" / f"{name}_{blocks}"

    def has_stxxl(self) -> bool:
        return all(self.peer(name, 20).exists() for name in STXXL_PEERS)

    def sort_command(self, work: Work, *extra: str) -> list[str]:
        options = [*NEUTRAL, "--memory", f"{work.memory_bytes}B", "--threads", str(work.threads), "--temp", str(work.temp)]
        return [str(self.ecosort), "sort", *options, "--progress", "none", *extra, str(work.input), "-o", str(work.output)]

    def inplace_command(self, work: Work) -> list[str]:
        """Sorts `work.output`, which holds a copy of the input."""
        options = [*NEUTRAL, "--memory", f"{work.memory_bytes}B", "--threads", str(work.threads), "--progress", "none"]
        space = [] if work.spare_bytes is None else ["--space", f"{work.spare_bytes}B"]
        return [str(self.ecosort), "inplace", *options, *space, "--stats", str(work.stats), str(work.output)]

    def replay_command(self, trace: Path, work: Work, *pace: str) -> list[str]:
        files = ["--input", str(work.input), "--temp", str(work.temp), "--output", str(work.output)]
        return [str(self.replay), str(trace), *files, *pace]

    def command(self, contender: str, work: Work) -> tuple[list[str], dict[str, str]]:
        """The command line and what it adds to the environment."""
        memory, threads = str(work.memory_bytes), str(work.threads)
        if contender == "ecosort":
            return self.sort_command(work, "--stats", str(work.stats)), {}
        if contender == "ecosort_pool":
            return self.sort_command(work, "--io", "pool"), {}
        if contender == "inplace":
            return self.inplace_command(work), {}
        if contender == "floor_a":
            return self.replay_command(work.trace, work), {}
        if contender == "floor_a_depth":
            depths = ["--read-depth", str(work.read_depth), "--write-depth", str(work.write_depth)]
            return self.replay_command(work.trace, work, "--pace", "depth", *depths), {}
        if contender in ("floor_b", "floor_b_memory"):
            depths = ["--read-depth", str(work.floor_depth), "--write-depth", str(work.floor_depth)]
            space = [] if work.floor_reserve else ["--no-reserve"]
            through = f"{min(work.memory_bytes, work.input.stat().st_size)}B"
            memory_of_sort = ["--memory", through] if contender == "floor_b_memory" else []
            return self.replay_command(work.floor_trace, work, "--pace", "depth", *depths, *space, *memory_of_sort), {}
        if contender == "gnu_sort":
            # Records are lines. A separator that never occurs makes the whole line one field, blanks in the key included;
            # with -s the output is the same bytes as that of every stable sort.
            key = ["-t", "\x01", "-k", "1.1,1.10", "-s"]
            means = ["-S", f"{memory}b", f"--parallel={threads}", "-T", str(work.temp)]
            return ["sort", *means, *key, "-o", str(work.output), str(work.input)], {"LC_ALL": "C"}
        if contender == "gen":
            return [str(self.ecosort), "gen", "-a", str(work.input.stat().st_size // RECORD_BYTES), str(work.output)], {}
        if contender == "check":
            return [str(self.ecosort), "check", str(work.input)], {}
        if contender in STXXL_PEERS:
            return self.stxxl_command(contender, work)
        if contender in CHECKOUTS:
            return [str(self.checkout(contender)), str(work.input), str(work.output), memory, threads, str(work.temp)], {}
        raise ValueError(f"no such contender: {contender}")

    def stxxl_command(self, peer: str, work: Work) -> tuple[list[str], dict[str, str]]:
        blocks = 20 if work.memory_bytes >= _LARGE_BLOCKS_FROM_BYTES else 4
        # Sleeping instead of spinning OpenMP threads leave the processors to its I/O threads.
        environment = {"OMP_NUM_THREADS": str(work.threads), "OMP_WAIT_POLICY": "passive"}
        places = map(str, (work.input, work.output, work.temp))
        return [str(self.peer(peer, blocks)), *places, str(work.memory_bytes)], environment
