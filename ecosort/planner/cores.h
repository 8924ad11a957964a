// Chooses how many threads suit the cores of a machine: `--threads auto`.
//
// The default is a thread for each CPU that the process may use, which is the fastest where there is nothing else to do. `auto`
// is for a box that is to stay cool or to serve others: one thread for each core, however many CPUs (siblings of SMT) it shows,
// and none for cores with less than half the capacity of the fastest, as the small ones of Arm's big.LITTLE.
//
// Two things do not decide: the cores that share a cache (topology/cluster_cpus), because four in a cluster sort four times as
// much as one, and the small cores of Intel's hybrids (/sys/devices/cpu_atom/cpus), which have more than half of the capacity.
#pragma once

#include <string>
#include <vector>

namespace ecosort::planner {

// Counts those of these CPUs, by what /sys below `root` says of them (tests give a tree of their own); at least 1. CPUs of which
// it says nothing count as cores of their own, all alike.
[[nodiscard]] unsigned threads_for_cores(const std::vector<unsigned>& cpus, const std::string& root);

// Counts those of the CPUs that this process may use, and no more than its control group lets it have.
[[nodiscard]] unsigned threads_for_cores();

}  // namespace ecosort::planner
