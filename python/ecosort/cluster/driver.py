"""Leads a job from its plan to its commit: sample -> split -> partition -> reduce -> commit.

Whatever ends this process, the journal says what was done, and resume_job() continues. What is done is not done again, unless a
slice is not there any more or is not what it was: then the task that wrote it runs again.

    OUTPUT.ecosort/journal          what was planned, begun and done
    OUTPUT.ecosort/samples/         samples of ranges, splitters
    TEMP/ecosort-JOB/               directories of slices, one for each attempt to partition a range; they stay until the commit
    OUTPUT/attempts/                parts that are being written
    OUTPUT/part-00000 ...           parts that are complete
    OUTPUT/MANIFEST.json            appears by one rename: that is the commit
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ecosort.cluster.executor import Executor, LocalExecutor, Node
from ecosort.cluster.journal import Journal, sync_directory
from ecosort.cluster.manifest import commit_manifest, demand_order, manifest_of, read_manifest
from ecosort.cluster.planner import Range, Shape, cut_ranges, plan_shape
from ecosort.cluster.report import ClusterReport, report_from_events
from ecosort.cluster.sampling import rows_by_range, sampled_rows
from ecosort.cluster.scheduler import Done, Observe, Scheduler, Task
from ecosort.cluster.spec import JobSpec, input_sizes, spec_from_json
from ecosort.errors import IoFailed, VerificationFailed

Json = dict[str, Any]

_DAMAGES = 20  # times that slices are made again


def plan_of(spec: JobSpec, nodes: int) -> Shape:
    """What the job will do. Reads sizes only."""
    return plan_shape(
        sum(input_sizes(spec)),
        nodes=nodes,
        workers_per_node=spec.workers,
        memory_bytes=spec.memory_bytes,
        row_bytes=spec.format.record_size if spec.format.name == "records" else 100,
        parts=spec.parts,
    )


def open_executor(spec: JobSpec) -> Executor:
    """That of spec.on. Raises BadInput where Ray is wanted and not installed."""
    if spec.on != "local":
        from ecosort.cluster.ray_executor import RayExecutor

        return RayExecutor(spec.temps or (str(spec.job_directory),), spec.workers)
    temps = spec.temps or (f"{spec.output}.ecosort",)
    return LocalExecutor([Node(f"node{number}", temp, spec.workers) for number, temp in enumerate(temps)])


def start_job(spec: JobSpec, observe: Observe = lambda state: None) -> ClusterReport:
    """Plans and does it."""
    with contextlib.closing(open_executor(spec)) as executor:
        return Driver(create_journal(spec, executor), executor, observe).run()


def resume_job(output: str, observe: Observe = lambda state: None) -> ClusterReport:
    """Continues with the job that writes the directory `output`; its job directory may be named, too."""
    directory = Path(output).absolute()
    if directory.suffix != ".ecosort":
        directory = Path(f"{directory}.ecosort")
    journal = Journal(directory / "journal")
    spec = spec_from_json(journal.events[0]["spec"])
    with contextlib.closing(open_executor(spec)) as executor:
        return Driver(journal, executor, observe).run()


def create_journal(spec: JobSpec, executor: Executor) -> Journal:
    """Makes the job's directories and its first event, with all that later decisions depend on."""
    sizes = input_sizes(spec)
    shape = plan_of(spec, len(executor.nodes))
    ranges = cut_ranges(spec.inputs, sizes, shape.range_bytes, spec.format.record_size)
    directory = spec.job_directory
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    (directory / "samples").mkdir(exist_ok=True)
    Path(spec.output).mkdir(parents=True, exist_ok=True)
    sync_directory(directory.parent)
    return Journal.create(
        directory / "journal",
        {
            "event": "plan",
            "schema": "ecosort.cluster-journal/1",
            "job": secrets.token_hex(8),
            "spec": spec.as_json(),
            "parts": shape.parts,
            "sampled_rows": sampled_rows(shape.parts, len(ranges)),
            "ranges": [[one.source, one.path, one.begin, one.end] for one in ranges],
            "inputs": [_stamp(path) for path in spec.inputs],
        },
    )


def _stamp(path: str) -> list[int]:
    status = Path(path).stat()
    return [status.st_size, status.st_mtime_ns]


