"""Says what prevented a target that was missed, out of the measurements of the same minutes."""

import statistics
from collections.abc import Callable, Mapping
from typing import Any

from ecosort_measure.paired import Interval
from ecosort_measure.results import Results, Run, cpu_s

from ecosort_bench.cpu_floor import CpuCase, cpu_s_per_gb
from ecosort_bench.lines import Case

Paired = Callable[[str, str], Interval | None]  # contenders of one stage: over, under


def _busy(run: Run, threads: int) -> float:
    """Share of the processors' time, in percent."""
    return 100 * cpu_s(run) / (float(run["wall_s"]) * threads)


def _median_busy(runs: dict[int, Run], threads: int) -> str:
    return f"{statistics.median(_busy(run, threads) for run in runs.values()):.0f} %"


def _through_memory(paired: Paired, contender: str, floor: str) -> str:
    """Says what the drive gains in the floor from a few buffers that stay in a cache, which a sort cannot do with."""
    slower, above = paired(f"{floor}_memory", floor), paired(contender, f"{floor}_memory")
    if slower is None or above is None:
        return ""
    return (
        f"; through memory that no cache holds instead of the same few buffers the floor takes {slower.median:.2f} of its time,"
        f" of which {'the sort' if contender == 'ecosort' else contender} takes {above.median:.2f}"
    )


def of_floor(results: Results, paired: Paired) -> str:
    """Computing or I/O: how busy the processors were, and what other orders of the same bytes take."""
    threads = results.data["settings"]["threads"]
    text = f"the processors are {_median_busy(results.of('main', 'ecosort'), threads)} busy"
    for over, words in (
        ("floor_a", "its own requests without computing take {:.2f} of floor (b)"),
        ("floor_a_depth", "the same at full depth {:.2f}"),
    ):
        if ratio := paired(over, "floor_b"):
            text += "; " + words.format(ratio.median)
    return text + _through_memory(paired, "ecosort", "floor_b")


def of_peer(paired: Paired, peer: str) -> str:
    """Says how much faster than a peer, say "GNU sort", a sort can be that computes nothing."""
    ratio = paired(peer.lower().replace(" ", "_"), "floor_b")
    return "" if ratio is None else f"floor (b), which computes nothing, is {ratio.median:.1f} times as fast as {peer}"


def _said(kernel: str) -> str:
    """Names a kernel for people, from its key in the results."""
    return kernel.replace("granule", "run block").replace("_", " ")


def of_cpu(costs: Mapping[str, Any], threads: int) -> str:
    """The kernels one by one, on their own and on one thread; and all of them while the drive works."""
    kernels = costs.get("kernels", {}).get("s_per_gb", {})
    verification = costs.get("verification", {})
    parts = {**kernels, **verification.get("s_per_gb", {})}
    if not parts:
        return ""
    text = ", ".join(f"{_said(name)} {seconds:.3f}" for name, seconds in parts.items()) + " s/GB"
    if busy := costs.get("beside_io"):
        alone = sum(kernels.values()) + verification["total_s_per_gb"]
        text += (
            f": {alone:.2f} s/GB in all, each on its own on a machine that does nothing else; {busy['total_s_per_gb']:.2f} s/GB "
            f"while {threads} threads compute them and the requests of the sort are replayed beside them"
        )
    return text


def of_cpu_in_all(results: Results, case: CpuCase) -> str:
    """The kernels and the requests, of which a sort takes both."""
    costs = results.data.get("costs", {}).get(case.kind)
    requests = cpu_s_per_gb(results, case.stage, "floor_a")
    if not costs or not requests:
        return ""
    least = statistics.median(requests) + costs["beside_io"]["total_s_per_gb"]
    return (
        f"{of_cpu(costs, results.data['settings']['threads'])}; the requests alone take {statistics.median(requests):.2f} s/GB: "
        f"{least:.2f} s/GB together, before anything else is done"
    )


def of_one_pass(results: Results, paired: Paired) -> str:
    """A drive that outruns the processors."""
    runs, floors = results.of("one_pass", "ecosort"), results.of("one_pass", "floor_b")
    if not runs or not floors:
        return ""
    moved = statistics.median((run["bytes_read"] or 0) + (run["bytes_written"] or 0) for run in floors.values()) / 1e9
    rate = moved / statistics.median(run["wall_s"] for run in floors.values())
    threads = results.data["settings"]["threads"]
    return (
        f"the drive moves {rate:.1f} GB/s in the floor; the processors are {_median_busy(runs, threads)} busy in the sort"
        + _through_memory(paired, "ecosort", "floor_b")
    )


def of_tool(results: Results, paired: Paired, tool: str, floor: str) -> str:
    """The generator or the checker: how busy, and how much the floor itself varies."""
    runs, floors = results.of("gen_check", tool), results.of("gen_check", floor)
    if not runs or not floors:
        return ""
    threads = results.data["settings"]["threads"]
    walls = sorted(float(run["wall_s"]) for run in floors.values())
    return (
        f"the processors are {_median_busy(runs, threads)} busy; the floor itself takes {walls[0]:.2f} to {walls[-1]:.2f} s, "
        f"{tool} {min(float(run['wall_s']) for run in runs.values()):.2f} s at best" + _through_memory(paired, tool, floor)
    )


def of_in_place(results: Results, contender: str) -> str:
    """Says what in-place sorting adds: bytes, and CPU."""
    sorts, runs = results.of("inplace", "ecosort"), results.of("inplace", contender)
    if not sorts or not runs:
        return ""
    threads = results.data["settings"]["threads"]

    def moved(found: dict[int, Run]) -> float:
        return statistics.median((run["bytes_read"] or 0) + (run["bytes_written"] or 0) for run in found.values())

    return (
        f"it moves {moved(runs) / max(moved(sorts), 1):.2f} times the bytes of the sort, which keeps the last runs in memory; "
        f"the processors are {_median_busy(runs, threads)} busy"
    )


def of_lines(results: Results, case: Case) -> str:
    """The floor of the same minutes: how far it is from the peer, and what of the CPU it takes to move the bytes."""
    sorts, floors, peers = (results.of(case.stage, name) for name in ("ecosort", "floor_b", case.peer))
    if not sorts or not floors or not peers:
        return ""
    sort, floor, other = (statistics.median(float(run["wall_s"]) for run in runs.values()) for runs in (sorts, floors, peers))
    moving = statistics.median(cpu_s_per_gb(results, case.stage, "floor_b"))
    threads = results.data["settings"]["threads"]
    return (
        f"floor (b), which computes nothing, is {other / floor:.1f} times as fast as {case.peer_title}"
        f" and takes {moving:.2f} CPU s/GB; EcoSort takes {sort / floor:.2f} of it, "
        f"with the processors {_median_busy(sorts, threads)} busy"
    )
