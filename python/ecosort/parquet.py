"""`ecosort-parquet`, which `ecosort parquet` becomes: sorts the rows of Parquet files into one that claims its order.

`ecosort check FILE.parquet` becomes it, too: it holds files against what they claim.

Its one word is what the program read from the command line, as JSON: the program has the only grammar.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ecosort.command_ends import ended, print_notices
from ecosort.errors import BadInput
from ecosort.remote.addresses import is_remote
from ecosort.report import Report
from ecosort.request import decoded
from ecosort.tables import check_table, write_table
from ecosort.text import first_line, shown
from ecosort.words import path_word

_SCHEMA = "ecosort.table/1"
# Arrow's allocator (mimalloc) gives pages back that no one used for so many milliseconds, and gets fresh ones for the next batch.
# The sort gives them back itself where they are too many (KeptMemory). Read when pyarrow is loaded.
_PURGE_DELAY = ("MIMALLOC_PURGE_DELAY", "1000")


def _sort(request: dict[str, Any]) -> None:
    table, means, reports = request["table"], request.get("means", {}), request["reports"]
    options = {
        "memory": means.get("memory_bytes"),
        "threads": means.get("threads"),
        "temp": means.get("temp_directories"),
        "limit": request.get("limit"),
        "unique": request.get("unique"),
        "overwrite": True,
    }
    given = {name: value for name, value in options.items() if value is not None}
    nulls = "first" if table.get("nulls_first") else "last"
    output = request["place"]["output"]
    if output.startswith("http"):
        raise BadInput(f"'{output}': nothing can be written over http; name a file or s3://BUCKET/KEY")
    if Path(output).suffix.lower() != ".parquet":
        raise BadInput(f"'{output}': name an output that ends with .parquet")
    if stats := reports.get("stats"):
        _demand_own_file(stats, request["inputs"], output)
    unclaimed: list[str] = []
    report = write_table(request["inputs"], [_key(text, nulls) for text in table["keys"]], output, given, unclaimed)
    if "stats" in reports:
        Path(reports["stats"]).write_text(json.dumps({"schema": _SCHEMA, **_figures(report, nulls)}, indent=1) + "\n")
    if not reports["quiet"]:
        with contextlib.suppress(OSError):  # no one reads any more
            print(_summary(report, nulls), file=sys.stderr)
            if unclaimed:
                print(_notice(output, unclaimed), file=sys.stderr)
        print_notices(report.notices)


def _check(request: dict[str, Any]) -> None:
    for name in request["check"]:
        order = check_table(Path(name))
        claim = ", ".join(f"{column} {direction} (nulls {nulls})" for column, direction, nulls in order.by)
        within = "" if order.is_throughout else f" within each of its {order.row_groups} row groups"
        if not request["reports"]["quiet"]:
            print(f"{shown(name)}: {order.rows} rows are in the order that it claims{within}: {claim}", file=sys.stderr)


def _demand_own_file(stats: str, inputs: Sequence[str], output: str) -> None:
    """Refuses a report that cannot be written, or that would take the place of what is read or written."""
    from ecosort.arrow_sources import files_at

    if Path(stats).is_dir():
        raise BadInput(f"--stats '{stats}' is a directory; name a file")
    if not Path(stats).parent.is_dir():
        raise BadInput(f"--stats: there is no directory '{Path(stats).parent}'; create it first")
    files = [file for name in inputs if not is_remote(name) for file in files_at(path_word(name))]
    for name in (*files, output):
        if _are_one_file(stats, name):
            what = "the output" if name == output else "an input"
            raise BadInput(f"--stats '{stats}' is {what} and would be overwritten; name another file")


def _are_one_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError:  # one of them is not there yet, or is no name of a file
        return Path(one).resolve() == Path(other).resolve()


def _key(text: str, nulls: str) -> tuple[str, str, str]:
    name = text.removesuffix(":desc")
    return (name, "ascending" if name == text else "descending", nulls)


def _figures(report: Report, nulls: str) -> dict[str, Any]:
    written = report.records - report.dropped - report.beyond_limit
    return {
        "rows": report.records,
        "rows_written": written,
        "rows_dropped": report.dropped,
        "rows_beyond_limit": report.beyond_limit,
        "nulls": nulls,
        "keys": {"hash": report.hash, "wall_s": report.wall_s},
        "notices": list(report.notices),
    }


def _summary(report: Report, nulls: str) -> str:
    left = [(report.dropped, "with keys that were there already"), (report.beyond_limit, "behind the limit")]
    more = "".join(f", {count} {why} left out" for count, why in left if count)
    return f"ecosort: {report.records} rows sorted, nulls {nulls}{more}"


def _notice(output: str, unclaimed: Sequence[str]) -> str:
    keys = ", ".join(map(shown, unclaimed))
    return (
        f"ecosort: {shown(output)} does not claim its order by {keys}: a claim ends before the first floating-point key ("
        "programs put NaN and -0.0 in different places) and behind a date64 (Parquet keeps its day alone)"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes as those of the program."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "pyarrow" not in sys.modules:
        os.environ.setdefault(*_PURGE_DELAY)

    def work() -> None:
        if len(words) != 1 or not words[0].startswith("{"):
            raise BadInput("this program is a part of ecosort; type `ecosort parquet --by COLUMN in.parquet -o out.parquet`")
        request = json.loads(words[0], object_hook=decoded)
        import pyarrow as pa

        try:
            (_check if "check" in request else _sort)(request)
        except pa.ArrowException as error:
            raise BadInput(f"pyarrow cannot read or write this table: {first_line(error)}") from None

    return ended(work)
