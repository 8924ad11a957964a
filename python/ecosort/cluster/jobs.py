"""Begins jobs and continues with them: plan, executor, journal, and then the driver."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ecosort.cluster.driver import Driver
from ecosort.cluster.executor import Executor, LocalExecutor, Node
from ecosort.cluster.fetch import is_cut_whole
from ecosort.cluster.journal import Journal, sync_directory
from ecosort.cluster.node_paths import stamps_of
from ecosort.cluster.planner import Range, Shape, cut_ranges, plan_shape, plan_that_fits
from ecosort.cluster.program_calls import demand_available
from ecosort.cluster.remote import is_bucket, is_remote
from ecosort.cluster.report import ClusterReport
from ecosort.cluster.sampling import sampled_rows
from ecosort.cluster.scheduler import Observe
from ecosort.cluster.spec import JobSpec, spec_from_json
from ecosort.errors import BadInput, EcoSortError, IoFailed, NotEnoughMemory
from ecosort.program import find_program

_MOST_PARTS = 1 << 16  # of `ecosort partition`


def plan_of(spec: JobSpec, executor: Executor) -> Shape:
    """What the job will do. Reads sizes only."""
    return _shape(spec, [size for size, _ in stamps_of(spec.inputs, executor)], len(executor.nodes))


def _shape(spec: JobSpec, sizes: Sequence[int], nodes: int) -> Shape:
    """Raises BadInput, and NotEnoughMemory, which tells the least that would do."""
    if spec.parts is not None and spec.parts > _MOST_PARTS:
        raise BadInput(f"parts are 1 to {_MOST_PARTS}, not {spec.parts}")
    are_records = spec.format.name == "records"

    def planned(memory_bytes: int) -> Shape:
        return plan_shape(
            sum(sizes),
            nodes=nodes,
            workers_per_node=spec.workers,
            memory_bytes=memory_bytes,
            row_bytes=spec.format.record_size if are_records else 100,
            are_records=are_records,
            parts=spec.parts,
            merges=spec.merges,
            fetched_bytes=sum(size for path, size in zip(spec.inputs, sizes, strict=True) if is_remote(path)),
            is_uploaded=is_bucket(spec.output),
        )

    shape = plan_that_fits(planned, spec.memory_bytes, spec.threads, spec.format.record_size if are_records else None)
    if spec.on == "local":
        demand_available(spec.memory_bytes)
    if shape.parts > _MOST_PARTS:
        raise BadInput(f"{shape.parts} parts would be needed, {_MOST_PARTS} are possible; give each task more memory (--memory)")
    return shape


def open_executor(spec: JobSpec) -> Executor:
    """That of spec.on. Raises BadInput where Ray is wanted and not installed."""
    if spec.on != "local":
        from ecosort.cluster.ray_executor import RayExecutor

        return RayExecutor(spec.temps or (str(spec.job_directory),), spec.workers, spec.on)
    temps = spec.temps or (f"{spec.output}.ecosort",)
    return LocalExecutor([Node(f"node{number}", temp, spec.workers) for number, temp in enumerate(temps)])


def start_job(spec: JobSpec, observe: Observe = lambda state: None) -> ClusterReport:
    """Plans and does it. What is wrong with the words, the memory or the rows stays so: such a job leaves nothing."""
    find_program()  # or a task would miss it
    with contextlib.closing(open_executor(spec)) as executor:
        journal = create_journal(spec, executor)
        try:
            return Driver(journal, executor, observe).run()
        except (BadInput, NotEnoughMemory):
            _give_up_what_made_no_part(spec, executor)
            raise


def _give_up_what_made_no_part(spec: JobSpec, executor: Executor) -> None:
    with contextlib.suppress(EcoSortError, OSError):  # what was wrong is told
        journal = Journal(spec.job_directory / "journal")
        is_reduced = any(event["event"] == "done" and event["task"].startswith("reduce-") for event in journal.events)
        if is_reduced:
            journal.close()
        else:
            Driver(journal, executor, lambda state: None).abandon()


def resume_job(output: str, observe: Observe = lambda state: None) -> ClusterReport:
    """Continues with the job that writes the directory `output`; its job directory may be named, too."""
    journal, spec = _open_job(output)
    with contextlib.closing(open_executor(spec)) as executor:
        return Driver(journal, executor, observe).run()


def abandon_job(output: str) -> None:
    """Gives it up: slices, parts and the directory of the job go. Raises BadInput where the output is complete."""
    journal, spec = _open_job(output)
    with contextlib.closing(open_executor(spec)) as executor:
        Driver(journal, executor, lambda state: None).abandon()


def _open_job(output: str) -> tuple[Journal, JobSpec]:
    if is_bucket(output):
        raise BadInput(f"name the directory of the job that writes '{output}': it ends with .ecosort, in the first --nodes-temp")
    directory = Path(output).absolute()
    if directory.suffix != ".ecosort":
        directory = Path(f"{directory}.ecosort")
    journal = Journal(directory / "journal")
    if not journal.events:
        journal.close()
        raise IoFailed(f"'{journal.path}' holds nothing of a job; move '{directory}' away and begin again")
    return journal, spec_from_json(journal.events[0]["spec"])


def create_journal(spec: JobSpec, executor: Executor) -> Journal:
    """Makes the job's directories and its first event, with all that later decisions depend on."""
    stamps = stamps_of(spec.inputs, executor)
    sizes = [size for size, _ in stamps]
    shape = _shape(spec, sizes, len(executor.nodes))
    ranges = _ranges(spec, sizes, shape.range_bytes)
    directory = spec.job_directory
    missing = [temp for temp in spec.temps if not os.path.lexists(temp)]
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    (directory / "samples").mkdir(exist_ok=True)
    if not (spec.single or is_bucket(spec.output)):
        Path(spec.output).mkdir(parents=True, exist_ok=True)
    sync_directory(directory.parent)
    return Journal.create(
        directory / "journal",
        {
            "event": "plan",
            "schema": "ecosort.cluster-journal/1",
            "job": os.urandom(8).hex(),
            "spec": spec.as_json(),
            "parts": shape.parts,
            "merges": shape.merges,
            "partition_memory_bytes": shape.partition_memory_bytes,
            "sampled_rows": sampled_rows(shape.parts, len(ranges)),
            "ranges": [[one.source, one.path, one.begin, one.end] for one in ranges],
            "inputs": stamps,
            "made_temps": missing,  # by tasks
        },
    )


def _ranges(spec: JobSpec, sizes: Sequence[int], range_bytes: int) -> list[Range]:
    """Where something is fetched, each range becomes a file; then equal keys are cut by the numbers of ranges, not of inputs."""
    remote = [path for path in spec.inputs if is_remote(path)]
    whole = remote if is_cut_whole(spec.format) else []
    ranges = cut_ranges(spec.inputs, sizes, range_bytes, spec.format.record_size, whole)
    return [replace(one, source=number) for number, one in enumerate(ranges)] if remote else ranges
