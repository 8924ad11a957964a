"""docs/cluster-predictions.md and its chart: published sorts beside what the simulator says, and 100 TB on 10 to 1000 nodes.

`python -m ecosort_bench.cluster_predictions DOCS` writes both; a test compares them with what is committed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ecosort.cluster.planner import plan_shape
from ecosort.cluster.rates import Rates
from ecosort.cluster.simulator import JobPrediction, predict
from ecosort.text import size_text

from ecosort_bench.published_sorts import fds_drive_mb_s, published

NODES = (10, 20, 50, 100, 200, 500, 1000)
_INPUT_BYTES = 100 * 10**12
_WORKERS, _THREADS = 4, 16
_PARTITION_CPU_S_PER_GB, _SORT_CPU_S_PER_GB = 0.33, 1.035
# CPU: what docs/benchmarks.md measures for `ecosort partition` and for a sort of records, on 16 threads.
_CPU = Rates(
    partition=_THREADS * 1000 / _PARTITION_CPU_S_PER_GB, sort=_THREADS * 1000 / _SORT_CPU_S_PER_GB, one_drive=True, spread=0.2
)
KINDS = {
    "one NVMe drive, 25 Gbit/s": replace(_CPU, input_read=3000, temp_write=1500, temp_read=3000, output_write=1500, network=3125),
    "one NVMe drive, 5 Gbit/s": replace(_CPU, input_read=3000, temp_write=1500, temp_read=3000, output_write=1500, network=625),
    "16 hard drives, 10 Gbit/s": replace(
        _CPU, input_read=16 * 95, temp_write=16 * 90, temp_read=16 * 95, output_write=16 * 90, network=1250
    ),
}


def predicted(nodes: int, rates: Rates) -> JobPrediction:
    """100 TB of records of 100 bytes; four tasks at a time with 4 GB each."""
    shape = plan_shape(_INPUT_BYTES, nodes=nodes, workers_per_node=_WORKERS, memory_bytes=4 * 10**9)
    return predict(shape, rates)


def markdown() -> str:
    """The whole page."""
    return f"""# What the simulator predicts

A simulator predicts how long `ecosort cluster sort` takes on many nodes. This page compares its predictions with published
sorts, and shows those for 100 TB on 10 to 1000 nodes.

`make cluster-tables` writes the tables; the numbers and their sources are in
`tuning/bench/ecosort_bench/published_sorts.py`. The planner is that of `ecosort cluster sort`; the simulator
(`simulator.py`) runs the tasks of its plan on nodes with the rates given.

## Published sorts

{_published_table()}

FDS by its drives is missed, and the paper does not hold what would mend that. Its table 1 counts machines, ports, drives, memory
and cores, and has no rate. The only one is in section 2: drives of 10,000 rpm read about 120 MB/s. 1033 drives could then read
1470 GB in 12 s and write them in 12 s; the network is no limit (each of 120 sorters takes 24.5 GB through 20 Gbit/s in the first
phase, 10 s). The sort took 59.4 s: {_fds_drive_rate():.0f} MB/s for each drive, on average. What the paper names in between
is not in its table: the start of all processes by a job service, which is within the time (note 2); up to 15 s of stragglers
(section 3.2.2); 0.7 to 1.5 s until the last share is sorted, in which nothing is written (3.3.1); and how fast the drives write,
of which it says nothing. A model that had these four as free numbers would fit anything. With the drives as fast as the Daytona
run (1401 GB in 59.0 s) says, the Indy run comes out; that is a calibration by one run and a test by the other.

The rows of Exoshuffle share one number, the network that an instance has for longer than a burst: 9.375 Gbit/s of an i4i.4xlarge,
4.687 of an i4i.2xlarge. Sources:

