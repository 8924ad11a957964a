"""Sorts files on several nodes: tasks of the program `ecosort`, run by processes of this machine or by Ray.

A job samples the inputs, cuts them into parts by splitters, and makes each part in one pass. The output is a directory of parts
in order with MANIFEST.json, which appears when all is complete and verified. DESIGN: docs/cluster.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ecosort import checks
from ecosort.cluster.check import check_manifest
from ecosort.cluster.jobs import abandon_job, plan_of, resume_job, start_job
from ecosort.cluster.manifest import Manifest
from ecosort.cluster.planner import Shape
from ecosort.cluster.report import ClusterReport, Stage, TaskSpan
from ecosort.cluster.scheduler import Observe, PhaseState
from ecosort.cluster.spec import job_spec
from ecosort.keys import Key, LineKey, ValueKey
from ecosort.words import Path as FilePath
from ecosort.words import Size, bytes_of, path_word, path_words, record_size_word

By = str | int | Key | LineKey | ValueKey


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
    conditional_put: bool = True,
    progress: Observe | None = None,
) -> ClusterReport:
    """Sorts files into the directory `dst`, which must not exist or be empty: part-00000... and MANIFEST.json.

    `format` is records (with `record_size` in bytes), lines, csv or jsonl; `by` are keys as in sort_file(), sort_lines() and
    sort_csv(); `options` further words of the format, such as "--delimiter=tab". `on` is "local" (processes of this machine),
    "ray" (the Ray cluster of this machine, that of RAY_ADDRESS, or a new one) or "ray://HEAD[:PORT]". `src` may be addresses
    (http, https, s3; of s3 also prefixes that end with a slash, and patterns), and compressed files of rows. `nodes_temp` are
    directories for slices, one for each node, which all nodes can read. On each node `workers` tasks run at a time, with
    `threads` threads and `memory` (bytes, or a text such as "512MiB") each. With `single`, `dst` becomes one file, which must
    not exist. `dst` may be "s3://BUCKET/PREFIX", too, of which nothing must exist; a server that knows no If-None-Match wants
    `conditional_put=False`. `merges` has parts merged from sorted slices, or sorted in one pass (False); the planner chooses
    otherwise. `progress` is called with a PhaseState some times a second.

    Raises the errors of ecosort.errors. After any of them, and after a crash, resume(dst) continues; of a
    bucket it is told the directory of the job, "BUCKET,PREFIX.ecosort" in the first of `nodes_temp`.
    """
    form = checks.text(format, "format")
    spec = job_spec(
        path_words(src, "src"),
        path_word(dst, "dst"),
        format_name=form,
        words=_format_words(form, by, record_size, options),
        on=checks.text(on, "on"),
        temps=_temps(nodes_temp),
        workers=checks.whole_number(workers, "workers"),
        threads=threads if threads is None else checks.whole_number(threads, "threads"),
        memory_bytes=bytes_of(memory, "memory"),
        parts=parts if parts is None else checks.whole_number(parts, "parts"),
        seed=checks.whole_number(seed, "seed", "a number from 0 on", least=0),
        single=checks.truth(single, "single"),
        merges=merges if merges is None else checks.truth(merges, "merges", "True, False or None"),
        conditional_put=checks.truth(conditional_put, "conditional_put"),
    )
    return start_job(spec, _observer(progress))


def _format_words(form: str, by: Any, record_size: int | None, options: Any) -> list[str]:
    """What the command line says of rows and keys."""
    words = [] if record_size is None else [record_size_word(record_size)]
    keys = checks.several(by, (str, int, Key, LineKey, ValueKey), "by", "a key or a text, or several of them")
    option = "--by" if form in ("csv", "jsonl") else "--key"
    words += [f"{option}={LineKey(key) if isinstance(key, int) else key}" for key in keys]
    return words + checks.several(options, str, "options", "a word of the format, such as '--reverse', or several of them")


def _temps(nodes_temp: Any) -> list[str]:
    """A single directory is refused: whoever names it may think that every node gets one below it."""
    if checks.is_left_out(nodes_temp):
        return []
    if isinstance(nodes_temp, str | bytes | os.PathLike) or not isinstance(nodes_temp, Iterable):
        raise checks.no_such("nodes_temp", "a list of directories, one for each node", nodes_temp)
    return path_words(nodes_temp, "nodes_temp")


def _observer(progress: Any) -> Observe:
    if progress is not None and not callable(progress):
        raise checks.no_such("progress", "a function that is called with a PhaseState", progress)
    return progress or _quiet


def resume(dst: FilePath, *, progress: Observe | None = None) -> ClusterReport:
    """Continues with the sort into `dst` that did not end. Raises BadInput where there is none."""
    return resume_job(path_word(dst, "dst"), _observer(progress))


def abandon(dst: FilePath) -> None:
    """Gives the sort into `dst` up: what it made goes, no input does. Raises BadInput where there is none, or it is complete."""
    abandon_job(path_word(dst, "dst"))


def check(manifest: FilePath, *, scratch: FilePath = "/tmp", workers: int = 1) -> Manifest:
    """Reads all parts of MANIFEST.json (or of the directory or bucket that has it): counts, hashes and order, also across parts.

    `scratch` takes a small file, and of a bucket one part for each of the `workers`.

    Raises VerificationFailed with the first thing that is wrong, and BadInput where there is no manifest.
    """
    return check_manifest(
        path_word(manifest, "manifest"), Path(path_word(scratch, "scratch")), checks.whole_number(workers, "workers")
    )


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
