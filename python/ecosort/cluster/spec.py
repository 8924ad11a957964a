"""Says what is to be sorted, how, and where: checked once, kept in the journal as it was said."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ecosort.cluster.compressed_inputs import BEGIN_BYTES
from ecosort.cluster.formats import Format, format_from
from ecosort.cluster.journal import foreign_job, is_own
from ecosort.errors import BadInput, EcoSortError
from ecosort.remote.addresses import is_bucket, is_remote
from ecosort.remote.ranges import begin_of, version_of
from ecosort.remote.s3_inputs import MANIFEST

_MOST = 512  # of workers on a node, and of threads
_OF_A_NODE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*):(/.*)", re.DOTALL)


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
    merges: bool | None = None  # parts are merged, or sorted; None: as the planner thinks best
    names: tuple[str, ...] = ()  # of the inputs, as the user named them
    conditional_put: bool = True  # the manifest of a bucket is written if there is none, in one step

    @property
    def job_directory(self) -> Path:
        """Returns that of the journal, samples and splitters; as of `ecosort sort --resumable`. Of a bucket: in the first of
        `temps`.
        """
        if is_bucket(self.output):
            return Path(self.temps[0]) / (self.output.removeprefix("s3://").replace("/", ",") + ".ecosort")
        return Path(f"{self.output}.ecosort")

    @property
    def resume_name(self) -> str:
        """Returns what resume_job() takes."""
        return str(self.job_directory) if is_bucket(self.output) else self.output

    @property
    def waiting_job(self) -> str:
        """Says that a job for this output is there already."""
        again = f"`ecosort cluster resume {self.resume_name}` continues, with --abandon it is given up"
        return f"'{self.job_directory}' holds a job that did not end; {again}"

    @property
    def way_out(self) -> str:
        """For a job that cannot be continued."""
        return f"give the job up with `ecosort cluster resume --abandon {self.resume_name}` and begin again"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def spec_from_json(told: dict[str, Any]) -> JobSpec:
    form = format_from(told["format"])
    lists = {name: tuple(told.get(name, ())) for name in ("inputs", "temps", "names")}
    return JobSpec(**({"single": False} | told | lists | {"format": form}))


@contextmanager
def naming_inputs(spec: JobSpec) -> Iterator[None]:
    """Gives inputs in errors the names that the user gave them, not the paths that tasks know."""
    try:
        yield
    except EcoSortError as error:
        line = str(error)
        for path, name in zip(spec.inputs, spec.names, strict=bool(spec.names)):
            line = re.sub(rf"(?<![\w/.-]){re.escape(path)}(?![\w/-]|\.\w)", name.replace("\\", r"\\"), line)
        error.args = (line,)
        raise


def job_spec(
    inputs: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    form: Format,
    on: str,
    temps: Sequence[str | os.PathLike[str]],
    workers: int,
    threads: int | None,
    memory_bytes: int,
    parts: int | None,
    seed: int,
    single: bool = False,
    merges: bool | None = None,
    conditional_put: bool = True,
) -> JobSpec:
    """Raises BadInput."""
    if not inputs:
        raise BadInput("no input: name a file at least")
    if not 1 <= workers <= _MOST or (threads is not None and not 1 <= threads <= _MOST):
        raise BadInput(f"workers and threads are numbers from 1 to {_MOST}")
    if on not in ("local", "ray") and not (on.startswith("ray://") and len(on) > len("ray://")):
        raise BadInput(f"--on is local, ray (the cluster of this machine, or of RAY_ADDRESS) or ray://HEAD[:PORT], not {on!r}")
    _demand_writable(os.fspath(output), [os.fspath(path) for path in temps], single, conditional_put)
    cpus = len(os.sched_getaffinity(0))
    nodes = max(1, len(temps))
    spec = JobSpec(
        inputs=tuple(os.fspath(path) if split_node(os.fspath(path))[0] else _absolute(path) for path in inputs),
        output=_resolved(os.fspath(output)),
        format=form,
        on=on,
        temps=tuple(_absolute(path) for path in temps),
        workers=workers,
        threads=threads or max(1, cpus // (nodes * workers)),
        memory_bytes=memory_bytes,
        parts=parts,
        seed=seed,
        single=single,
        merges=merges,
        names=tuple(os.fspath(path) for path in inputs),
        conditional_put=conditional_put,
    )
    _demand_free(spec)
    return spec


def _demand_writable(output: str, temps: Sequence[str], single: bool, conditional_put: bool) -> None:
    if remote := next((path for path in temps if is_remote(path)), None):
        raise BadInput(f"'{remote}' cannot have slices: --nodes-temp are directories that all nodes can read")
    if single and _resolved(output) in {_resolved(temp) for temp in temps}:
        raise BadInput(f"--single writes the file '{output}', which cannot be a directory of --nodes-temp, too")
    if output == "-":
        raise BadInput("-o - is standard output, which takes no parts; name a directory, or a file with --single")
    if _resolved(output).endswith(".ecosort"):
        raise BadInput(f"'{output}': names that end with .ecosort are those of jobs; name another output")
    if is_bucket(output) and single:
        raise BadInput("--single makes a file; what goes into a bucket are parts")
    if is_bucket(output) and not temps:
        raise BadInput("an output in a bucket wants --nodes-temp: directories for slices, the first of them for the journal, too")
    if not conditional_put and not is_bucket(output):
        raise BadInput(f"--no-conditional-put is for an output in a bucket, s3://..., not '{output}'")
    if is_remote(output) and not is_bucket(output):
        raise BadInput(f"'{output}' cannot be written: an output is a directory, a file (--single), or s3://BUCKET/PREFIX")
    for temp in temps:
        _demand_directory("--nodes-temp", temp)
    if not is_remote(output):
        _demand_parent(f"'{output}' cannot be made", Path(_resolved(output)))


def _absolute(path: str | os.PathLike[str]) -> str:
    """Addresses stay what they are."""
    return os.fspath(path) if is_remote(os.fspath(path)) else str(Path(os.fspath(path)).absolute())


def _resolved(output: str) -> str:
    """Follows symbolic links, because the job directory has the name of the output: one output has one job."""
    return output.rstrip("/") if is_remote(output) else os.path.realpath(output)


def _demand_directory(what: str, named: str) -> None:
    """It is there, and can be written; or its parent is, so that it can be made."""
    path = Path(named).absolute()
    if is_remote(named):
        return
    if not os.path.lexists(path):
        _demand_parent(f"{what} '{named}' cannot be made", path)
    elif not path.is_dir():
        raise BadInput(f"{what} '{named}' is no directory")
    elif not os.access(path, os.W_OK | os.X_OK):
        raise BadInput(f"{what} '{named}' cannot be written")


def _demand_parent(what: str, path: Path) -> None:
    if not path.parent.is_dir():
        raise BadInput(f"{what}: '{path.parent}' is no directory; create it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise BadInput(f"{what}: '{path.parent}' cannot be written")


def split_node(path: str) -> tuple[str | None, str]:
    """The node that has it (None: all have), and where it is there."""
    named = None if is_remote(path) else _OF_A_NODE.fullmatch(path)
    if named and named[2].startswith("//"):
        raise BadInput(f"'{path}': {named[1]}:// is not read; an address begins with http://, https:// or s3://")
    return (named[1], named[2]) if named else (None, path)


def _demand_free(spec: JobSpec) -> None:
    """Nothing is where the output and its journal go."""
    if (spec.job_directory / "journal").exists():
        if (spec.job_directory / "journal").stat().st_size == 0:
            raise BadInput(f"'{spec.job_directory}' has an empty journal, which no job leaves; move it away")
        if not is_own(spec.job_directory / "journal"):
            raise BadInput(foreign_job(spec.job_directory))
        raise BadInput(spec.waiting_job)
    _demand_no_strangers(spec.job_directory)
    if is_bucket(spec.output):
        from ecosort.cluster.bucket import demand_free

        demand_free(spec.output)
        return
    output = Path(spec.output)
    taken = [path for path in (spec.output, f"{spec.output}.{MANIFEST}") if spec.single and os.path.lexists(path)]
    if taken:
        raise BadInput(f"'{taken[0]}' exists; name a file that is not there")
    if os.path.lexists(output) and not (output.is_dir() and not any(output.iterdir())):
        raise BadInput(f"'{output}' exists; name a directory that is not there, or that is empty")


def _demand_no_strangers(directory: Path) -> None:
    """The job removes its directory at its end. A crash in its first moment leaves what is in here."""
    if os.path.lexists(directory) and not directory.is_dir():
        raise BadInput(f"'{directory}' is there already, and no directory; the job needs that name: move it away")
    strangers = [path for path in directory.iterdir() if not _is_left_by_crash(path)] if directory.exists() else []
    if strangers:
        raise BadInput(f"'{directory}' is there already, and '{strangers[0].name}' in it is of no job; move it away")


def _is_left_by_crash(path: Path) -> bool:
    return path.name.startswith("journal.new") or (path.name == "samples" and path.is_dir() and not any(path.iterdir()))


def begin_of_input(path: str) -> bytes:
    """Its first bytes, which show whether it is compressed."""
    if is_remote(path):
        return begin_of(path, version_of(path), BEGIN_BYTES)
    with Path(path).open("rb") as file:
        return file.read(BEGIN_BYTES)


Stamp = tuple[int, int | str]  # size in bytes, and what changes when the input does


def stamp_of(path: str) -> Stamp:
    """Identifies an input as it is now. Raises BadInput for what is no regular file and no object, IoFailed where no server
    answers.
    """
    if is_remote(path):
        version = version_of(path)
        return version.size, version.tag
    if not Path(path).is_file():
        raise BadInput(f"'{path}' is no regular file that is there; a cluster reads ranges of files")
    status = Path(path).stat()
    return status.st_size, status.st_mtime_ns