class Driver:
    """A job that is open in this process."""

    def __init__(self, journal: Journal, executor: Executor, observe: Observe) -> None:
        self._journal = journal
        plan = journal.events[0]
        self.spec = spec_from_json(plan["spec"])
        self._job: str = plan["job"]
        self._parts: int = plan["parts"]
        self._sampled_rows: int = plan["sampled_rows"]
        self._ranges = [Range(*one) for one in plan["ranges"]]
        self._stamps = plan["inputs"]
        self._executor = executor
        self._done: dict[str, Done] = {}
        attempts: dict[str, int] = {}
        for event in journal.events[1:]:
            self._replay(event, attempts)
        self._scheduler = Scheduler(executor, journal, attempts, observe)

    def _replay(self, event: Json, attempts: dict[str, int]) -> None:
        if event["event"] == "start":
            attempts[event["task"]] = event["attempt"]
        elif event["event"] == "done":
            self._done[event["task"]] = Done(event["attempt"], event["node"], event["answer"])
        elif event["event"] == "lost":
            self._done.pop(event["task"], None)

    def run(self) -> ClusterReport:
        """Does what is left. Raises EcoSortError; the job can be resumed, whatever happened."""
        with self._journal:
            if read_manifest(Path(self.spec.output), self._job) is None:
                self._demand_same_inputs()
                self._forget_what_is_gone()
                self._sample()
                self._split()
                self._partition(range(len(self._ranges)))
                self._reduce()
                self._commit()
            report = report_from_events(self._journal.events)
            self._clean_up()
        return report

    def _forget_what_is_gone(self) -> None:
        """After a power cut: what a task wrote is durable, but perhaps not the directory that had just been made for it."""
        for name, done in list(self._done.items()):
            wrote = done.answer.get("output")
            if wrote and not (Path(wrote).exists() or self._part_of(name).exists()):
                self._forget(name)

    def _forget(self, name: str) -> None:
        self._journal.append({"event": "lost", "task": name})
        self._done.pop(name, None)

    def _part_of(self, name: str) -> Path:
        """The part that a task of this name writes; only reduce tasks do."""
        return Path(self.spec.output) / name.replace("reduce-", "part-")

    def _demand_same_inputs(self) -> None:
        for path, stamp in zip(self.spec.inputs, self._stamps, strict=True):
            if _stamp(path) != stamp:
                raise IoFailed(f"'{path}' has changed since the job began; remove '{self.spec.job_directory}' and begin again")

    def _format(self) -> Json:
        return {"name": self.spec.format.name, "words": list(self.spec.format.words)}

    def _run(self, phase: str, tasks: Sequence[Task]) -> None:
        """Those that are not done yet."""

        def accept(task: Task, done: Done) -> None:
            self._done[task.name] = done

        left = [task for task in tasks if task.name not in self._done]
        if left:
            self._scheduler.run(phase, left, accept)

    def _sample(self) -> None:
        """One row of a range at least, because a sample tells the header of a table, too."""
        weights = [one.end - one.begin for one in self._ranges]
        counts = rows_by_range(self._sampled_rows, weights)
        self._run("sample", [self._sample_task(number, max(1, count)) for number, count in enumerate(counts)])

    def _sample_task(self, number: int, count: int) -> Task:
        taken = self._ranges[number]

        def make(attempt: int, node: Node) -> Json:
            return {
                "kind": "sample",
                "format": self._format(),
                "range": vars(taken),
                "count": count,
                "read_bytes": min(taken.end - taken.begin, 4096 * count),
                "seed": self.spec.seed + number,
                "output": str(self.spec.job_directory / "samples" / f"sample-{number:05}.{attempt}"),
            }

        return Task(f"sample-{number:05}", make)

    def _split(self) -> None:
        samples = [done.answer["output"] for name, done in sorted(self._done.items()) if name.startswith("sample-")]

        def make(attempt: int, node: Node) -> Json:
            output = str(self.spec.job_directory / "samples" / f"splitters.{attempt}")
            return {"kind": "split", "format": self._format(), "samples": samples, "parts": self._parts, "output": output}

        self._run("split", [Task("split", make)])

    def _partition(self, numbers: Sequence[int]) -> None:
        self._run("partition", [self._partition_task(number) for number in numbers])

    def _partition_task(self, number: int) -> Task:
        def make(attempt: int, node: Node) -> Json:
            return {
                "kind": "partition",
                "format": self._format(),
                "range": vars(self._ranges[number]),
                "splitters": self._done["split"].answer["output"],
                "memory_bytes": self.spec.memory_bytes,
                "threads": self.spec.threads,
                "directory": str(self._temp(node) / f"partition-{number:05}.{attempt}"),
            }

        return Task(f"partition-{number:05}", make)

    def _temp(self, node: Node) -> Path:
        return Path(node.temp) / f"ecosort-{self._job}"

    def _reduce(self) -> None:
        """Until no part finds a damaged slice. Raises IoFailed where they are damaged again and again."""
        left = list(range(self._parts))
        for _ in range(_DAMAGES):
            if not left:
                break
            self._run("reduce", [self._reduce_task(part) for part in left])
            damaged = {name for part in left for name in self._done[f"reduce-{part:05}"].answer.get("damaged", [])}
            left = [part for part in left if "damaged" in self._done[f"reduce-{part:05}"].answer]
            for name in sorted(damaged) + [f"reduce-{part:05}" for part in left]:
                self._forget(name)
            self._partition([int(name.rpartition("-")[2]) for name in sorted(damaged)])
        if left:
            raise IoFailed(f"slices of part {left[0]} were damaged {_DAMAGES} times; look at the drives of --nodes-temp")
        self._name_parts()

    def _reduce_task(self, part: int) -> Task:
        def make(attempt: int, node: Node) -> Json:
            self._temp(node).mkdir(mode=0o700, parents=True, exist_ok=True)
            return {
                "kind": "reduce",
                "format": self._format(),
                "part": part,
                "slices": [one | {"task": name} for name, one in self._slices(part)],
                "header": self._header(),
                "header_hash": self._done["split"].answer["header_hash"],
                "memory_bytes": self.spec.memory_bytes,
                "threads": self.spec.threads,
                "temp": str(self._temp(node)),
                "output": str(Path(self.spec.output) / "attempts" / f"part-{part:05}.{attempt}"),
            }

        return Task(f"reduce-{part:05}", make)

    def _slices(self, part: int) -> list[tuple[str, Json]]:
        """In the order of the inputs, so that the sort is stable."""
        names = [f"partition-{number:05}" for number in range(len(self._ranges))]
        return [(name, self._done[name].answer["slices"][part]) for name in names]

    def _header(self) -> str:
        header: str = self._done["split"].answer["header"]
        return header

    def _name_parts(self) -> None:
        """The attempts that won get the names of parts; those that a crash left behind here have them already."""
        for task in (f"reduce-{part:05}" for part in range(self._parts)):
            if not self._part_of(task).exists():
                Path(self._done[task].answer["output"]).rename(self._part_of(task))
        sync_directory(Path(self.spec.output))

    def _commit(self) -> None:
        answers = [self._done[f"reduce-{part:05}"].answer for part in range(self._parts)]
        ranges = [self._done[f"partition-{number:05}"].answer for number in range(len(self._ranges))]
        manifest = manifest_of(self._job, self.spec.format, self._done["split"].answer, answers)
        manifest.demand_sum(ranges)
        for part, answer in zip(manifest.parts, answers, strict=True):
            if (Path(self.spec.output) / part.file).stat().st_size != answer["bytes"]:
                raise VerificationFailed(f"'{part.file}' changed after it was written; remove it and the job, and begin again")
        demand_order(manifest, self.spec.job_directory / "ends")
        self._demand_same_inputs()
        commit_manifest(Path(self.spec.output), manifest)

    def _clean_up(self) -> None:
        """After the commit. The journal goes last, so that a crash in here leaves a job to resume."""
        for node in self._executor.nodes:
            shutil.rmtree(self._temp(node), ignore_errors=True)
        shutil.rmtree(Path(self.spec.output) / "attempts", ignore_errors=True)
        shutil.rmtree(self.spec.job_directory / "samples", ignore_errors=True)
        (self.spec.job_directory / "journal").unlink()
        shutil.rmtree(self.spec.job_directory, ignore_errors=True)
        sync_directory(self.spec.job_directory.parent)
