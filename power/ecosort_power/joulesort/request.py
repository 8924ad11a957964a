"""From the options of `ecosort-power joulesort` to an entry."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ecosort_power.command import quoted
from ecosort_power.errors import UsageError
from ecosort_power.joulesort.classes import describe_classes, name_of, parse_class
from ecosort_power.joulesort.predict import PREDICTED, predict
from ecosort_power.joulesort.state import Request
from ecosort_power.joulesort.steps import joulesort
from ecosort_power.records import MIN_RUNS


def _records(size: str | None, records: int | None) -> tuple[int, bool]:
    """Returns how many (0: as many as the meter needs), and whether it is a rehearsal."""
    if size is not None:
        parse_class(size)
    if records is not None:
        return records, True
    if size is None:
        raise UsageError(f"say which class: {describe_classes()}; or --records N (or auto) to rehearse")
    return parse_class(size), False


def _predict(given: Mapping[str, Any], size: str | None, words: list[str]) -> int:
    classes = PREDICTED if size is None else (parse_class(size),)
    if given["profile"] is not None:
        words = ["--profile", str(given["profile"]), *words]
    return predict(classes, given["watts"], given["data"] or Path(), words)


def enter(given: Mapping[str, Any]) -> int:
    size, words = given["size"], list(given["sort_words"])
    if size is not None and size.startswith("-"):  # after `--` everything is a word of the sort
        size, words = None, [size, *words]
    if given["is_prediction"]:
        return _predict(given, size, words)
    if given["watts"] is not None or given["profile"] is not None:
        raise UsageError("--watts and --profile are for --predict: an entry is measured")
    if not given["meter_words"]:
        raise UsageError("say what to measure with: --meter METER (ecosort-power meters lists them), or only --predict")
    records, rehearsal = _records(size, given["records"])
    if given["runs"] < MIN_RUNS and not rehearsal:
        raise UsageError(f"an entry has at least {MIN_RUNS} runs; fewer are for a rehearsal (--records N)")
    name = f"joulesort-{name_of(records, rehearsal).replace('^', 'e', 1).replace('10e', '1e')}-{given['category']}"
    directory: Path = (given["directory"] or Path(name)).absolute()
    request = Request(
        records=records,
        rehearsal=rehearsal,
        category=given["category"],
        meters=list(given["meter_words"]),
        sum_meters=given["sum_meters"],
        runs=given["runs"],
        data=str((given["data"] or directory / "data").absolute()),
        sort_words=words,
        idle_s=given["idle_s"],
        pause_s=given["pause_s"],
        settle_s=given["settle_s"],
        probe_s=given["probe_s"],
        config=given["config"],
    )
    again = quoted(["ecosort-power", *sys.argv[1:]])
    return joulesort(directory, request, given["ambient_c"], given["repeat_invalid"], again)
