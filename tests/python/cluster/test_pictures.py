"""A job shows of itself the table of stages and the timeline."""

from __future__ import annotations

from xml.etree import ElementTree

from ecosort.cluster.cli import phase_line
from ecosort.cluster.report import ClusterReport, report_from_events, stage_table
from ecosort.cluster.scheduler import PhaseState
from ecosort.cluster.timeline import lanes_of, timeline_svg


def done(task: str, node: str, begin: float, end: float, cpu: float = 0.1, **more: object) -> dict[str, object]:
    answer = {"begin_s": begin, "end_s": end, "cpu_s": cpu, "bytes_read": 10**9, "bytes_written": 2 * 10**9} | more
    return {"event": "done", "task": task, "attempt": 1, "node": node, "answer": answer}


def report() -> ClusterReport:
    part = {"rows": 5, "bytes": 500}
    events = [
        {"event": "plan", "inputs": [[1000, 1]]},
        {"event": "start", "task": "partition-00000", "attempt": 1, "node": "a"},
        {"event": "start", "task": "partition-00000", "attempt": 2, "node": "b"},
        done("partition-00000", "b", 10, 12, slices=[{"bytes": 7}, {"bytes": 9}]),
        done("reduce-00000", "a", 12, 16, cpu=3.9, phases=[["merge", 3.0, 6 * 10**8, 3 * 10**8, 2.4]], **part),
        done("reduce-00001", "a", 13, 14, cpu=1.0, **(part | {"bytes": 700})),
    ]
    return report_from_events(events)


def test_stages_add_up_what_their_tasks_did() -> None:
    told = report()
    assert (told.rows, told.parts, told.attempts, told.tasks, told.wall_s) == (10, 2, 2, 3, 6)
    assert told.imbalance == 700 * 2 / 1200
    reduce = told.stages[-1]
    assert (reduce.tasks, reduce.wall_s, reduce.worker_s, reduce.network_bytes) == (2, 4, 5, 7 + 9)


def test_the_table_says_what_limits_a_stage() -> None:
    lines = stage_table(report(), threads=1).splitlines()
    assert [line.split()[0] for line in lines] == ["stage", "partition", "reduce", "merge"]
    assert lines[1].endswith("I/O")
    assert lines[2].endswith("CPU")
    assert lines[2].split()[3] == "500"  # 2 GB in 4 s
    assert lines[3].split() == ["merge", "3.00", "200", "100", "80", "%"]


def test_a_phase_is_one_line_with_the_rate_of_each_node() -> None:
    state = PhaseState("partition", 3, 12, 2.0, {"b": 400_000_000, "a": 200_000_000})
    assert phase_line(state) == "partition [#####...............] 3/12  300 MB/s (a 100, b 200)"


def test_the_timeline_draws_each_task_once_and_side_by_side() -> None:
    told = report()
    assert [(node, [span.task for span in lane]) for node, lane in lanes_of(told.spans)] == [
        ("a", ["reduce-00000"]),
        ("a", ["reduce-00001"]),
        ("b", ["partition-00000"]),
    ]
    titles = [title.text for title in ElementTree.fromstring(timeline_svg(told)).iter("{http://www.w3.org/2000/svg}title")]
    assert sorted(str(title).partition(":")[0] for title in titles) == ["partition-00000", "reduce-00000", "reduce-00001"]
