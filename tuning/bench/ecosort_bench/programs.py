"""The contenders: how each is called for the same work with the same means."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

RECORD_BYTES = 100
STXXL_PEERS = ("stxxl_sort", "stxxl_ksort", "stxxl_stream")
PEERS = ("gnu_sort", *STXXL_PEERS)
MAKES_SORTED_OUTPUT = ("ecosort", "ecosort_pool", "inplace", *PEERS)

# What is measured does not depend on a profile that somebody left on the machine.
NEUTRAL = ("--no-profile",)
# Said where a plan is made for a file of zeros: its size counts, and nothing in it looks like a record.
ANY_RECORDS = ("--record-size", "100", "--key", "0:10")

# Buffers that take turns through so much are not in a cache of the processors when their turn comes again.
BEYOND_CACHES_BYTES = 64 << 20

# Below this, a peer with large blocks would need one more merge pass.
_LARGE_BLOCKS_FROM_BYTES = 256 << 20


@dataclass(frozen=True)
class Work:
    """What a contender gets: files, memory and threads."""

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
class Programs:
    """Where the built programs are."""

    build: Path

    @property
    def ecosort(self) -> Path:
        return self.build / "ecosort"

    @property
    def replay(self) -> Path:
        return self.build / "bench" / "ecosort_replay"

    @property
    def costs(self) -> Path:
        return self.build / "bench" / "ecosort_costs"

    @property
    def make_lines(self) -> Path:
        return self.build / "bench" / "ecosort_make_lines"

    def has_stxxl(self) -> bool:
        return all((self.build / "bench" / f"{peer}_20").exists() for peer in STXXL_PEERS)

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
        raise ValueError(f"no such contender: {contender}")

    def stxxl_command(self, peer: str, work: Work) -> tuple[list[str], dict[str, str]]:
        blocks = 20 if work.memory_bytes >= _LARGE_BLOCKS_FROM_BYTES else 4
        program = self.build / "bench" / f"{peer}_{blocks}"
        # Sleeping instead of spinning OpenMP threads leave the processors to its I/O threads.
        environment = {"OMP_NUM_THREADS": str(work.threads), "OMP_WAIT_POLICY": "passive"}
        return [str(program), str(work.input), str(work.output), str(work.temp), str(work.memory_bytes)], environment

    def checksum(self, path: Path, in_order: bool = True) -> str:
        """The valsort checksum of a file; raises RuntimeError where it must be in order and is not."""
        done = subprocess.run([str(self.ecosort), "check", str(path)], capture_output=True, text=True, check=False)
        if done.returncode != 0 and in_order:
            raise RuntimeError(f"{path} is not sorted: {(done.stderr or done.stdout).strip()[-300:]}")
        return find_checksum(done.stdout + done.stderr)

    def run(self, *words: str | Path) -> str:
        """A quick call of the program; its standard output."""
        done = subprocess.run([str(self.ecosort), *map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"ecosort {' '.join(map(str, words))}: {done.stderr.strip()[-300:]}")
        return done.stdout + done.stderr


def find_checksum(text: str) -> str:
    """The sum in a report of `ecosort check`, or printed alone by `ecosort gen -c`."""
    found = re.search(r"^(?:Checksum: )?([0-9a-f]{1,32})$", text, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"no checksum in: {text.strip()[:200]}")
    return found.group(1)


def version_of(command: Sequence[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.splitlines()[0] if done.stdout else None
