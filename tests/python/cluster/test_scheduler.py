"""The scheduler: losses, full disks, late tasks and bad ones, with an executor whose tasks end as a script says."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from ecosort.cluster.executor import Ended, Node
from ecosort.cluster.journal import Journal
from ecosort.cluster.scheduler import Done, Scheduler, Task

from ecosort import BadInput, IoFailed, NotEnoughSpace

Json = dict[str, Any]
OK: Json = {"bytes": 1}
NODES = (Node("a", "/a", 1), Node("b", "/b", 2))


def error(kind: str) -> Json:
    return {"error": {"kind": kind, "line": f"it is {kind}", "exit_code": 2}}


class Scripted:
    """`script` says how an attempt ends: its answer, None for a lost worker, or "never"."""

    def __init__(self, script: Callable[[str, int, Node], Json | str | None], nodes: Sequence[Node] = NODES) -> None:
        self.nodes = nodes
        self.script = script
        self.started: list[tuple[str, int, str]] = []
        self.stopped: list[int] = []
        self.running: dict[int, Json | str | None] = {}

    def start(self, task: Json, node: Node, *, is_bound: bool = False) -> int:
        self.started.append((task["name"], task["attempt"], node.name))
        self.running[len(self.started)] = self.script(task["name"], task["attempt"], node)
        most = {one.name: one.workers for one in self.nodes}
        assert len(self.running) <= sum(most.values())
        return len(self.started)

    def wait(self, timeout_s: float) -> list[Ended]:
        ready = [number for number, answer in self.running.items() if answer != "never"]
        if not ready:
            time.sleep(timeout_s)
            return []
        answer = self.running.pop(ready[0])
        assert not isinstance(answer, str)
        return [Ended(ready[0], answer)]

    def stop(self, number: int) -> None:
        self.stopped.append(number)
        del self.running[number]

    def close(self) -> None:
        pass


def run(
    executor: Scripted, directory: Path, names: Sequence[str] = ("one", "two", "three"), bound: dict[str, str] | None = None
) -> dict[str, Done]:
    """`bound`: nodes of tasks that run nowhere else."""
    done: dict[str, Done] = {}

    def made(name: str) -> Task:
        return Task(name, lambda attempt, node: {"name": name, "attempt": attempt}, (bound or {}).get(name))

    def accept(task: Task, found: Done) -> None:
        assert task.name not in done
        done[task.name] = found

    with Journal.create(directory / "journal", {"event": "plan"}) as journal:
        Scheduler(executor, journal, {}).run("phase", [made(name) for name in names], accept)
        told = [(event["task"], event["attempt"]) for event in journal.events if event["event"] == "done"]
    assert told == [(name, found.attempt) for name, found in done.items()]
    return done


def test_each_task_is_done_once(tmp_path: Path) -> None:
    executor = Scripted(lambda name, attempt, node: OK)
    assert set(run(executor, tmp_path, [str(number) for number in range(20)])) == {str(number) for number in range(20)}
    assert len(executor.started) == 20


def test_what_begins_or_ends_together_is_made_durable_together(tmp_path: Path) -> None:
    """A drive that takes seconds for each line would else leave the workers idle, which are more the larger a cluster is."""

    class AllAtOnce(Scripted):
        def wait(self, timeout_s: float) -> list[Ended]:
            return [ended for _ in list(self.running) for ended in super(AllAtOnce, self).wait(timeout_s)]

    run(AllAtOnce(lambda name, attempt, node: OK), tmp_path, [str(number) for number in range(6)])
    assert (tmp_path / "journal").read_bytes().count(b"\n") == 1 + 2 * 2  # the plan; three of six at a time


def test_a_lost_worker_s_task_runs_again_under_another_attempt(tmp_path: Path) -> None:
    executor = Scripted(lambda name, attempt, node: None if name == "two" and attempt < 4 else OK)
    assert run(executor, tmp_path)["two"].attempt == 4


def test_a_program_that_somebody_killed_is_no_failure_of_its_task(tmp_path: Path) -> None:
    executor = Scripted(lambda name, attempt, node: error("lost") if name == "two" and attempt < 9 else OK)
    assert run(executor, tmp_path)["two"].attempt == 9


def test_a_full_disk_moves_the_task_and_its_node_gets_no_more(tmp_path: Path) -> None:
    executor = Scripted(lambda name, attempt, node: error("full") if node.name == "a" else OK)
    done = run(executor, tmp_path, [str(number) for number in range(9)])
    assert {found.node for found in done.values()} == {"b"}
    assert sum(node == "a" for _, _, node in executor.started) == 1


def test_no_space_anywhere_ends_the_job_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotEnoughSpace, match=r"no node has space for .*resume"):
        run(Scripted(lambda name, attempt, node: error("full")), tmp_path)


def test_a_bad_task_ends_the_job_at_once_and_stops_the_others(tmp_path: Path) -> None:
    executor = Scripted(lambda name, attempt, node: error("bad") if name == "three" else "never")
    with pytest.raises(BadInput, match="it is bad"):
        run(executor, tmp_path)
    assert len(executor.started) == 3
    assert len(executor.stopped) == 2


def test_a_task_that_fails_again_and_again_ends_the_job(tmp_path: Path) -> None:
    executor = Scripted(lambda name, attempt, node: error("failed") if name == "one" else OK)
    with pytest.raises(IoFailed, match="one failed 3 times: it is failed"):
        run(executor, tmp_path)


def test_a_late_task_runs_twice_on_another_node_and_one_wins(tmp_path: Path) -> None:
    executor = Scripted(lambda name, attempt, node: "never" if name == "one" and attempt == 1 else OK)
    assert run(executor, tmp_path)["one"].attempt == 2
    (first, _, slow), *_ = executor.started
    assert (first, executor.stopped) == ("one", [1])
    assert executor.started[-1][2] != slow


class Together(Scripted):
    """Both attempts of a task whose first one is late end at once, as a system may report them."""

    def __init__(self, first: Json | str | None, second: Json | str | None) -> None:
        self.ends = {1: first, 2: second}
        super().__init__(lambda name, attempt, node: "never" if name == "one" and attempt < 3 else OK)

    def wait(self, timeout_s: float) -> list[Ended]:
        twins = {number: attempt for number, (name, attempt, _) in enumerate(self.started, 1) if name == "one" and attempt < 3}
        if len(twins) < 2 or not set(twins) <= set(self.running):
            return super().wait(0.0)
        for number in twins:
            del self.running[number]
        return [Ended(number, self.ends[attempt]) for number, attempt in twins.items()]  # type: ignore[arg-type]

    def stop(self, number: int) -> None:
        if number in self.running:
            super().stop(number)


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [(OK, OK, 1), (OK, None, 1), (OK, error("bad"), 1), (None, OK, 2), (error("failed"), OK, 2), (None, error("failed"), 3)],
)
def test_both_attempts_of_a_late_task_end_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: Json | None, second: Json | None, winner: int
) -> None:
    monkeypatch.setattr("ecosort.cluster.scheduler._LATE_LEAST_S", 0.0)
    executor = Together(first, second)
    done = run(executor, tmp_path)
    assert (set(done), done["one"].attempt) == ({"one", "two", "three"}, winner)
    assert not executor.running


def test_tasks_of_one_node_wait_for_it_and_let_others_pass(tmp_path: Path) -> None:
    names = [str(number) for number in range(9)]
    executor = Scripted(lambda name, attempt, node: OK)
    done = run(executor, tmp_path, names, dict.fromkeys(names[:4], "a"))
    assert {done[name].node for name in names[:4]} == {"a"}
    assert "b" in {done[name].node for name in names[4:]}


def test_a_lost_or_late_task_of_one_node_runs_again_there(tmp_path: Path) -> None:
    ends: dict[int, Json | str | None] = {1: None, 2: "never"}
    executor = Scripted(lambda name, attempt, node: ends.get(attempt, OK) if name == "one" else OK)
    found = run(executor, tmp_path, bound={"one": "b"})["one"]
    assert (found.attempt, found.node) == (3, "b")
    assert {node for name, _, node in executor.started if name == "one"} == {"b"}


@pytest.mark.parametrize("filled_by", ["one", "other"])
def test_a_full_node_that_alone_has_an_input_ends_the_job(tmp_path: Path, filled_by: str) -> None:
    executor = Scripted(lambda name, attempt, node: error("full") if node.name == "a" and name == filled_by else OK)
    with pytest.raises(NotEnoughSpace, match=r"a is full, and it alone has the input of task one.*resume"):
        run(executor, tmp_path, ["other", "more", "one"], {"one": "a"} | {filled_by: "a"})
