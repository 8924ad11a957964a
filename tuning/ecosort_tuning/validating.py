"""`ecosort-tune validate`: from its options to a result file of predictions against measurements."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from ecosort_measure.prediction import HEADS, SCHEMA, VERDICT_HEADS, cells, circumstances, rows, verdict_rows, verdicts
from ecosort_measure.results import Document, begin, fresh
from ecosort_measure.sizes import size_text
from ecosort_measure.tables import console, show_table
from ecosort_power.codec import encode, write_rows

from ecosort_tuning.errors import EXIT_OK, EXIT_WORSE, UsageError
from ecosort_tuning.machine import this_machine
from ecosort_tuning.place import check_place, scratch, sorter_program
from ecosort_tuning.probe import ProbeOptions, places, run_probe
from ecosort_tuning.profile import write_profile
from ecosort_tuning.search.sorter import records_of
from ecosort_tuning.show import say
from ecosort_tuning.validate import Bench, Cell, Clock, Grid, fitted, floor_ratios, measure, predict, profile_of, turns

_PROBED_BLOCKS, _PROBED_DEPTHS = (256 << 10, 1 << 20), (16, 32)


def _command(given: Mapping[str, Any]) -> str:
    words = [f"--size {n / 1e9:g}GB" for n in given["sizes"]] + [f"--memory {size_text(m)}" for m in given["memories"]]
    words += [f"--rounds {given['rounds']}"] + ([f"--compress {given['compress']}"] if given["compress"] != "none" else [])
    return f"make bench-predict BENCH='{' '.join(words)}'"


def _fresh(given: Mapping[str, Any]) -> Document:
    settings = {
        "records": sorted(records_of(n) for n in given["sizes"]),
        "memory_bytes": sorted(given["memories"]),
        "training_records": sorted(records_of(n) for n in given["training_sizes"]),
        "training_memory_bytes": sorted(given["training_memories"]),
        "rounds": given["rounds"],
        "compress": given["compress"],
        "settles_memory": True,
    }
    parts: Document = {"profile": None, "training": [], "floor_ratio": {}, "predictions": [], "runs": [], "missing": True}
    return fresh(SCHEMA, given["dir"], settings, _command(given), **parts)


def _begin(given: Mapping[str, Any]) -> Document:
    """A new result, or the one to continue with; UsageError where it is of other settings, code or machine."""
    path: Path = given["out"]
    if path.exists() and not given["continued"]:
        raise UsageError(f"{path} exists; continue with it by --continue, or name another file with --out")
    return begin(path, _fresh(given), given["continued"])


def _probe(data: Path, seconds: float, file_bytes: int) -> Document:
    options = ProbeOptions(
        places([data], None), _PROBED_BLOCKS, _PROBED_DEPTHS, seconds=seconds, repetitions=2, file_bytes=file_bytes
    )
    profile: Document = encode(run_probe(options, this_machine(), lambda text: say(f"probe: {text}")))
    for drive in profile["drive"]:
        drive["directory"] = "DIR"  # the paths of a machine are its owner's affair
    profile["warnings"] = [warning.replace(str(data), "DIR") for warning in profile["warnings"]]
    return profile


def _measure(document: Document, given: Mapping[str, Any], data: Path) -> None:
    def save() -> None:
        write_rows(given["out"], document)

    clock = Clock(given["budget"], time.monotonic)
    settings = document["settings"]
    bench = Bench(sorter_program(), data, settings["compress"])
    if document["profile"] is None:
        document["profile"] = _probe(data, given["probe_seconds"], given["probe_file"])
        save()
    training = Grid("training", settings["training_records"], settings["training_memory_bytes"])
    predicted = Grid("runs", settings["records"], settings["memory_bytes"])
    missing = turns([training, predicted], settings["rounds"], document)
    document["missing"] = not measure(bench, missing, document, clock, save, say)
    if document["training"] and document["runs"]:
        _predict(document, bench, predicted, data)
    save()


def _predict(document: Document, bench: Bench, predicted: Grid, data: Path) -> None:
    """From the training runs alone: of the cells predicted, the models get to see nothing but the plan."""
    profile, path = fitted(profile_of(document), document["training"]), data / "profile.toml"
    write_profile(path, profile)
    ratios = floor_ratios(bench, path, document["training"])
    wanted = [Cell(n, m) for n in predicted.records for m in predicted.memories]
    document["predictions"] = predict(bench, path, wanted, ratios)
    document["floor_ratio"] = ratios
    document["models"] = {name: encode(getattr(profile, name)) for name in ("cpu", "time")}


def show(document: Document) -> None:
    out = console()
    found = cells(document)
    show_table(out, HEADS, rows(found))
    show_table(out, VERDICT_HEADS, verdict_rows(found))
    out.print(circumstances(document), markup=False)


def validate_and_tell(given: Mapping[str, Any]) -> int:
    """0 if all holds, 1 if something misses its limit or is not measured yet."""
    place: Path = given["dir"]
    check_place(place, max(*given["sizes"], *given["training_sizes"]))
    document = _begin(given)
    with scratch(place, "validate") as data:
        _measure(document, given, data)
    if document["runs"]:
        show(document)
    click.echo(f"result: {given['out']}")
    if document["missing"]:
        say("the budget ended before all was measured: --continue continues")
        return EXIT_WORSE
    return EXIT_OK if all(met for *_, met in verdicts(cells(document))) else EXIT_WORSE
