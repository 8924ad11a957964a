"""`ecosort-tune compare`: sees what is there, and nothing in noise."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ecosort_measure.results import Results
from ecosort_tuning.compare import compare
from ecosort_tuning.errors import UsageError
from ecosort_tuning.noise import judge_pairs, judge_sets, rank_test, sign_test

from .conftest import Tune

Times = dict[str, list[float]]  # of the contenders of stage main


def document(times: Times, cpu_s: float = 1.0, begins: list[float] | None = None, **changed: Any) -> dict[str, Any]:
    runs = []
    for contender, walls in times.items():
        for i, wall in enumerate(walls):
            stats = {"phases": [{"name": "run_formation", "begin_s": begins[i]}]} if begins else None
            cpu = cpu_s * (1 + 0.001 * (i % 3))
            run = {"stage": "main", "round": i, "contender": contender, "wall_s": wall, "cpu_user_s": cpu, "cpu_system_s": 0.0}
            runs.append({**run, "is_cold": True, "stats": stats})
    base = {
        "schema": "ecosort.bench/1",
        "commit": "0123",
        "dirty": False,
        "machine": {"processor": "P", "cpus": 2},
        "settings": {"records": 10, "memory_bytes": 64 << 20, "threads": 2},
        "runs": runs,
    }
    return {**base, **changed}


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, dict[str, Any]], Results]:
    def make(name: str, content: dict[str, Any]) -> Results:
        (tmp_path / name).write_text(json.dumps(content))
        return Results.load(tmp_path / name)

    return make


def noisy(n: int, centre: float, seed: int, spread: float = 0.1) -> list[float]:
    generator = random.Random(seed)
    return [centre * generator.lognormvariate(0, spread) for _ in range(n)]


def drifting(n: int, seed: int) -> list[float]:
    """The speed of a shared drive: a slow walk between 1 and 2."""
    generator, level, found = random.Random(seed), 1.5, []
    for _ in range(n):
        level = min(2.0, max(1.0, level + generator.uniform(-0.2, 0.2)))
        found.append(level)
    return found


def test_the_sign_test_counts_like_coins() -> None:
    assert sign_test([1.1] * 6) == pytest.approx(2 / 64)
    assert sign_test([1.1] * 5 + [0.9]) == pytest.approx(2 * 7 / 64)
    assert sign_test([1.0, 1.0]) == 1.0


def test_the_rank_test_counts_all_divisions() -> None:
    # Two of the 70 ways to take 4 of 8 are as extreme as complete separation; 3 of 6 can never show anything.
    assert rank_test([1, 2, 3, 4], [5, 6, 7, 8]) == pytest.approx(2 / 70)
    assert rank_test([1, 2, 3], [4, 5, 6]) == pytest.approx(2 / 20)
    assert rank_test([1, 1, 1, 1], [1, 1, 1, 1]) == 1.0


def test_the_rank_test_of_many_agrees_with_that_of_few() -> None:
    a, b = noisy(7, 1.0, 1), noisy(7, 1.12, 2)
    exact = rank_test(a, b)
    assert 0.001 < exact < 0.9
    # The same question to the normal distribution: each value three times is 42 in all, and nothing is counted.
    assert rank_test(noisy(30, 1.0, 3), noisy(30, 1.0, 4)) > 0.05
    assert rank_test(noisy(30, 1.0, 3), noisy(30, 1.3, 4)) < 1e-4


@pytest.mark.parametrize("judge", [judge_sets, judge_pairs])
def test_noise_alone_is_seldom_called_a_difference(judge: Any) -> None:
    seen = sum(judge(noisy(10, 1.0, 2 * i), noisy(10, 1.0, 2 * i + 1)).seen for i in range(60))
    assert seen <= 7  # 3 expected; with 60 trials 7 is the 99 % quantile


@pytest.mark.parametrize("judge", [judge_sets, judge_pairs])
def test_a_real_difference_is_found_with_its_size(judge: Any) -> None:
    found = judge(noisy(20, 1.3, 1, 0.05), noisy(20, 1.0, 2, 0.05))
    assert found.seen
    assert found.interval.low < 1.3 < found.interval.high
    assert found.interval.median == pytest.approx(1.3, rel=0.07)


def test_drift_between_two_files_cancels_against_the_floor_of_the_same_round(file: Any) -> None:
    slow, fast = [2.0 * x for x in drifting(12, 1)], drifting(12, 2)
    a = file("a", document({"ecosort": [1.2 * x for x in slow], "floor_b": slow}))
    b = file("b", document({"ecosort": [1.2 * x for x in fast], "floor_b": fast}))
    found = compare(a, b)
    time = next(r for r in found.rows if (r.contender, r.quantity) == ("ecosort", "time"))
    assert (time.how, time.verdict) == ("of floor_b", "no difference seen")
    assert found.summary == "no difference seen"
    assert any("the machine itself changed" in w for w in found.warnings)


def test_files_measured_in_alternation_are_compared_pair_by_pair(file: Any) -> None:
    drift = drifting(16, 5)
    a = file("a", document({"ecosort": drift[0::2]}, begins=[20.0 * i for i in range(8)]))
    b = file("b", document({"ecosort": [0.8 * x for x in drift[0::2]]}, begins=[20.0 * i + 10 for i in range(8)]))
    time = compare(a, b).rows[0]
    assert (time.how, time.verdict) == ("pairs", "20.0 % less")
    later = file("c", document({"ecosort": drift[1::2]}, begins=[1000 + 20.0 * i for i in range(8)]))
    assert compare(a, later).rows[0].how == "apart"
    assert any("drift" in w for w in compare(a, later).warnings)


def test_a_handful_of_runs_proves_nothing(file: Any) -> None:
    a, b = file("a", document({"ecosort": [1.0, 1.0, 1.0]})), file("b", document({"ecosort": [9.0, 9.0, 9.0]}))
    found = compare(a, b)
    assert "too few" in found.rows[0].verdict
    assert "too few" in found.summary


def test_more_cpu_is_seen_where_the_time_says_nothing(file: Any) -> None:
    walls = noisy(8, 2.0, 7)
    found = compare(file("a", document({"ecosort": walls})), file("b", document({"ecosort": walls}, cpu_s=1.1)))
    assert [(r.quantity, r.worse) for r in found.rows] == [("time", False), ("CPU", True)]
    assert found.rows[1].verdict == "10.0 % more"


def test_what_is_not_comparable_is_refused(file: Any, tmp_path: Path) -> None:
    a = file("a", document({"ecosort": [1.0] * 5}))
    other = {"records": 11, "memory_bytes": 64 << 20, "threads": 2}
    with pytest.raises(UsageError, match="different work: records is 10"):
        compare(a, file("b", document({"ecosort": [1.0] * 5}, settings=other)))
    with pytest.raises(UsageError, match="no stage and contender in common"):
        compare(a, file("c", document({"gnu_sort": [1.0] * 5})))
    (tmp_path / "d").write_text('{"schema": "ecosort.stats/1"}')
    with pytest.raises(UsageError, match="no result of make bench"):
        Results.load(tmp_path / "d")
    with pytest.raises(UsageError, match="damaged"):
        file("e", document({"ecosort": [1.0]}, runs=[{"stage": "main"}]))
    (tmp_path / "e").write_text("records, seconds")
    with pytest.raises(UsageError, match="e is no JSON"):
        Results.load(tmp_path / "e")


def test_another_machine_and_uncommitted_changes_are_named(file: Any) -> None:
    a = file("a", document({"ecosort": [1.0] * 5}))
    b = file("b", document({"ecosort": [1.0] * 5}, dirty=True, machine={"processor": "P", "cpus": 4}))
    warnings = "\n".join(compare(a, b).warnings)
    assert "cpus is 2 in the first, 4 in the second" in warnings
    assert "second was measured with uncommitted changes" in warnings


def test_the_exit_code_says_whether_something_got_worse(tune: Tune, file: Any) -> None:
    file("a.json", document({"ecosort": noisy(10, 1.0, 1, 0.02)}))
    file("b.json", document({"ecosort": noisy(10, 1.5, 2, 0.02)}))
    worse, better, same = (
        tune("compare", "a.json", "b.json"),
        tune("compare", "b.json", "a.json"),
        tune("compare", "a.json", "a.json"),
    )
    assert [d.returncode for d in (worse, better, same)] == [1, 0, 0], worse.stderr + same.stderr
    assert "% more" in worse.stdout
    assert "no difference seen" in same.stdout.splitlines()[-1]
    missing = tune("compare", "a.json", "none.json")
    assert (missing.returncode, missing.stderr) == (2, "ecosort-tune: none.json does not exist\n")
    as_json = tune("compare", "--json", "a.json", "b.json")
    assert json.loads(as_json.stdout)["rows"][0]["judgement"]["interval"]["median"] == pytest.approx(1.5, rel=0.05)
