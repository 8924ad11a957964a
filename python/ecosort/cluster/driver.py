"""Leads a job from its plan to its commit: (fetch ->) sample -> split -> partition -> reduce -> commit.

The journal says what was done, whatever ends this process, and jobs.resume_job() continues. A task that is done is not done
again, unless a slice that it wrote is missing or has changed.

    OUTPUT.ecosort/journal          what was planned, begun and done
    OUTPUT.ecosort/samples/         samples of ranges, splitters
    TEMP/ecosort-JOB/input-00000.1  what was fetched of a remote input, until it is partitioned
    TEMP/ecosort-JOB/               directories of slices, one for each attempt to partition a range; slices stay until their part
                                    is there
    OUTPUT/attempts/                parts that are being written; they keep these names, too, until the commit
    OUTPUT/part-00000 ...           parts that are complete
    OUTPUT/part-00000.sum ...       valsort's summaries of parts (summaries.py)
    OUTPUT/MANIFEST.json            appears by one link: that is the commit

Outputs that are no directories: with --single the parts are written into OUTPUT.ecosort/output, whose rename to OUTPUT is the
commit (single.py); in a bucket they are uploaded, and MANIFEST.json is the last object (bucket.py).
"""

from __future__ import annotations

import base64
import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ecosort.cluster.executor import Executor, Node
from ecosort.cluster.journal import RESUME, Journal
from ecosort.cluster.manifest import Manifest, demand_order, manifest_of
from ecosort.cluster.node_paths import node_of, stamps_of
from ecosort.cluster.outputs import DirectoryOutput, Output
from ecosort.cluster.planner import Range
from ecosort.cluster.report import ClusterReport, report_from_events
from ecosort.cluster.sampling import rows_by_range
from ecosort.cluster.scheduler import Done, Observe, Scheduler, Task
from ecosort.cluster.single import SingleOutput
from ecosort.cluster.spec import JobSpec, naming_inputs, spec_from_json, split_node
from ecosort.codec_names import ASSUMED_RATIO
from ecosort.durable import sync_directory
from ecosort.errors import BadInput, EcoSortError, IoFailed
from ecosort.remote.addresses import is_bucket, is_remote

Json = dict[str, Any]

_DAMAGES = 20  # times that slices are made again


def _row_bytes(one: Json) -> int:
    """Counts those of a slice: each of its files has the top rows."""
    bytes_of_rows: int = one["bytes"] - len(one["files"]) * one["top_bytes"]
    return bytes_of_rows


def _drop(slices: Iterable[Json]) -> None:
    """Their part is durable, and its bytes need not be there twice. Were it lost, its slices would be made again."""
    for one in slices:
        for file in one["files"]:
            with contextlib.suppress(OSError):  # they go with their directory at the latest
                Path(file["path"]).unlink()


def _output_of(spec: JobSpec, job: str) -> Output:
    if is_bucket(spec.output):
        from ecosort.cluster.bucket import BucketOutput

        return BucketOutput(spec.output, job, is_conditional=spec.conditional_put)
    return SingleOutput(Path(spec.output), spec.job_directory) if spec.single else DirectoryOutput(Path(spec.output), job)


