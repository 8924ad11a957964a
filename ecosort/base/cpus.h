// Counts the processors that this process may use.
#pragma once

namespace ecosort {

// The CPUs in this process's affinity mask (what taskset, a cpuset or a container leaves it), at least 1.
[[nodiscard]] unsigned usable_cpus();

}  // namespace ecosort
