"""Compressed runs on simulated drives: what the tables say of known runs, and one real call on a small input."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import BUILD, ROOT
from ecosort_bench.report import OtherResult, begin_of, end_of, load, page_agrees, write_page
from ecosort_bench.slow_drives import CODECS, HERE, Sorted, codecs_of, main
from ecosort_bench.slow_drives_page import SCHEMA, lines_of, verdicts

# Seconds of a round, by codec: the drive drifts by 2 from round to round, which no ratio of a round shows.
SECONDS = {"none": 3.0, "prefix": 2.5, "lz4": 2.0, "zstd": 1.5, "auto": 1.5}


def document(kind: str, drive: str, seconds: dict[str, float], cpu_s: dict[str, float] | None = None) -> dict[str, object]:
    runs = [
        Sorted(kind, drive, codec, round_, s * (1 + round_ % 2), (cpu_s or {}).get(codec, 1.0), 10**9, 3 * 10**9, "zstd:1", None)
        for codec, s in seconds.items()
        for round_ in range(5)
    ]
    return {
        "schema": SCHEMA,
        "commit": "0123456789abcdef",
        "dirty": False,
        "machine": {"processor": "Abacus", "cpus": 2, "kernel": "6.1", "file_system": "ext4 rw"},
        "settings": {"bytes": 10**9, "memory_bytes": 64 << 20, "threads": 2, "rounds": 5},
        "command": "make bench-slow-drives",
        "runs": [asdict(run) for run in runs],
    }


def words_of(data: dict[str, object]) -> dict[str, str]:
    return {verdict.name: verdict.word for verdict in verdicts(data)}


def test_a_row_says_how_many_times_as_fast_each_codec_is() -> None:
    text = "\n".join(lines_of(document("log", "shared 300", SECONDS)))
    row = "| access log | shared 300 MB/s | 3.00 | 1.20 x | 1.50 x | 2.00 x | 2.00 x | zstd:1 | 1.00 | 1.00 | 3.00 | 3.00 |"
    assert row in text
    assert "1 GB of each input, 64MiB, 2 threads, 5 rounds; Abacus, 2 CPUs, Linux 6.1, ext4; 0123456789ab" in text


def test_what_is_asked_of_a_slow_drive_is_judged_by_ratios_of_rounds() -> None:
    name = "access log, shared 300 MB/s: none / auto"
    assert words_of(document("log", "shared 300", SECONDS)) == {name: "PASS"}
    assert words_of(document("log", "shared 300", {**SECONDS, "auto": 2.5})) == {name: "MISSED"}
    assert words_of(document("log", "shared 100", SECONDS)) == {}, "nothing is asked there"


def test_truncation_alone_is_judged_on_paths() -> None:
    words = words_of(document("paths", "shared 300", {**SECONDS, "prefix": 1.8}))
    assert words == {"paths of a file system, shared 300 MB/s: none / prefix": "PASS"}
    assert set(words_of(document("paths", "shared 300", SECONDS)).values()) == {"MISSED"}


def test_here_auto_is_held_against_the_fastest_of_the_others() -> None:
    assert words_of(document("text", HERE, SECONDS)) == {"words and digits, this drive: auto / zstd, the fastest": "PASS"}
    slow = {**SECONDS, "none": 1.0}
    assert words_of(document("text", HERE, slow)) == {"words and digits, this drive: auto / none, the fastest": "MISSED"}


def test_what_cannot_be_compressed_may_cost_no_cpu() -> None:
    name, even = "random bytes, as records, this drive: CPU of auto / none", dict.fromkeys(CODECS, 1.0)
    assert words_of(document("random-records", HERE, even, {"auto": 1.01}))[name] == "PASS"
    assert words_of(document("random-records", HERE, even, {"auto": 1.03}))[name] == "MISSED"


@pytest.mark.parametrize("kind", ["log", "u64-records"])
def test_a_real_call_keeps_its_runs_and_has_a_place_on_the_page(tmp_path: Path, kind: str) -> None:
    result, page = tmp_path / "slow.json", tmp_path / "page.md"
    words = ["--build", str(BUILD), "--dir", str(tmp_path), "--bytes", "6000000", "--memory", "2MiB", "--rounds", "1"]
    words += ["--kind", kind, "--drive", "shared 100", "--drive", HERE, "--result", str(result)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    runs = json.loads(result.read_text())["runs"]
    assert [(run["drive"], run["codec"]) for run in runs] == [(d, c) for d in ("shared 100", HERE) for c in codecs_of(kind)]
    assert all(run["moved_bytes"] >= 2 * run["input_bytes"] > 0 for run in runs if run["codec"] == "none")
    by_codec = {run["codec"]: run for run in runs if run["drive"] == "shared 100"}
    assert by_codec["none"]["wall_s"] >= by_codec["none"]["moved_bytes"] / 100e6 * 0.9, "the drive was no faster than it is"
    assert by_codec["zstd"]["moved_bytes"] < by_codec["none"]["moved_bytes"]
    assert "zstd" in by_codec["zstd"]["chose"]
    assert [path.name for path in tmp_path.iterdir()] == ["slow.json"], "the data are gone"
    again = CliRunner().invoke(main, [*words, "--continue", "--drive", "shared 300"])
    assert again.exit_code == 0, again.output
    more = json.loads(result.read_text())["runs"]
    assert [(run["drive"], run["codec"]) for run in more[len(runs) :]] == [("shared 300", codec) for codec in codecs_of(kind)]
    assert more[: len(runs)] == runs
    refused = CliRunner().invoke(main, [*words, "--continue", "--rounds", "2"])
    assert (refused.exit_code, "its settings was" in refused.output) == (1, True)
    found = load(result)
    assert isinstance(found, OtherResult)
    page.write_text(f"{begin_of(found)}\n{end_of(found)}\n")
    write_page(page, found)
    assert page_agrees(page, found)


def test_the_committed_results_are_of_sources_as_committed() -> None:
    """The page shows them: that is one look at all results, in test_bench.py."""
    committed = [load(path) for path in sorted((ROOT / "tuning/bench/results").glob("*.json"))]
    slow = [found for found in committed if found.data["schema"] == SCHEMA]
    assert slow
    assert not any(found.data["dirty"] for found in slow)
