"""Sorts files on several nodes: tasks of the program `ecosort`, run by processes of this machine or by Ray.

A job samples the inputs, cuts them into parts by splitters, and makes each part in one pass. The output is a directory of parts
in order with MANIFEST.json, which appears when all is complete and verified. DESIGN: docs/cluster.md.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ecosort.cluster.check import check_manifest
from ecosort.cluster.jobs import abandon_job, plan_of, resume_job, start_job
from ecosort.cluster.manifest import Manifest
from ecosort.cluster.planner import Shape
from ecosort.cluster.report import ClusterReport, Stage, TaskSpan
from ecosort.cluster.scheduler import Observe, PhaseState
from ecosort.cluster.spec import job_spec
from ecosort.keys import Key, LineKey, ValueKey
from ecosort.words import Size, bytes_of

By = str | int | Key | LineKey | ValueKey
FilePath = str | os.PathLike[str]


def sort(
    src: FilePath | Sequence[FilePath],
    dst: FilePath,
    *,
    format: str = "records",  # noqa: A002
    by: By | Sequence[By] = (),
    record_size: int | None = None,
    options: Sequence[str] = (),
    on: str = "local",
    nodes_temp: Sequence[FilePath] = (),
    workers: int = 1,
    threads: int | None = None,
    memory: Size = "512MiB",
    parts: int | None = None,
    seed: int = 1,
    single: bool = False,
    merges: bool | None = None,
    progress: Observe | None = None,
) -> ClusterReport:
    """Sorts files into the directory `dst`, which must not exist or be empty: part-00000... and MANIFEST.json.

    `format` is records (with `record_size` in bytes), lines, csv or jsonl; `by` are keys as in sort_file(), sort_lines() and
    sort_csv(); `options` further words of the format, such as "--delimiter=tab". `on` is "local" (processes of this machine),
    "ray" (the Ray cluster of this machine, that of RAY_ADDRESS, or a new one) or "ray://HEAD[:PORT]". `src` may be addresses
    (http, https, s3). `nodes_temp` are directories for slices, one for each node, which all nodes can read. On each node
    `workers` tasks run at a time, with `threads` threads and `memory` (bytes, or a text such as "512MiB") each. With `single`,
    `dst` becomes one file, which must not exist. `dst` may be "s3://BUCKET/PREFIX", too, of which nothing must exist.
    `merges` has parts merged from sorted slices, or sorted in one pass (False); the planner chooses otherwise.
    `progress` is called with a PhaseState some times a second.

    Raises the errors of ecosort.errors. After any of them, and after a crash, resume(dst) continues; of a
    bucket it is told the directory of the job, "BUCKET,PREFIX.ecosort" in the first of `nodes_temp`.
    """
    words = [f"--record-size={record_size}"] if record_size is not None else []
    keys = [by] if isinstance(by, str | int | Key | LineKey | ValueKey) else list(by)
    option = "--by" if format in ("csv", "jsonl") else "--key"
    words += [f"{option}={LineKey(key) if isinstance(key, int) else key}" for key in keys]
    spec = job_spec(
        [src] if isinstance(src, str | os.PathLike) else list(src),
        dst,
        format_name=format,
        words=[*words, *options],
        on=on,
        temps=nodes_temp,
        workers=workers,
        threads=threads,
        memory_bytes=bytes_of(memory, "memory"),
        parts=parts,
        seed=seed,
        single=single,
        merges=merges,
    )
    return start_job(spec, progress or _quiet)


def resume(dst: FilePath, *, progress: Observe | None = None) -> ClusterReport:
    """Continues with the sort into `dst` that did not end. Raises BadInput where there is none."""
    return resume_job(os.fspath(dst), progress or _quiet)


def abandon(dst: FilePath) -> None:
    """Gives the sort into `dst` up: what it made goes, no input does. Raises BadInput where there is none, or it is complete."""
    abandon_job(os.fspath(dst))


def check(manifest: FilePath, *, scratch: FilePath = "/tmp", workers: int = 1) -> Manifest:
    """Reads all parts of MANIFEST.json (or of the directory or bucket that has it): counts, hashes and order, also across parts.

    `scratch` takes a small file, and of a bucket one part for each of the `workers`.

    Raises VerificationFailed with the first thing that is wrong, and BadInput where there is no manifest.
    """
    return check_manifest(os.fspath(manifest), Path(scratch), workers)


def _quiet(state: PhaseState) -> None:
    pass


__all__ = [
    "ClusterReport",
    "Manifest",
    "PhaseState",
    "Shape",
    "Stage",
    "TaskSpan",
    "abandon",
    "check",
    "plan_of",
    "resume",
    "sort",
]
