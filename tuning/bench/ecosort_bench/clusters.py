"""A cluster of two nodes on this machine against one sort: `make bench-cluster` measures, ecosort_bench.clusters_page reports.

Both have the same two processors, and a task of the cluster has as much memory as the one sort. A cluster that is no faster here
can only cost more; how much more is what this measures.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from ecosort.cluster import Manifest, check
from ecosort.cluster.hashes import HashSum
from ecosort_measure.cold_run import run_cold
from ecosort_measure.results import ROOT
from ecosort_power.codec import write_rows
from ecosort_power.errors import RunError

from ecosort_bench.clusters_page import NAMES, SCHEMA, WAYS, lines_of
from ecosort_bench.processor_group import ProcessorGroup, processor_group
from ecosort_bench.series import Asked, series

CLUSTER_SORT = ROOT / "tuning" / "bench" / "peers" / "cluster_sort.py"
CLUSTER_SORT_PATH = os.pathsep.join(str(ROOT / name) for name in ("python", "power", "tuning", "tuning/bench"))
PYTHON, RAY_PYTHON = ROOT / ".venv" / "bin" / "python", ROOT / ".venv-cluster" / "bin" / "python"
KINDS = tuple(NAMES)
NODES = 2
RECORD, KEY = 100, 10
_CHUNK = 1_000_000  # records made at a time
_ZIPF_KEYS = 1000  # the most frequent is every seventh record


@dataclass(frozen=True)
class Input:
    """A file, and how one process and how the cluster sort it."""

    data: Path
    command: tuple[str, ...]
    terms: dict[str, Any]


def _with_keys(uniform: Path, data: Path, keys: Any) -> None:
    """The records of `uniform` with other keys: `keys(count)` are rows of 10 bytes."""
    with uniform.open("rb") as source, data.open("wb") as file:
        while taken := source.read(_CHUNK * RECORD):
            records = np.frombuffer(taken, dtype=np.uint8).reshape(-1, RECORD).copy()
            records[:, :KEY] = keys(len(records))
            file.write(records.tobytes())


def make_input(build: Path, kind: str, size: int, directory: Path) -> Input:
    """`size` bytes, or a few fewer, as `directory`/kind."""
    data, uniform = directory / kind, directory / "source"
    if kind == "csv":
        maker: list[str | Path] = [build / "bench" / "ecosort_make_lines", "table", str(size), data]
        subprocess.run(maker, check=True, stdout=subprocess.DEVNULL)
        return Input(data, ("csv", "--by=number:number"), {"format": "csv", "by": "number:number"})
    words = ["-s"] if kind == "skewed" else []
    made = data if kind in ("uniform", "skewed") else uniform
    subprocess.run([build / "ecosort", "gen", *words, str(size // RECORD), made], check=True)
    if kind == "sorted":
        subprocess.run([build / "ecosort", "sort", "--quiet", uniform, "-o", data], check=True)
    generator = np.random.default_rng(1)
    if kind == "equal":
        _with_keys(uniform, data, lambda count: np.full((count, KEY), ord("k"), dtype=np.uint8))
    if kind == "zipf":
        keys = generator.integers(0, 256, (_ZIPF_KEYS, KEY), dtype=np.uint8)
        weights = 1 / np.arange(1, _ZIPF_KEYS + 1)
        _with_keys(uniform, data, lambda count: keys[generator.choice(_ZIPF_KEYS, count, p=weights / weights.sum())])
    uniform.unlink(missing_ok=True)
    return Input(data, ("sort", f"--record-size={RECORD}", f"--key=0:{KEY}"), {"record_size": RECORD, "by": f"0:{KEY}"})


@dataclass(frozen=True)
class Bench:
    """Knows where everything is. All processes that a way starts are in its processor time."""

    build: Path
    directory: Path
    memory_bytes: int

    def measure(self, way: str, kind: str, given: Input, round_: int) -> dict[str, Any]:
        output = self.directory / "output"
        with processor_group() as group:
            taken = self._one(group, given, output) if way == "one" else self._cluster(group, way, given, output)
        return {"way": way, "kind": kind, "round": round_} | taken

    def _taken(
        self, group: ProcessorGroup, command: Sequence[str | Path | int], environment: Mapping[str, str]
    ) -> tuple[dict[str, Any], str]:
        """Returns what it took, and what it printed."""
        words = group.joined([str(word) for word in command])
        taken = run_cold(words, self.directory, {"LC_ALL": "C", **environment}, NODES * self.memory_bytes)
        group.wait_until_empty()
        return {"wall_s": taken.exit_s, "cpu_s": group.cpu_s()}, taken.stdout

    def _one(self, group: ProcessorGroup, given: Input, output: Path) -> dict[str, Any]:
        stats = self.directory / "stats.json"
        words = [f"--memory={self.memory_bytes}B", f"--threads={NODES}", "--quiet", "--progress=none", f"--stats={stats}"]
        taken, _ = self._taken(
            group, [self.build / "ecosort", *given.command, *words, "--temp", self.directory, given.data, "-o", output], {}
        )
        told = json.loads(stats.read_text())
        output.unlink()
        moved = told["bytes_read"] + told["bytes_written"]
        return taken | {"hash": told["hash"], "bytes_moved": moved, "input_bytes": told["input_bytes"]}

    def _cluster(self, group: ProcessorGroup, way: str, given: Input, output: Path) -> dict[str, Any]:
        temps = [self.directory / f"node{number}" for number in range(NODES)]
        for temp in temps:
            temp.mkdir(exist_ok=True)
        python = PYTHON if way == "local" else RAY_PYTHON
        terms = {"workers": 1, "threads": 1, **given.terms}
        words: list[str | Path | int] = [group.directory, given.data, output, self.memory_bytes, *temps, "--", json.dumps(terms)]
        environment = {"PYTHONPATH": CLUSTER_SORT_PATH, "ECOSORT_PROGRAM": str(self.build / "ecosort")}
        taken, said = self._taken(group, [python, CLUSTER_SORT, way, *words], environment)
        told: dict[str, Any] = json.loads(said.splitlines()[-1])
        apart = sort_apart(taken, told.pop("sort", None))
        told |= {"hash": _whole_hash(check(output)), "tasks_cpu_s": told.pop("cpu_s")}
        shutil.rmtree(output)
        return taken | told | apart


def sort_apart(taken: Mapping[str, Any], sort: Mapping[str, Any] | None) -> dict[str, Any]:
    """The time of the sort in place of the whole, and what its surroundings took besides; nothing where there are none."""
    if sort is None:
        return {}
    besides = taken["cpu_s"] - sort["cpu_s"] - sort["settling_cpu_s"]
    return {"wall_s": sort["wall_s"], "cpu_s": sort["cpu_s"], "start_cpu_s": besides}


def _whole_hash(manifest: Manifest) -> str:
    """With the header row of a table, which one sort counts, too."""
    return (HashSum(manifest.rows, manifest.hash) + HashSum(0, manifest.header_hash)).hex


def _measure(bench: Bench, kind: str, size: int, rounds: int, ways: tuple[str, ...]) -> list[dict[str, Any]]:
    """The ways take turns in each round, every second one backwards. RunError where they do not hold the same rows."""
    given = make_input(bench.build, kind, size, bench.directory)
    turns = [(way, round_) for round_ in range(rounds) for way in (ways if round_ % 2 == 0 else ways[::-1])]
    runs = [bench.measure(way, kind, given, round_) for way, round_ in turns]
    given.data.unlink()
    if len({run["hash"] for run in runs}) != 1:
        raise RunError(f"{kind}: the outputs do not hold the same rows")
    click.echo(f"{kind}: {len(runs)} runs", err=True)
    return runs


@series("cluster", size=4_000_000_000, memory="512MiB", rounds=3, kinds=KINDS)
def main(asked: Asked) -> None:
    """Measures a cluster on this machine, of processes and, where Ray is installed (`deps cluster`), of Ray's emulated nodes."""
    os.environ["ECOSORT_PROGRAM"] = str(asked.build / "ecosort")
    bench = Bench(asked.build, asked.directory, asked.memory)
    ways = WAYS if RAY_PYTHON.exists() else tuple(way for way in WAYS if way != "ray")
    data = asked.begin(SCHEMA, {"nodes": NODES, "ways": list(ways)}, f"make bench-cluster BENCH='{asked.words}'")
    done = {run["kind"] for run in data["runs"]}
    for kind in [kind for kind in asked.kinds if kind not in done]:
        data["runs"] += _measure(bench, kind, asked.size, asked.rounds, ways)
        write_rows(asked.result, data)
    for line in lines_of(data):
        click.echo(line)


if __name__ == "__main__":
    main()
