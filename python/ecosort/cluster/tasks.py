"""The tasks of a job, which run on the nodes. A task gets everything in a JSON object and answers with one.

A task writes only below names with the number of its attempt in them, and these appear complete: it can run twice at a time, be
killed at any moment, and run again. It deletes nothing but what it wrote itself in vain.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Any

from ecosort.cluster.compressed_inputs import decoded, pieces_of
from ecosort.cluster.fetch import fetch_rows
from ecosort.cluster.formats import Format
from ecosort.cluster.hashes import HashSum, sum_of
from ecosort.cluster.manifest import read_in_order, row_of
from ecosort.cluster.part_ends import ends_of, size_of, written_by
from ecosort.cluster.program_calls import KILLED, Usage, run_request
from ecosort.cluster.single import copy_of, sort_into
from ecosort.cluster.spec import begin_of_input, stamp_of
from ecosort.cluster.summaries import has_summaries, summary_of
from ecosort.durable import sync_directory
from ecosort.errors import BadInput, EcoSortError, IoFailed, NotEnoughMemory, NotEnoughSpace, VerificationFailed
from ecosort.process import Sort
from ecosort.remote.addresses import Version, is_remote
from ecosort.remote.ranges import read_range
from ecosort.report import Phase, Report, empty_report
from ecosort.request import Request
from ecosort.version import __version__

Json = dict[str, Any]

_MERGE_BYTES = 16 << 20  # of a merge of records, besides
_USUAL_FILE_BYTES = 1 << 20  # for each file


def run_task(task: Json) -> Json:
    """Does a task of any kind. The answer has `begin_s`, `end_s`, `cpu_s`, `bytes_read`, `bytes_written`, or an `error`."""
    usage = Usage.start()
    try:
        return _KINDS[task["kind"]](task) | usage.end()
    except (EcoSortError, OSError) as error:
        return {"error": _told(error, task)} | usage.end()


def _told(error: Exception, task: Json) -> Json:
    is_full = isinstance(error, NotEnoughSpace) or (isinstance(error, OSError) and error.errno in (28, 122))
    code = getattr(error, "exit_code", None)
    if is_full:
        kind = "full"
    elif code in KILLED:
        kind = "lost"  # somebody killed the program
    elif isinstance(error, BadInput | NotEnoughMemory | VerificationFailed):
        kind = "bad"  # it would be the same the next time
    else:
        kind = "failed"
    advice = "; give each task more memory" if isinstance(error, NotEnoughMemory) else ""
    taken = task.get("range", {})
    line = str(error).replace(taken["path"], taken["name"]) if taken.get("is_fetched") else str(error)
    return {"kind": kind, "line": f"{line}{advice}", "exit_code": code}


def _format(task: Json) -> Format:
    return Format(**task["format"])


def _range_words(task: Json) -> list[str]:
    taken = task["range"]
    return [f"--from={taken['begin']}", f"--to={taken['end']}", f"--source={taken['source']}"]


def _is_gone(task: Json) -> bool:
    """Returns whether what was fetched of a remote input is not there any more."""
    taken = task["range"]
    return bool(taken["is_fetched"]) and size_of(taken["path"]) != taken["end"]


_GONE = {"is_gone": True, "bytes_read": 0, "bytes_written": 0}


def _fetch(task: Json) -> Json:
    output = Path(task["output"])
    output.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = output.with_name(f"{output.name}.new")
    try:
        with new.open("wb") as file:
            read = _fetch_into(file, task)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        new.rename(output)
    finally:
        new.unlink(missing_ok=True)
    sync_directory(output.parent)
    return {"bytes_read": read, "bytes_written": size, "bytes": size, "output": str(output)}


def _fetch_into(file: IO[bytes], task: Json) -> int:
    """Returns how many bytes were read."""
    path, begin, end = (task["range"][name] for name in ("path", "begin", "end"))
    if not task["codec"]:
        return fetch_rows(_format(task), path, Version(*task["version"]), begin, end, file)
    pieces = read_range(path, Version(*task["version"]), begin, end) if is_remote(path) else pieces_of(path)
    for piece in decoded(task["codec"], path, pieces):
        file.write(piece)
    return int(end - begin)


def _sample(task: Json) -> Json:
    if _is_gone(task):
        return dict(_GONE)
    output = Path(task["output"])
    output.parent.mkdir(parents=True, exist_ok=True)
    words = ["sample", "request", f"--count={task['count']}", f"--seed={task['seed']}", *_range_words(task)]
    run_request(_format(task).of_range([task["range"]["path"]], str(output)), words)
    return {"bytes_read": task["read_bytes"], "bytes_written": output.stat().st_size, "output": str(output)}


def _split(task: Json) -> Json:
    output = Path(task["output"])
    words = ["sample", "request", "--merge", f"--parts={task['parts']}"]
    try:
        run_request(_format(task).of_range(task["samples"], str(output)), words)
    except BadInput as error:
        raise BadInput(_of_inputs(str(error), task)) from None
    return {
        "bytes_read": sum(Path(sample).stat().st_size for sample in task["samples"]),
        "bytes_written": output.stat().st_size,
        "output": str(output),
        **_header_told(_format(task), output),
    }


def _of_inputs(line: str, task: Json) -> str:
    """Says of the inputs what is said of samples of them."""
    for sample, path in zip(task["samples"], task["inputs"], strict=True):
        line = line.replace(sample, path)
    return line


def _header_told(form: Format, splitters: Path) -> dict[str, str]:
    """The header row of a table, and its hash, which a sort of a table counts among its rows."""
    header = _header_of(splitters)
    if not header:
        return {"header": "", "header_hash": HashSum().hex}
    alone = splitters.with_name(f"{splitters.name}.header")
    alone.write_bytes(base64.b64decode(header))
    told = run_request(form.of_part([str(alone)], "-", merges=True, memory_bytes=16 << 20))
    return {"header": header, "header_hash": told["hash"]}


def _header_of(splitters: Path) -> str:
    """The header row of a table with its end of line, in base64: the first line of its splitters has it."""
    with splitters.open("rb") as file:
        first = file.readline()
    header = base64.b64decode(json.loads(first).get("header", "") if first else "")
    return base64.b64encode(header + b"\n" if header and not header.endswith(b"\n") else header).decode()


def _partition(task: Json) -> Json:
    if _is_gone(task):
        return dict(_GONE)
    directory = Path(task["directory"])
    directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory.mkdir()
    try:
        return _partition_into(directory, task)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)  # the disk may be full of it
        raise


def _partition_into(directory: Path, task: Json) -> Json:
    report = directory / "report.json"
    words = ["partition", "request", f"--splitters={task['splitters']}", *(["--sort"] if task["sorts"] else [])]
    words += ["--prefix=slice", f"--report={report}", *_range_words(task)]

    def partition(memory_bytes: int) -> None:
        means = {"memory_bytes": memory_bytes, "threads": task["threads"]}
        run_request(_format(task).of_range([task["range"]["path"]], str(directory), **means), words)

    try:
        partition(task["memory_bytes"])
    except NotEnoughMemory:  # for a very long row, perhaps
        if task["memory_bytes"] == task["most_memory_bytes"]:
            raise
        partition(task["most_memory_bytes"])
    told = json.loads(report.read_bytes())
    slices = [_slice(directory, told_slice) | {"top_bytes": told["top_bytes"]} for told_slice in told["slices"]]
    if sum_of(slices) != HashSum(told["rows"], told["hash"]):
        raise VerificationFailed(f"'{report}': the slices are not the rows of the range")
    return {
        "rows": told["rows"],
        "hash": told["hash"],
        "slices": slices,
        "bytes_read": told["bytes_read"],
        "bytes_written": told["bytes_written"],
        "phases": _steps(Phase(**phase) for phase in told["phases"]),
    }


def _slice(directory: Path, told: Json) -> Json:
    wanted = ("part", "rows", "hash", "first", "last", "bytes")
    files = [{"path": str(directory / Path(one["file"]).name), "bytes": one["bytes"]} for one in told["files"]]
    return {name: told[name] for name in wanted} | {"files": files}


def _reduce(task: Json) -> Json:
    """Puts a part together. Slices that are not there or not what they were are `damaged`, for their tasks to run again."""
    form, slices = _format(task), task["slices"]
    if damaged := [one["task"] for one in slices if not _is_there(one)]:
        return {"damaged": damaged, "bytes_read": 0, "bytes_written": 0}
    output = Path(task["output"])
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        report = _sort_slices(task, form, slices, lambda report: _demand_rows(task, report))
        return _part(task, form, report)
    except (NotEnoughSpace, NotEnoughMemory):
        raise
    except EcoSortError:
        output.unlink(missing_ok=True)
        damaged = [one["task"] for one in slices if not _is_sound(task, form, one)]
        if not damaged:
            raise
    return {"damaged": damaged, "bytes_read": sum(one["bytes"] for one in slices), "bytes_written": 0}


def _filled(slices: Sequence[Json]) -> list[str]:
    """Files with rows, and the first one if it has the top of the output."""
    top_bytes = slices[0]["top_bytes"]
    first, *others = (file for one in slices for file in one["files"])
    filled = [file["path"] for file in others if file["bytes"] > top_bytes]
    return [first["path"], *filled] if first["bytes"] > 0 or not filled else filled


def _demand_rows(task: Json, report: Report) -> None:
    """Raises IoFailed where a part that was sorted is not what its slices were written with."""
    if _sum(report, task) != sum_of(task["slices"]):
        raise IoFailed(f"part {task['part']} does not hold the rows that its slices were written with")


def _sort_slices(task: Json, form: Format, slices: Sequence[Json], demand: Callable[[Report], None]) -> Report:
    """Into the file `output`, at `place` in a file of all parts, or as the object `upload`, which appears if `demand` is met."""
    paths = _filled(slices)
    if task["merges"]:
        request = _request_of_part(task, form, paths, _merge_memory(task, form, len(paths)), merges=True)
        if form.name == "records":
            request.members["verification"]["expected_hash"] = sum_of(slices).hex
        with contextlib.suppress(NotEnoughMemory):  # for very long rows of many files
            return _put_together(task, request, demand)
    return _put_together(task, _request_of_part(task, form, paths, task["memory_bytes"]), demand)


def _request_of_part(task: Json, form: Format, paths: Sequence[str], memory_bytes: int, *, merges: bool = False) -> Request:
    output = "-" if task["upload"] or task["place"] else task["output"]
    means = {"memory_bytes": memory_bytes, "threads": task["threads"], "temp_directories": [task["temp"]]}
    request = form.of_part(paths, output, merges=merges, **means)
    request.members["verification"] = {"checksum": has_summaries(form)}
    return request


def _merge_memory(task: Json, form: Format, files: int) -> int:
    """More is of no use, and the system clears it. Rows, whose lengths no one knows, may have all of it."""
    enough = _MERGE_BYTES + files * _USUAL_FILE_BYTES if form.name == "records" else task["memory_bytes"]
    return min(enough, int(task["memory_bytes"]))


def _put_together(task: Json, request: Request, demand: Callable[[Report], None]) -> Report:
    if "records" in request.members and sum(map(size_of, request.members["inputs"])) == 0:
        return _no_records(task, demand)
    if task["upload"]:
        from ecosort.remote.uploads import sort_to_bucket

        return sort_to_bucket(task["upload"], request, sum(one["bytes"] for one in task["slices"]), demand)
    report = sort_into(task["place"], request) if task["place"] else Sort(request).wait()
    demand(report)
    return report


def _no_records(task: Json, demand: Callable[[Report], None]) -> Report:
    report = empty_report(__version__)
    demand(report)
    if task["upload"]:
        from ecosort.remote.s3_requests import put

        put(task["upload"], b"")
    elif not task["place"]:
        Path(task["output"]).write_bytes(b"")
    return report


def _sum(report: Report, task: Json) -> HashSum:
    return HashSum(report.records, report.hash).without(task["header_hash"]) if report.records else HashSum()


def _part(task: Json, form: Format, report: Report) -> Json:
    first, last = ends_of(task, form)
    summary = b""
    if report.checksum is not None and report.duplicate_keys is not None:
        summary = summary_of(report.records, report.duplicate_keys, report.checksum, row_of(first), row_of(last))
    written, size = written_by(task)
    return {
        "rows": report.records,
        "hash": _sum(report, task).hex,
        "bytes": size,
        "output": written,
        "uploaded_bytes": size if task["upload"] else 0,
        "first": first,
        "last": last,
        "summary": base64.b64encode(summary).decode(),
        "missing": {key.by: key.missing for key in report.keys},
        "bytes_read": report.bytes_read,
        "bytes_written": report.bytes_written,
        "io_idle_s": report.io_idle_s,
        "phases": _steps(report.phases),
    }


def _steps(phases: Iterable[Phase]) -> list[list[Any]]:
    return [[one.name, one.end_s - one.begin_s, one.bytes_read, one.bytes_written, one.wait_s] for one in phases]


def _is_there(one: Json) -> bool:
    """The files of a slice are, in full length."""
    return all(size_of(file["path"]) == file["bytes"] for file in one["files"])


def _is_sound(task: Json, form: Format, one: Json) -> bool:
    """A slice holds the rows that were counted and hashed when it was written."""
    if not _is_there(one):
        return False
    scratch = f"{task['output']}.slice"
    try:
        here = task | {"output": scratch, "place": None, "upload": None}
        report = _sort_slices(here, form, [one], lambda report: None)
        return _sum(report, task) == HashSum(one["rows"], one["hash"])
    except (NotEnoughSpace, NotEnoughMemory):
        raise
    except EcoSortError:
        return False
    finally:
        Path(scratch).unlink(missing_ok=True)


def _reread(task: Json) -> Json:
    """Rereads a part in a file of all parts, which must be what was written there."""
    copy = Path(task["output"])
    copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        size = copy_of(task["place"], copy)
        return {"is_sound": _holds(copy, task), "bytes_read": 2 * size, "bytes_written": size}
    finally:
        copy.unlink(missing_ok=True)


def _holds(copy: Path, task: Json) -> bool:
    """Its rows in order."""
    wanted = HashSum(task["rows"], task["hash"])
    if not wanted.rows:
        return True
    try:
        return read_in_order(_format(task), copy).without(task["header_hash"]) == wanted
    except VerificationFailed:
        return False


def _stamp(task: Json) -> Json:
    return {"stamp": stamp_of(task["path"]), "bytes_read": 0, "bytes_written": 0}


def _begin(task: Json) -> Json:
    return {"begin": base64.b64encode(begin_of_input(task["path"])).decode(), "bytes_read": 0, "bytes_written": 0}


_KINDS: dict[str, Callable[[Json], Json]] = {
    "fetch": _fetch,
    "sample": _sample,
    "split": _split,
    "partition": _partition,
    "reduce": _reduce,
    "reread": _reread,
    "stamp": _stamp,
    "begin": _begin,
}