- [T] Rasmussen et al.: TritonSort. ACM TOCS 31 (1), 2013. [F] Apacible et al.: MinuteSort with Flat Datacenter Storage, 2012.
- [E] Luan et al.: Exoshuffle-CloudSort, arXiv:2301.03734, and for the smaller sorts the comments in
  [cloudsort/config/aws.py](https://github.com/exoshuffle/cloudsort/blob/master/cloudsort/config/aws.py).
- [A] Amazon EC2, storage optimized instances,
  [network specifications](https://docs.aws.amazon.com/ec2/latest/instancetypes/so.html).

## 100 TB on 10 to 1000 nodes

![Hours over nodes](charts/cluster.svg)

{_scaling_table()}

Records of 100 bytes. Each node runs four tasks with 4 GB at a time and has 16 CPUs, at {_PARTITION_CPU_S_PER_GB} CPU-s/GB to
partition and {_SORT_CPU_S_PER_GB} to sort ([benchmarks.md](benchmarks.md)). Inputs and outputs are on the nodes, and slices are
read over the network. Hard drives: 95 and 90 MB/s each (table I of [T]). **Assumed, with no source:** that an NVMe drive reads
3000 and writes 1500 MB/s for hours ([somebody measured](https://github.com/Wan-Yifei/bamstorm) 2869 MB/s of reading on an
i4i.4xlarge), that 5 and 25 Gbit/s last, and that tasks differ by 20 %.
"""


def _fds_drive_rate() -> float:
    indy = next(one for one in published() if one.name.startswith("FDS"))
    return fds_drive_mb_s(indy.input_bytes, indy.seconds)


def _published_table() -> str:
    lines = [
        "| sort | published s | predicted s | difference | limited by | numbers |",
        "| --- | ---: | ---: | ---: | --- | --- |",
    ]
    for one in published():
        found = one.predicted()
        limits = ", then ".join(dict.fromkeys(stage.limit for stage in found.stages))
        difference = f"{100 * (found.seconds / one.seconds - 1):+.0f} %"
        lines.append(f"| {one.name} | {one.seconds:.0f} | {found.seconds:.0f} | {difference} | {limits} | {one.source} |")
    return "\n".join(lines)


def _scaling_table() -> str:
    lines = ["| nodes | per node | " + " | ".join(KINDS) + " |", "| ---: | ---: |" + " ---: |" * len(KINDS)]
    for nodes in NODES:
        cells = [f"{predicted(nodes, rates).seconds:.0f} s" for rates in KINDS.values()]
        lines.append(f"| {nodes} | {size_text(_INPUT_BYTES // nodes)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


_COLOURS = ("#2a9d8f", "#e76f51", "#2b2d42")
_LEFT, _TOP, _WIDTH, _HEIGHT = 70, 20, 560, 300


def _across(nodes: float) -> float:
    return _LEFT + _WIDTH * math.log10(nodes / NODES[0]) / math.log10(NODES[-1] / NODES[0])


def _down(seconds: float) -> float:
    """10 s at the bottom, 1,000,000 s at the top."""
    return _TOP + _HEIGHT * (1 - (math.log10(seconds) - 1) / 4)


def chart_svg() -> str:
    """Seconds over nodes, both logarithmic."""
    lines = [_curve(number, name, rates) for number, (name, rates) in enumerate(KINDS.items())]
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 380" font-family="sans-serif" font-size="12">',
            '<rect width="660" height="380" fill="white"/>',
            *_grid(),
            *lines,
            "</svg>",
            "",
        ]
    )


def _grid() -> list[str]:
    marks = []
    for power in range(1, 6):
        y = _down(10**power)
        marks.append(f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        marks.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10**power} s</text>')
    for nodes in NODES:
        x = _across(nodes)
        marks.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_TOP + _HEIGHT}" stroke="#ddd"/>')
        marks.append(f'<text x="{x:.1f}" y="{_TOP + _HEIGHT + 18}" text-anchor="middle">{nodes}</text>')
    marks.append(f'<text x="{_LEFT + _WIDTH / 2}" y="{_TOP + _HEIGHT + 40}" text-anchor="middle">nodes, for 100 TB</text>')
    return marks


def _curve(number: int, name: str, rates: Rates) -> str:
    points = " ".join(f"{_across(nodes):.1f},{_down(predicted(nodes, rates).seconds):.1f}" for nodes in NODES)
    colour, y = _COLOURS[number], _TOP + 16 + 18 * number
    return (
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        f'<line x1="420" x2="440" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2"/>'
        f'<text x="446" y="{y}">{name}</text>'
    )


def main(words: Sequence[str]) -> None:
    docs = Path(words[0])
    (docs / "cluster-predictions.md").write_text(markdown())
    (docs / "charts" / "cluster.svg").write_text(chart_svg())


if __name__ == "__main__":
    main(sys.argv[1:])
