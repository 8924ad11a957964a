"""Begins jobs and continues with them: plan, executor, journal, and then the driver."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from ecosort.cluster.compressed_inputs import codec_of
from ecosort.cluster.driver import Driver
from ecosort.cluster.executor import Executor, LocalExecutor, Node
from ecosort.cluster.fetch import is_cut_whole
from ecosort.cluster.journal import Journal
from ecosort.cluster.node_paths import begins_of, stamps_of
from ecosort.cluster.partition_plan import MOST_PARTS
from ecosort.cluster.planner import Range, Shape, cut_ranges, plan_shape, plan_that_fits
from ecosort.cluster.program_calls import demand_available
from ecosort.cluster.report import ClusterReport
from ecosort.cluster.sampling import sampled_rows
from ecosort.cluster.scheduler import Observe
from ecosort.cluster.spec import JobSpec, Stamp, naming_inputs, spec_from_json
from ecosort.codec_names import ASSUMED_RATIO
from ecosort.durable import sync_directory
from ecosort.errors import BadInput, EcoSortError, IoFailed, NotEnoughMemory
from ecosort.program import find_program
from ecosort.remote.addresses import is_bucket, is_remote
from ecosort.remote.s3_inputs import objects_of


def plan_of(spec: JobSpec, executor: Executor) -> Shape:
    """Plans what the job will do. Reads sizes and beginnings only."""
    with naming_inputs(spec):
        return _shape(_look_at(spec, executor), len(executor.nodes))


@dataclass(frozen=True)
class _Inputs:
    """Knows the inputs of a job, whose `spec` names each of them. `codecs`: how they are compressed; empty where not."""

    spec: JobSpec
    stamps: list[Stamp]
    codecs: list[str]

    @property
    def sizes(self) -> list[int]:
        return [size for size, _ in self.stamps]

    @property
    def sizes_of_rows(self) -> list[int]:
        """Returns the sizes as far as one can know them."""
        return [size * (ASSUMED_RATIO if codec else 1) for size, codec in zip(self.sizes, self.codecs, strict=True)]

    @property
    def are_fetched(self) -> list[bool]:
        return [is_remote(path) or codec != "" for path, codec in zip(self.spec.inputs, self.codecs, strict=True)]


def _look_at(spec: JobSpec, executor: Executor) -> _Inputs:
    """Prefixes and patterns of buckets become their objects."""
    found = [objects_of(path) for path in spec.inputs]
    names = [[name] if one == [path] else one for path, name, one in zip(spec.inputs, spec.names, found, strict=True)]
    spec = replace(spec, inputs=tuple(chain(*found)), names=tuple(chain(*names)))
    stamps = stamps_of(spec.inputs, executor)
    are_text = spec.format.name != "records"
    begins = begins_of(spec.inputs, executor) if are_text else [b""] * len(stamps)
    return _Inputs(spec, stamps, [codec_of(begin) for begin in begins])


def _shape(inputs: _Inputs, nodes: int) -> Shape:
    """Raises BadInput, and NotEnoughMemory, which has the least that would do."""
    spec, sizes = inputs.spec, inputs.sizes_of_rows
    if spec.parts is not None and spec.parts > MOST_PARTS:
        raise BadInput(f"parts are 1 to {MOST_PARTS}, not {spec.parts}")
    are_records = spec.format.name == "records"

    def planned(memory_bytes: int) -> Shape:
        return plan_shape(
            sum(sizes),
            nodes=nodes,
            workers_per_node=spec.workers,
            memory_bytes=memory_bytes,
            row_bytes=spec.format.record_size if are_records else 100,
            are_records=are_records,
            threads=spec.threads,
            parts=spec.parts,
            merges=spec.merges,
            fetched_bytes=sum(size for is_fetched, size in zip(inputs.are_fetched, sizes, strict=True) if is_fetched),
            is_uploaded=is_bucket(spec.output),
        )

    shape = plan_that_fits(planned, spec.memory_bytes, spec.threads, spec.format.record_size if are_records else None)
    if spec.on == "local":
        demand_available(spec.memory_bytes)
    return shape


def open_executor(spec: JobSpec) -> Executor:
    """Opens that of spec.on. Raises BadInput where Ray is wanted and not installed."""
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
    with contextlib.suppress(EcoSortError, OSError):  # what was wrong is reported
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
    directory = Path(os.path.realpath(output))
    if directory.suffix != ".ecosort":
        directory = Path(f"{directory}.ecosort")
    journal = Journal(directory / "journal")
    if not journal.events:
        journal.close()
        raise IoFailed(f"'{journal.path}' holds nothing of a job; move '{directory}' away and begin again")
    return journal, spec_from_json(journal.events[0]["spec"])


def create_journal(spec: JobSpec, executor: Executor) -> Journal:
    """Makes the job's directories and its first event, with all that later decisions depend on. Raises BadInput where another
    process has begun a job for this output.
    """
    with naming_inputs(spec):
        inputs = _look_at(spec, executor)
        spec = inputs.spec
        shape = _shape(inputs, len(executor.nodes))
        ranges = _ranges(inputs, shape.range_bytes)
    if is_bucket(spec.output):
        from ecosort.cluster.bucket import demand_rights

        demand_rights(spec.output, is_conditional=spec.conditional_put)
    directory = spec.job_directory
    missing = [temp for temp in spec.temps if not os.path.lexists(temp)]
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    (directory / "samples").mkdir(exist_ok=True)
    if not (spec.single or is_bucket(spec.output)):
        Path(spec.output).mkdir(parents=True, exist_ok=True)
    sync_directory(directory.parent)
    plan = {
        "event": "plan",
        "schema": "ecosort.cluster-journal/1",
        "job": os.urandom(8).hex(),
        "spec": spec.as_json(),
        "parts": shape.parts,
        "merges": shape.merges,
        "partition_memory_bytes": shape.partition_memory_bytes,
        "sampled_rows": sampled_rows(shape.parts, len(ranges)),
        "ranges": [[one.source, one.path, one.begin, one.end] for one in ranges],
        "inputs": inputs.stamps,
        "codecs": inputs.codecs,
        "made_temps": missing,  # by tasks
    }
    try:
        return Journal.create(directory / "journal", plan)
    except FileExistsError:  # another process has begun one since the options were checked
        raise BadInput(spec.waiting_job) from None


def _ranges(inputs: _Inputs, range_bytes: int) -> list[Range]:
    """Makes the ranges: where something is fetched, each becomes a file; then equal keys are cut by the numbers of ranges, not of
    inputs.
    """
    spec = inputs.spec
    whole = [
        path
        for path, codec in zip(spec.inputs, inputs.codecs, strict=True)
        if codec or (is_remote(path) and is_cut_whole(spec.format))
    ]
    ranges = cut_ranges(spec.inputs, inputs.sizes, range_bytes, spec.format.record_size, whole)
    return [replace(one, source=number) for number, one in enumerate(ranges)] if any(inputs.are_fetched) else ranges