class Driver:
    """A job that is open in this process."""

    def __init__(self, journal: Journal, executor: Executor, observe: Observe) -> None:
        self._journal = journal
        plan = journal.events[0]
        self.spec = spec_from_json(plan["spec"])
        self._job: str = plan["job"]
        self._planned_parts: int = plan["parts"]
        self._sampled_rows: int = plan["sampled_rows"]
        self._merges: bool = plan["merges"]
        self._partition_memory_bytes: int = plan["partition_memory_bytes"]
        self._ranges = [Range(*one) for one in plan["ranges"]]
        self._stamps = plan["inputs"]
        self._codecs = dict(zip(self.spec.inputs, plan.get("codecs", []), strict=False))  # older jobs have none
        self._made_temps: list[str] = plan.get("made_temps", [])  # older jobs leave them
        self._executor = executor
        self._done: dict[str, Done] = {}
        self._output = _output_of(self.spec, self._job)
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
        with self._journal, self._naming_the_job(), contextlib.ExitStack() as at_end:
            at_end.callback(self._output.reopen)
            if self._is_abandoned:
                self.abandon()
                raise BadInput(
                    f"the job of '{self.spec.output}' was given up, and what was left of it is removed now; begin again"
                )
            if not self._output.is_committed(self._journal.events):
                self._demand_same_inputs()
                self._forget_what_is_gone()
                self._sample()
                self._split()
                self._partition(range(len(self._ranges)))
                self._reduce()
                self._commit()
            self._output.complete(self._manifest())
            report = report_from_events(self._journal.events)
            self._clean_up()
        return report

    @contextlib.contextmanager
    def _naming_the_job(self) -> Iterator[None]:
        """Errors of code that knows neither the name of the job nor those of the inputs get both."""
        try:
            with naming_inputs(self.spec):
                yield
        except EcoSortError as error:
            error.args = (str(error).replace(RESUME, f"`ecosort cluster resume {self.spec.resume_name}`"),)
            raise

    def abandon(self) -> None:
        """Gives the job up: what it made goes, slices and parts. Raises BadInput where its output is committed."""
        with self._journal:
            if not self._is_abandoned and self._output.is_committed(self._journal.events):
                raise BadInput(
                    f"'{self.spec.output}' is complete; `ecosort cluster resume {self.spec.resume_name}` removes the rest"
                )
            if self._has("commit") and not self._is_abandoned:  # what goes now would else look as if the commit had been done
                self._journal.append({"event": "abandon"})
            made = {
                name: done.answer for name, done in self._done.items() if name.startswith("reduce-") and "bytes" in done.answer
            }
            self._output.discard({int(name.removeprefix("reduce-")): answer["bytes"] for name, answer in made.items()})
            self._clean_up()

    @property
    def _is_abandoned(self) -> bool:
        """Returns whether it was given up when it had begun to commit."""
        return self._has("abandon")

    def _has(self, kind: str) -> bool:
        return any(event["event"] == kind for event in self._journal.events)

    @property
    def _parts(self) -> int:
        """Known when a range is partitioned: without rows there is one, whatever was planned."""
        return len(self._done["partition-00000"].answer["slices"])

    def _forget_what_is_gone(self) -> None:
        """After a power cut: what a task wrote is durable, but perhaps not the directory that had just been made for it."""
        for name, done in list(self._done.items()):
            wrote = done.answer.get("output")
            if wrote and not (Path(wrote).exists() or self._has_part(name)):
                self._forget(name)

    def _forget(self, name: str) -> None:
        self._journal.append({"event": "lost", "task": name})
        self._done.pop(name, None)

    def _has_part(self, name: str) -> bool:
        """The task of this name has written a part; only reduce tasks do."""
        return name.startswith("reduce-") and self._output.has_part(int(name.removeprefix("reduce-")))

    def _demand_same_inputs(self) -> None:
        found = stamps_of(self.spec.inputs, self._executor)
        for path, now, stamp in zip(self.spec.inputs, found, self._stamps, strict=True):
            if list(now) != stamp:
                raise IoFailed(f"'{path}' has changed since the job began; {self.spec.way_out}")

    def _format(self) -> Json:
        return asdict(self.spec.format)

    def _run(self, phase: str, tasks: Sequence[Task]) -> None:
        """Runs those that are not done yet."""

        def accept(task: Task, done: Done) -> None:
            self._done[task.name] = done
            if phase == "partition" and "slices" in done.answer:
                self._drop_fetched(task.name)
                for part, one in enumerate(done.answer["slices"]):  # made again: some parts are there already
                    if self._is_reduced(part):
                        _drop([one])
            if phase == "reduce" and "damaged" not in done.answer:
                _drop([one for _, one in self._slices(int(task.name.removeprefix("reduce-")))])

        left = [task for task in tasks if task.name not in self._done]
        if left:
            self._scheduler.run(phase, left, accept)

    def _sample(self) -> None:
        """One row of a range at least, because a sample reports the header of a table, too."""
        weights = [(one.end - one.begin) * (ASSUMED_RATIO if self._codecs.get(one.path) else 1) for one in self._ranges]
        counts = rows_by_range(self._sampled_rows, weights)
        self._run_on_inputs("sample", range(len(counts)), lambda number: self._sample_task(number, max(1, counts[number])))

    def _sample_task(self, number: int, count: int) -> Task:
        taken = self._ranges[number]

        def make(attempt: int, node: Node) -> Json:
            return {
                "kind": "sample",
                "format": self._format(),
                "range": self._range_told(number),
                "count": count,
                "read_bytes": min(taken.end - taken.begin, 4096 * count),
                "seed": self.spec.seed + number,
                "output": str(self.spec.job_directory / "samples" / f"sample-{number:05}.{attempt}"),
            }

        return Task(f"sample-{number:05}", make, self._only_node(number))

    def _split(self) -> None:
        samples = [done.answer["output"] for name, done in sorted(self._done.items()) if name.startswith("sample-")]

        def make(attempt: int, node: Node) -> Json:
            return {
                "kind": "split",
                "format": self._format(),
                "samples": samples,
                "inputs": [self._name(one.path) for one in self._ranges],
                "parts": self._planned_parts,
                "output": str(self.spec.job_directory / "samples" / f"splitters.{attempt}"),
            }

        self._run("split", [Task("split", make)])

    def _partition(self, numbers: Sequence[int]) -> None:
        self._run_on_inputs("partition", numbers, self._partition_task)

    def _run_on_inputs(self, phase: str, numbers: Sequence[int], task_of: Callable[[int], Task]) -> None:
        """Tasks that read ranges. What was fetched of remote inputs is fetched again where it is gone."""
        for _ in range(_DAMAGES):
            left = [number for number in numbers if f"{phase}-{number:05}" not in self._done]
            if not left:
                return
            self._fetch(left)
            self._run(phase, [task_of(number) for number in left])
            for name in (f"{phase}-{number:05}" for number in left):
                if "is_gone" in self._done[name].answer:
                    self._forget(name)
        raise IoFailed(f"what was fetched was gone {_DAMAGES} times; look at the drives of --nodes-temp")

    def _fetch(self, numbers: Sequence[int]) -> None:
        fetched = [number for number in numbers if self._is_fetched(self._ranges[number])]
        for name in (f"fetch-{number:05}" for number in fetched):
            if name in self._done and not self._is_there(self._done[name].answer):
                self._forget(name)
        self._run("fetch", [self._fetch_task(number) for number in fetched])

    def _is_fetched(self, taken: Range) -> bool:
        """It becomes a file of a node before anything else is done."""
        return is_remote(taken.path) or bool(self._codecs.get(taken.path))

    def _name(self, path: str) -> str:
        """Returns the name that the user gave an input."""
        return dict(zip(self.spec.inputs, self.spec.names, strict=False)).get(path, path)

    def _is_there(self, answer: Json) -> bool:
        fetched = Path(answer["output"])
        return fetched.exists() and fetched.stat().st_size == answer["bytes"]

    def _fetch_task(self, number: int) -> Task:
        taken = self._ranges[number]

        def make(attempt: int, node: Node) -> Json:
            return {
                "kind": "fetch",
                "format": self._format(),
                "range": vars(taken) | {"path": split_node(taken.path)[1]},
                "codec": self._codecs.get(taken.path, ""),
                "version": self._stamps[self.spec.inputs.index(taken.path)],
                "output": str(self._temp(node) / f"input-{number:05}.{attempt}"),
            }

        return Task(f"fetch-{number:05}", make, self._only_node(number))

    def _only_node(self, number: int) -> str | None:
        """Returns that which has the input of a range; None: all have."""
        node = node_of(self._ranges[number].path, self._executor.nodes)
        return node.name if node else None

    def _range_told(self, number: int) -> Json:
        taken = self._ranges[number]
        if not self._is_fetched(taken):
            return vars(taken) | {"path": split_node(taken.path)[1], "is_fetched": False}
        fetched = self._done[f"fetch-{number:05}"].answer
        name = self._name(taken.path) + (f" from byte {taken.begin} on" if taken.begin else "")
        told = {"source": taken.source, "path": fetched["output"], "begin": 0, "end": fetched["bytes"], "is_fetched": True}
        return told | {"name": name}

    def _drop_fetched(self, partitioned: str) -> None:
        fetched = self._done.get(partitioned.replace("partition-", "fetch-"))
        if fetched:
            Path(fetched.answer["output"]).unlink(missing_ok=True)

    def _is_reduced(self, part: int) -> bool:
        done = self._done.get(f"reduce-{part:05}")
        return done is not None and "damaged" not in done.answer

    def _partition_task(self, number: int) -> Task:
        def make(attempt: int, node: Node) -> Json:
            return {
                "kind": "partition",
                "format": self._format(),
                "range": self._range_told(number),
                "splitters": self._done["split"].answer["output"],
                "sorts": self._merges,
                "memory_bytes": self._partition_memory_bytes,
                "most_memory_bytes": self.spec.memory_bytes,
                "threads": self.spec.threads,
                "directory": str(self._temp(node) / f"partition-{number:05}.{attempt}"),
            }

        return Task(f"partition-{number:05}", make, self._only_node(number))

    def _temp(self, node: Node) -> Path:
        return Path(node.temp) / f"ecosort-{self._job}"

    def _reduce(self) -> None:
        """Until no part finds a damaged slice. Raises IoFailed where they are damaged again and again."""
        self._prepare_output()
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
            left = left or self._damaged_places()
        if left:
            raise IoFailed(f"slices of part {left[0]} were damaged {_DAMAGES} times; look at the drives of --nodes-temp")
        self._output.name_parts([self._done[f"reduce-{part:05}"].answer for part in range(self._parts)])

    def _prepare_output(self) -> None:
        """Now that the sizes of all parts are known."""
        sizes = [sum(_row_bytes(one) for _, one in self._slices(part)) for part in range(self._parts)]
        if self._output.prepare(sizes, self._slices(0)[0][1]["top_bytes"]):
            for name in [name for name in self._done if name.startswith("reduce-")]:
                self._forget(name)

    def _damaged_places(self) -> list[int]:
        """Parts that must be written again, because others wrote there late."""
        names = [f"reduce-{part:05}" for part in range(self._parts)]
        suspects = self._output.suspects([self._scheduler.attempts[name] for name in names])
        tasks = {part: self._reread_task(part) for part in suspects}
        self._run("reread", list(tasks.values()))
        damaged = [part for part, task in tasks.items() if not self._done[task.name].answer["is_sound"]]
        for part in damaged:
            self._forget(names[part])
        if damaged:
            self._output.reopen()
        return damaged

    def _reread_task(self, part: int) -> Task:
        """Named after the attempt that wrote it last."""
        reduced = f"reduce-{part:05}"
        name = f"reread-{part:05}.{self._scheduler.attempts[reduced]}"

        def make(attempt: int, node: Node) -> Json:
            return {
                "kind": "reread",
                "format": self._format(),
                "place": self._output.attempt(part, attempt, self._temp(node))["place"],
                "rows": self._done[reduced].answer["rows"],
                "hash": self._done[reduced].answer["hash"],
                "header_hash": self._done["split"].answer["header_hash"],
                "output": str(self._temp(node) / f"{name}.{attempt}"),
            }

        return Task(name, make)

    def _reduce_task(self, part: int) -> Task:
        def make(attempt: int, node: Node) -> Json:
            self._temp(node).mkdir(mode=0o700, parents=True, exist_ok=True)
            return {
                "kind": "reduce",
                "format": self._format(),
                "part": part,
                "slices": [one | {"task": name} for name, one in self._slices(part)],
                "merges": self._merges,
                "header": self._done["split"].answer["header"],
                "header_hash": self._done["split"].answer["header_hash"],
                "memory_bytes": self.spec.memory_bytes,
                "threads": self.spec.threads,
                "temp": str(self._temp(node)),
            } | self._output.attempt(part, attempt, self._temp(node))

        return Task(f"reduce-{part:05}", make)

    def _slices(self, part: int) -> list[tuple[str, Json]]:
        """In the order of the inputs, so that the sort is stable."""
        names = [f"partition-{number:05}" for number in range(len(self._ranges))]
        return [(name, self._done[name].answer["slices"][part]) for name in names]

    def _manifest(self) -> Manifest:
        answers = [self._done[f"reduce-{part:05}"].answer for part in range(self._parts)]
        return manifest_of(self._job, self.spec.format, self._done["split"].answer, answers)

    def _commit(self) -> None:
        manifest = self._manifest()
        manifest.demand_sum(self._done[f"partition-{number:05}"].answer for number in range(len(self._ranges)))
        self._output.demand_sizes(manifest)
        self._demand_values(manifest.rows)
        demand_order(manifest, self.spec.job_directory / "ends")
        self._demand_same_inputs()
        self._output.put_summaries(self._summaries())
        self._journal.append({"event": "commit"})
        self._output.commit(manifest)

    def _demand_values(self, rows: int) -> None:
        """A key that no row has is misspelt, as for one sort; a part alone does not show that."""
        if self.spec.format.name != "jsonl" or rows == 0:
            return
        answers = [self._done[f"reduce-{part:05}"].answer for part in range(self._parts)]
        for by in {by for answer in answers for by in answer.get("missing", {})}:
            if sum(answer.get("missing", {}).get(by, 0) for answer in answers) == rows:
                raise BadInput(f"no row has '{by}'; {self.spec.way_out}")

    def _summaries(self) -> dict[str, bytes]:
        """By the files that they get, for parts that have any."""
        told = {f"part-{part:05}.sum": self._done[f"reduce-{part:05}"].answer.get("summary", "") for part in range(self._parts)}
        return {file: base64.b64decode(summary) for file, summary in told.items() if summary}

    def _clean_up(self) -> None:
        """After the commit, or instead of it. The journal goes last, so that a crash in here leaves a job to resume."""
        for node in self._executor.nodes:
            shutil.rmtree(self._temp(node), ignore_errors=True)
        self._output.clean_up()
        directory = self.spec.job_directory
        shutil.rmtree(directory / "samples", ignore_errors=True)
        for path in (directory / "ends", *directory.glob("journal.new*")):
            path.unlink(missing_ok=True)
        (directory / "journal").unlink()
        with contextlib.suppress(OSError):  # somebody else has files there
            directory.rmdir()
        sync_directory(directory.parent)
        for temp in self._made_temps:
            with contextlib.suppress(OSError):  # likewise
                Path(temp).rmdir()
