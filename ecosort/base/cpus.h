// Counts the processors that this process may use.
#pragma once

#include <vector>

namespace ecosort {

// The numbers of the CPUs in this process's affinity mask, in order; empty where the kernel does not say.
[[nodiscard]] std::vector<unsigned> usable_cpu_numbers();

// Counts the CPUs in that mask (what taskset, a cpuset or a container leaves it), at least 1.
[[nodiscard]] unsigned usable_cpus();

}  // namespace ecosort
