// Finds what the machine lets this process have: the facts behind defaults that are right without options (promise P8).
#pragma once

#include <cstdint>
#include <string>

namespace ecosort::planner {

// Process total = memory + this: code, thread stacks, library tables, coroutine frames. tests/test_sort_memory.py measures it.
inline constexpr std::uint64_t fixed_overhead_bytes = std::uint64_t{32} << 20U;

// Each takes some 28 KiB of the overhead beside its buffers.
inline constexpr unsigned most_threads = 512;

// A sort of less has ended before threads are started.
inline constexpr std::uint64_t least_threaded_bytes = std::uint64_t{4} << 20U;

// `--memory` where none is given, on a machine that has little.
inline constexpr std::uint64_t least_default_memory_bytes = std::uint64_t{8} << 20U;

// A sort of no more than this takes less than `least_default_memory_bytes`, and no thread: what else there is does not matter.
inline constexpr std::uint64_t tiny_input_bytes = std::uint64_t{64} << 10U;

struct Machine {
  std::uint64_t available_bytes = 0;  // min(free RAM, cgroup limit, RLIMIT_AS)
  std::string limited_by;  // "available RAM", "cgroup v2 memory.max", "cgroup v1 memory.limit_in_bytes", "RLIMIT_AS"; empty: it
                           // was not read
  unsigned cpus = 1;       // this process may use (affinity, cgroup v2 quota)
};

// Reads /proc/meminfo, the cgroup files and the resource limits below `root` (tests give a tree of their own).
[[nodiscard]] Machine read_machine(const std::string& root = "");

// Returns what every machine has. To read a dozen files costs the sort of a tiny input a tenth of its time.
[[nodiscard]] inline Machine least_machine() { return {least_default_memory_bytes, "", 1}; }

// `--memory` where none is given: what is available less the fixed overhead, and of plain free RAM only half, because the
// rest of a home server lives there too.
[[nodiscard]] std::uint64_t default_memory_bytes(const Machine& machine);

}  // namespace ecosort::planner
