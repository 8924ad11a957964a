"""Sorts files on several nodes: tasks of the program `ecosort`, run by processes of this machine or by Ray.

A job samples the inputs, cuts them into parts by splitters, and makes each part in one pass. The output is a directory of parts
in order with MANIFEST.json, which appears when all is complete and verified. DESIGN: docs/cluster.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ecosort import checks
from ecosort.cluster.check import check_manifest
from ecosort.cluster.formats import Format, format_of_rows, format_of_words
from ecosort.cluster.jobs import abandon_job, plan_of, resume_job, start_job
from ecosort.cluster.manifest import Manifest
from ecosort.cluster.planner import Shape
from ecosort.cluster.report import ClusterReport, Stage, TaskSpan
from ecosort.cluster.scheduler import Observe, PhaseState
from ecosort.cluster.spec import job_spec
from ecosort.errors import BadInput
from ecosort.keys import keys_of
from ecosort.options import OF_ROWS, Options, request_of, takes
from ecosort.request import FORMATS
from ecosort.sorting import format_of, names_of
from ecosort.words import Path as FilePath
from ecosort.words import Size, bytes_of, path_word, path_words


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(Options):
    """The options of ecosort.sort() that say rows and keys, with what a task may take, and those of a cluster."""

    memory: Size = "512MiB"  # of a task
    threads: int | None = None  # of a task; None: the processors, divided among nodes and workers
    progress: Observe | None = None  # type: ignore[assignment]  # is called some times a second
    on: str = "local"  # processes of this machine; "ray": its Ray, or that of RAY_ADDRESS; "ray://HEAD[:PORT]"
    nodes_temp: Sequence[FilePath] = ()  # directories for slices, one for each node, which all nodes can read
    workers: int = 1  # tasks at a time on a node
    parts: int | None = None  # None: as few as a task can merge or sort in one pass
    seed: int = 1  # of the sample
    single: bool = False  # `dst` becomes one file
    merges: bool | None = None  # parts are merged from sorted slices, or sorted in one pass; None: as the planner thinks best
    conditional_put: bool = True  # False: for a server of s3:// that knows no If-None-Match
    words: Sequence[str] = ()  # options of the format as on the command line


_OWN = {"by", "format", "memory", "threads"} | (set(ClusterOptions.__dataclass_fields__) - set(Options.__dataclass_fields__))


@takes(ClusterOptions)
def sort(src: Any, dst: Any, options: ClusterOptions) -> ClusterReport:
    """Sorts files into the directory `dst`, which must not exist or be empty: part-00000... and MANIFEST.json.

    `src`, `by` and the format are as in ecosort.sort(), and so are the options that say rows and keys; others are refused. `src`
    may be addresses (http, https, s3; of s3 also prefixes that end with a slash, and patterns), and compressed files of rows.
    `dst` may be "s3://BUCKET/PREFIX", of which nothing must exist; with `single` it is one file, which must not exist.

    Raises the errors of ecosort.errors. After any of them, and after a crash, resume(dst) continues; of a
    bucket it takes the directory of the job, "BUCKET,PREFIX.ecosort" in the first of `nodes_temp`.

    >>> from pathlib import Path
    >>> _ = Path("in.csv").write_text("n\\n10\\n9\\n")
    >>> sort("in.csv", "sorted", by="n:number").rows
    2
    """
    observe, told = _observer(options.progress), replace(options, progress=None).checked()
    names = names_of(src)
    form = format_of(names, told)
    spec = job_spec(
        names,
        path_word(dst, "dst"),
        form=_format_of(form, told),
        on=checks.text(options.on, "on"),
        temps=_temps(options.nodes_temp),
        workers=checks.whole_number(options.workers, "workers"),
        threads=told.get("threads"),
        memory_bytes=bytes_of(options.memory, "memory"),
        parts=options.parts if options.parts is None else checks.whole_number(options.parts, "parts"),
        seed=checks.whole_number(options.seed, "seed", "a number from 0 on", least=0),
        single=checks.truth(options.single, "single"),
        merges=options.merges if options.merges is None else checks.truth(options.merges, "merges", "True, False or None"),
        conditional_put=checks.truth(options.conditional_put, "conditional_put"),
    )
    return start_job(spec, observe)


def _format_of(form: str, told: dict[str, Any]) -> Format:
    """Returns what the options say of the rows, or words as on the command line."""
    words = checks.several(told.get("words", ()), str, "words", "a word of the format, such as '--reverse', or several of them")
    if form not in FORMATS:
        raise BadInput(f"a cluster sorts {', '.join(FORMATS)}, and no {form}")
    others = [name for name in told if name not in _OWN and name not in OF_ROWS]
    if others:
        raise BadInput(f"{others[0]} is no option of a cluster")
    rows = {name: value for name, value in told.items() if name not in _OWN or name == "by"}
    if words:
        option = "--by" if form in ("csv", "jsonl") else "--key"
        keys = [f"{option}={key}" for key in keys_of(form, rows.pop("by"))] if "by" in rows else []
        size = [f"--record-size={rows.pop('record_size')}"] if "record_size" in rows else []
        if rows:
            raise BadInput(f"write {min(rows)} as one of the words, or leave words out")
        return format_of_words(form, [*size, *keys, *words])
    if form == "records" and "by" not in rows:
        raise BadInput("records want record_size and by; those of the Sort Benchmark are record_size=100, by='0:10'")
    return format_of_rows(form, request_of(rows, form, (), None).members[form])


def _temps(nodes_temp: Any) -> list[str]:
    """A single directory is refused: a user who names it may think that every node gets one below it."""
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
    "ClusterOptions",
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
