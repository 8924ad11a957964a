"""A cluster against one sort: what the table says of known runs, and one real call on small inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import capabilities
import pytest
from click.testing import CliRunner
from conftest import BUILD, ROOT
from ecosort_bench import clusters
from ecosort_bench.clusters_page import SCHEMA, lines_of, verdicts
from ecosort_bench.report import OtherResult, begin_of, end_of, load, page_agrees, write_page


def run(way: str, kind: str, round_: int, cpu_s: float, **more: Any) -> dict[str, Any]:
    told = {"way": way, "kind": kind, "round": round_, "wall_s": 3.0, "cpu_s": cpu_s, "input_bytes": 4 * 10**9}
    return told | {"bytes_moved": 161 * 10**8, "imbalance": 1.02, "parts": 16} | more


def document(runs: list[dict[str, Any]], ways: tuple[str, ...] = ("one", "local", "ray")) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "commit": "0123456789abcdef",
        "dirty": False,
        "machine": {"processor": "Abacus", "cpus": 2, "kernel": "6.1", "file_system": "ext4 rw"},
        "settings": {"bytes": 4 * 10**9, "memory_bytes": 512 << 20, "rounds": 5, "nodes": 2, "ways": list(ways)},
        "command": "make bench-cluster",
        "runs": runs,
    }


def words_of(data: dict[str, Any]) -> dict[str, str]:
    return {verdict.name: verdict.word for verdict in verdicts(data)}


def test_the_start_of_ray_is_told_apart() -> None:
    """The machine drifts by 2 from round to round, which the ratio of a round does not show."""
    runs = [run("one", "zipf", n, 4 * (1 + n % 2)) for n in range(5)] + [
        run("local", "zipf", n, 5 * (1 + n % 2)) for n in range(5)
    ]
    runs += [run("ray", "zipf", n, 5 * (1 + n % 2), start_cpu_s=8.0 + n) for n in range(5)]
    text = "\n".join(lines_of(document(runs)))
    assert "| 1000 keys by Zipf's law | processes | 16 | 3.0 | 1.25 | 1.25 | 4.03 | 1.020 |" in text
    assert "| 1000 keys by Zipf's law | Ray | 16 | 3.0 | 1.25 | 1.25 | 4.03 | 1.020 |" in text
    assert "Not in it, nor in the time: 10.0 CPU seconds in which Ray starts its nodes" in text


def test_a_sort_among_others_has_the_rest_beside_it() -> None:
    apart = clusters.sort_apart({"wall_s": 20.0, "cpu_s": 12.0}, {"wall_s": 6.0, "cpu_s": 5.0, "settling_cpu_s": 3.0})
    assert apart == {"wall_s": 6.0, "cpu_s": 5.0, "start_cpu_s": 4.0}
    assert clusters.sort_apart({"wall_s": 20.0, "cpu_s": 12.0}, None) == {}


def test_what_is_asked_is_judged() -> None:
    names = [f"1000 keys by Zipf's law, {how}: CPU / one sort" for how in ("processes", "Ray")]
    one = [run("one", "zipf", n, 4) for n in range(5)]
    good = document(one + [run("local", "zipf", n, 5.9) for n in range(5)], ("one", "local"))
    assert set(words_of(good).values()) == {"PASS"}
    bad = document(one + [run("local", "zipf", n, 6.1, imbalance=1.11, bytes_moved=165 * 10**8) for n in range(5)])
    assert words_of(bad)[names[0]] == "MISSED"
    assert set(words_of(bad).values()) == {"MISSED"}
    assert words_of(document([])) == {
        "largest part / mean, of all": "not measured",
        "bytes moved, off 4 N, of all": "not measured",
    }


def test_a_real_call_compares_outputs_and_has_a_place_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capabilities.require("root")
    monkeypatch.setattr(clusters, "RAY_PYTHON", tmp_path / "none")
    monkeypatch.setattr("ecosort_measure.cold_run.settle_memory", lambda _size: None)  # test_bench.py looks at it
    result, page = tmp_path / "cluster.json", tmp_path / "page.md"
    words = ["--build", str(BUILD), "--dir", str(tmp_path), "--bytes", "3000000", "--memory", "16MiB", "--rounds", "1"]
    kinds = clusters.KINDS if capabilities.SOAK else clusters.KINDS[:2]
    words += [word for kind in kinds for word in ("--kind", kind)] + ["--result", str(result)]
    done = CliRunner().invoke(clusters.main, words)
    assert done.exit_code == 0, done.output
    runs = json.loads(result.read_text())["runs"]
    assert [(one["kind"], one["way"]) for one in runs] == [(kind, way) for kind in kinds for way in ("one", "local")]
    assert all(one["cpu_s"] > 0 and one["bytes_moved"] > 2 * one["input_bytes"] > 5e6 for one in runs)
    assert [path.name for path in tmp_path.iterdir()] == ["cluster.json"], "the data are gone"
    again = CliRunner().invoke(clusters.main, [*words, "--continue"])
    assert (again.exit_code, json.loads(result.read_text())["runs"]) == (0, runs)
    refused = CliRunner().invoke(clusters.main, [*words, "--continue", "--rounds", "2"])
    assert (refused.exit_code, "cannot be continued" in refused.output) == (1, True)
    found = load(result)
    assert isinstance(found, OtherResult)
    page.write_text(f"{begin_of(found)}\n{end_of(found)}\n")
    write_page(page, found)
    assert page_agrees(page, found)


def test_the_committed_result_is_that_of_the_page() -> None:
    committed = [load(path) for path in sorted((ROOT / "tuning/bench/results").glob("*.json"))]
    (found,) = [one for one in committed if one.data["schema"] == SCHEMA]
    assert page_agrees(ROOT / "docs/benchmarks.md", found)
    assert not found.data["dirty"]
