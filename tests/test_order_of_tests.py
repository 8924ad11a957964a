"""Every test is dealt out once; a quiet one runs while no other does, whatever the number of workers.

A fault in the scheduler would otherwise be seen as tests that never ran, or as times that are wrong now and then.
"""

from types import SimpleNamespace
from typing import Any

import order_of_tests
import pytest
from durations import Duration, report
from order_of_tests import in_order
from scheduler import TESTS_OF_A_PART, InTwoPhases


class Worker:
    """A worker of xdist: it runs a test once it knows the next one, or that there is none."""

    def __init__(self, number: int) -> None:
        self.gateway = SimpleNamespace(id=f"gw{number}")
        self.waiting: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: list[int]) -> None:
        assert not self.shutting_down
        self.waiting += indices

    def shutdown(self) -> None:
        self.shutting_down = True

    @property
    def can_run(self) -> bool:
        return len(self.waiting) > (0 if self.shutting_down else 1)


def run_all(tests: list[str], workers: int) -> list[tuple[set[str], str]]:
    """Runs them as xdist would; for each test those that other workers had begun or could begin meanwhile, and the test."""
    option = SimpleNamespace(tx=[f"{workers}*popen"], loadscopereorder=True)
    config: Any = SimpleNamespace(option=option, getvalue=lambda name: getattr(option, name), invocation_params=None)
    scheduler = InTwoPhases(config)
    nodes: list[Any] = [Worker(number) for number in range(workers)]
    for node in nodes:
        scheduler.add_node(node)
    for node in nodes:
        scheduler.add_node_collection(node, tests)
    scheduler.schedule()
    ran = []
    while any(node.can_run for node in nodes):
        for node in nodes:
            if node.can_run:
                others = {tests[other.waiting[0]] for other in nodes if other is not node and other.can_run}
                index = node.waiting.pop(0)
                ran.append((others, tests[index]))
                scheduler.mark_test_complete(node, index)
            if node.shutting_down and not node.waiting and node in scheduler.nodes:
                assert scheduler.remove_node(node) is None
    assert scheduler.tests_finished
    return ran


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize(
    ("ordinary", "quiet"),
    [(5 * TESTS_OF_A_PART, 2 * TESTS_OF_A_PART), (3, 1), (0, 3 * TESTS_OF_A_PART), (2 * TESTS_OF_A_PART, 0)],
)
def test_every_test_runs_once_and_quiet_ones_alone(
    monkeypatch: pytest.MonkeyPatch, workers: int, ordinary: int, quiet: int
) -> None:
    monkeypatch.setattr(order_of_tests, "QUIET", frozenset({"test_quiet.py"}))
    tests = [f"tests/test_{name}.py::test_{i}" for name, count in (("a", ordinary), ("quiet", quiet)) for i in range(count)]
    ran = run_all(tests, workers)
    assert sorted(test for _, test in ran) == sorted(tests)
    assert all(not others for others, test in ran if "test_quiet" in test)
    assert ordinary < 2 * TESTS_OF_A_PART or workers == 1 or any(others for others, _ in ran)  # the others do run side by side


def test_what_took_long_in_the_last_run_comes_first_and_what_must_be_quiet_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ECOSORT_SHUFFLE", raising=False)
    monkeypatch.setattr(order_of_tests, "QUIET", frozenset({"test_quiet.py"}))
    names = [f"tests/test_{name}" for name in ("quiet.py::a", "short.py::a", "long.py::a", "long.py::b", "new.py::a")]
    items: Any = [SimpleNamespace(nodeid=name) for name in names]
    last = [Duration(name, "call", wall, 0.1, "gw0", 0.0) for name, wall in zip(names, (9, 1, 2, 3, 0), strict=True)]
    assert [item.nodeid for item in in_order(items, last)] == [names[2], names[3], names[1], names[4], names[0]]


def test_a_random_order_is_the_same_in_every_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOSORT_SHUFFLE", "7")
    items: Any = [SimpleNamespace(nodeid=f"tests/test_a.py::{i}") for i in range(100)]
    shuffled = in_order(items, [])
    assert shuffled == in_order(items, []) != items
    assert sorted(shuffled, key=items.index) == items


def test_a_report_adds_up_files_and_says_how_busy_the_cores_were() -> None:
    rows = [
        Duration("tests/test_a.py::x", "setup", 1.0, 0.5, "gw0", 10.0),
        Duration("tests/test_a.py::x", "call", 3.0, 2.5, "gw0", 11.0),
        Duration("tests/test_b.py::y", "call", 5.0, 1.0, "gw1", 15.0),
    ]
    lines = report(rows, cores=2).splitlines()
    assert lines[0] == "2 tests in 10 s on 2 cores: 4 processor seconds, cores busy 20%"
    assert lines[3:5] == ["     5.0      1.0  tests/test_b.py", "     4.0      3.0  tests/test_a.py"]
    assert lines[-1] == "     4.0      3.0  tests/test_a.py::x"
