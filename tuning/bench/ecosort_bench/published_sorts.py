"""Published sorts of clusters, with their hardware as it was published, and what the simulator says about them.

Sources:
  [T] Rasmussen et al.: TritonSort: A Balanced and Energy-Efficient Large-Scale Sorting System. ACM TOCS 31 (1), 2013.
  [F] Apacible et al.: MinuteSort with Flat Datacenter Storage. Sort Benchmark, 2012.
  [E] Luan et al.: Exoshuffle-CloudSort. arXiv:2301.03734, 2023; and the
      comments in cloudsort/config/aws.py of github.com/exoshuffle/cloudsort, the snapshot of that entry.
  [A] Amazon EC2, Specifications for storage optimized instances, Network specifications
      (docs.aws.amazon.com/ec2/latest/instancetypes/so.html): i4i.4xlarge 9.375 / 25.0 Gbit/s, i4i.2xlarge 4.687 / 12.0; the first
      is the baseline, the second a burst on credit, best effort.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ecosort.cluster.planner import plan_shape
from ecosort.cluster.rates import Rates
from ecosort.cluster.simulator import JobPrediction, predict

TB = 10**12
GB = 10**9


@dataclass(frozen=True)
class Published:
    """`seconds` as published; `source` says where each number is from."""

    name: str
    input_bytes: int
    nodes: int
    workers_per_node: int
    memory_bytes: int
    rates: Rates
    seconds: float
    source: str

    def predicted(self) -> JobPrediction:
        shape = plan_shape(  # these systems sort what they have distributed
            self.input_bytes,
            nodes=self.nodes,
            workers_per_node=self.workers_per_node,
            memory_bytes=self.memory_bytes,
            merges=False,
        )
        return predict(shape, self.rates)


# [T] table I: 90 to 100 MB/s of a 7,200 rpm drive; section 4: 90 MB/s is the fastest that was ever written to one. Figure 10: 16
# drives, of which 8 are read and 8 written at a time (section 3.2), and 10 Gbit/s. Section 3.4: four sorters suffice.
_TRITONSORT_DRIVES = Rates(input_read=8 * 95, temp_write=8 * 90, temp_read=8 * 95, output_write=8 * 90, network=1250, pushed=True)
# [T] figure 9: total throughput of each stage of the sort of 100 TB.
_TRITONSORT_STAGES = Rates(
    input_read=683, temp_write=601, temp_read=740, output_write=717, network=1250, partition=683, sort=1089, pushed=True
)
# [F] table 1 counts machines, ports, drives, memory and cores; it has no rate. 336 + 380 + 168 drives of 10,000 rpm, of which
# section 2 says that they read about 120 MB/s, and 149 of 7,200 rpm, 95 MB/s by [T], table I; 14 + 27 + 61 + 18 = 120 machines
# sort, with two ports of 10 Gbit/s. Data never touch a drive in between (section 3.4 is about larger inputs).
FDS_SORTERS, FDS_DRIVES = 120, 1033
_FDS_DRIVES_MB_S = (884 * 120 + 149 * 95) / FDS_SORTERS
_FDS = Rates(input_read=_FDS_DRIVES_MB_S, output_write=_FDS_DRIVES_MB_S, network=2500, pushed=True, remote=True, in_memory=True)
# [A]; a run of an hour lives on what lasts. The drive (NVMe) and 16 vCPUs are faster than that, and input and output are on S3.
_CLOUDSORT_4X = Rates(network=9375 / 8, pushed=True, remote=True)
_CLOUDSORT_2X = Rates(network=4687 / 8, pushed=True, remote=True)


def _fds(name: str, size: int, seconds: float, rates: Rates, source: str) -> Published:
    return Published(name, size, FDS_SORTERS, 1, 24 * GB, rates, seconds, source)


def _cloudsort(size: int, nodes: int, seconds: float, rates: Rates, kind: str, source: str) -> Published:
    name = f"Exoshuffle, {size // TB} TB on {nodes} i4i.{kind}"
    return Published(name, size, nodes, 12 if kind == "4xlarge" else 6, 8 * GB, rates, seconds, source)


def fds_drive_mb_s(size: int, seconds: float) -> float:
    """Returns what each drive read and wrote on average, whatever it was doing: every byte is read once and written once."""
    return 2 * size / seconds / FDS_DRIVES / 1e6


def fds_calibrated() -> Rates:
    """The drives as fast as the Daytona run says; the paper gives no measured rate of them."""
    daytona = _fds("", 1401 * GB, 59.045, _FDS, "").predicted().seconds / 59.045
    return replace(_FDS, input_read=_FDS_DRIVES_MB_S * daytona, output_write=_FDS_DRIVES_MB_S * daytona)


def published() -> list[Published]:
    """In the order of their years. Those of the same system show how far one set of rates reaches."""
    triton_s = 100 / 0.938 * 60
    memory = 2 * 850 * 10**6
    return [
        Published(
            "TritonSort, 100 TB on 52 nodes, by its drives", 100 * TB, 52, 8, memory, _TRITONSORT_DRIVES, triton_s,
            "[T] table I, figure 10, section 4; 0.938 TB/min: abstract",
        ),
        Published(
            "TritonSort, 100 TB on 52 nodes, by its stages", 100 * TB, 52, 8, memory, _TRITONSORT_STAGES, triton_s,
            "[T] figure 9; 0.938 TB/min: abstract",
        ),
        _fds("FDS MinuteSort Indy, 1470 GB, by its drives", 1470 * GB, 59.392, _FDS, "[F] tables 1 and 2, section 2"),
        _fds("FDS MinuteSort Indy, 1470 GB, drives as in Daytona", 1470 * GB, 59.392, fds_calibrated(), "[F] table 2"),
        _cloudsort(100 * TB, 40, 5378, _CLOUDSORT_4X, "4xlarge", "[E] abstract, [A]"),
        _cloudsort(40 * TB, 40, 2187, _CLOUDSORT_4X, "4xlarge", "[E] config, [A]"),
        _cloudsort(10 * TB, 20, 1266, _CLOUDSORT_4X, "4xlarge", "[E] config, [A]"),
        _cloudsort(20 * TB, 40, 2901, _CLOUDSORT_2X, "2xlarge", "[E] config, [A]"),
    ]  # fmt: skip
