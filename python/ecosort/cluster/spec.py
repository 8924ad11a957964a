"""What is to be sorted, how, and where: checked once, kept in the journal as it was said."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ecosort.cluster.formats import Format, format_from
from ecosort.cluster.remote import is_remote, version_of
from ecosort.errors import BadInput


@dataclass(frozen=True)
class JobSpec:
    """Paths are absolute. `temps` are directories of nodes; none: one node, whose slices lie beside the output."""

    inputs: tuple[str, ...]
    output: str
    format: Format
    on: str
    temps: tuple[str, ...]
    workers: int  # tasks at a time on a node
    threads: int  # of a task
    memory_bytes: int  # of a task
    parts: int | None
    seed: int
    single: bool  # one file instead of parts

    @property
    def job_directory(self) -> Path:
        """Of the journal, samples and splitters; like that of `ecosort sort --resumable`."""
        return Path(f"{self.output}.ecosort")

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def spec_from_json(told: dict[str, Any]) -> JobSpec:
    form = Format(told["format"]["name"], tuple(told["format"]["words"]))
    return JobSpec(
        **({"single": False} | told | {"format": form, "inputs": tuple(told["inputs"]), "temps": tuple(told["temps"])})
    )


def job_spec(
    inputs: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    format_name: str,
    words: Sequence[str],
    on: str,
    temps: Sequence[str | os.PathLike[str]],
    workers: int,
    threads: int | None,
    memory_bytes: int,
    parts: int | None,
    seed: int,
    single: bool = False,
) -> JobSpec:
    """Raises BadInput."""
    if not inputs:
        raise BadInput("no input: name a file at least")
    if workers < 1 or (threads is not None and threads < 1):
        raise BadInput("workers and threads are positive numbers")
    if on not in ("local", "ray") and not (on.startswith("ray://") and len(on) > len("ray://")):
        raise BadInput(f"--on is local, ray (the cluster of this machine, or of RAY_ADDRESS) or ray://HEAD[:PORT], not {on!r}")
    if remote := next((os.fspath(path) for path in (output, *temps) if is_remote(os.fspath(path))), None):
        raise BadInput(f"'{remote}' cannot be written: outputs and slices are files, only inputs may be http(s):// or s3://")
    cpus = len(os.sched_getaffinity(0))
    nodes = max(1, len(temps))
    return JobSpec(
        inputs=tuple(_absolute(path) for path in inputs),
        output=_free_output(output, single),
        format=format_from(format_name, words),
        on=on,
        temps=tuple(_absolute(path) for path in temps),
        workers=workers,
        threads=threads or max(1, cpus // (nodes * workers)),
        memory_bytes=memory_bytes,
        parts=parts,
        seed=seed,
        single=single,
    )


def _absolute(path: str | os.PathLike[str]) -> str:
    """Addresses stay what they are."""
    return os.fspath(path) if is_remote(os.fspath(path)) else str(Path(os.fspath(path)).absolute())


def _free_output(path: str | os.PathLike[str], single: bool) -> str:
    """A directory that is not there, or empty; a file that is not there."""
    output = Path(_absolute(path))
    if Path(f"{output}.ecosort", "journal").exists():
        raise BadInput(
            f"'{output}.ecosort' holds a job that did not end; `ecosort cluster resume {output}` continues, or remove it"
        )
    if single and os.path.lexists(output):
        raise BadInput(f"'{output}' exists; name a file that is not there")
    if output.is_dir() and not any(output.iterdir()):
        return str(output)
    if os.path.lexists(output):
        raise BadInput(f"'{output}' exists; name a directory that is not there, or that is empty")
    return str(output)


Stamp = tuple[int, int | str]  # size in bytes, and what changes when the input does


def stamp_of(path: str) -> Stamp:
    """Of an input as it is now. Raises BadInput for what is no regular file and no object, IoFailed where no server answers."""
    if is_remote(path):
        version = version_of(path)
        return version.size, version.tag
    if not Path(path).is_file():
        raise BadInput(f"'{path}' is no regular file that is there; a cluster reads ranges of files")
    status = Path(path).stat()
    return status.st_size, status.st_mtime_ns
