#include "planner/cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

#include "base/cpus.h"
#include "base/system_file.h"
#include "planner/machine.h"

namespace ecosort::planner {
namespace {

// Returns what the kernel schedules by, else the performance that the firmware claims (CPPC). 0: unknown.
std::uint64_t capacity_of(const std::string& directory) {
  const std::uint64_t capacity = read_system_number(directory + "/cpu_capacity").value_or(0);
  return capacity != 0 ? capacity : read_system_number(directory + "/acpi_cppc/highest_perf").value_or(0);
}

// The first CPU of those that are one core: a list like 0,4 or 0-1 begins with it.
std::uint64_t core_of(const std::string& directory, unsigned cpu) {
  return read_system_number(directory + "/topology/thread_siblings_list").value_or(cpu);
}

}  // namespace

unsigned threads_for_cores(const std::vector<unsigned>& cpus, const std::string& root) {
  std::map<std::uint64_t, std::uint64_t> capacities;  // by core
  std::uint64_t greatest = 0;
  for (const unsigned cpu : cpus) {
    const std::string directory = fmt::format("{}/sys/devices/system/cpu/cpu{}", root, cpu);
    const std::uint64_t capacity = capacity_of(directory);
    capacities[core_of(directory, cpu)] = capacity;
    greatest = std::max(greatest, capacity);
  }
  const auto suits = [&](const auto& core) { return core.second == 0 || core.second * 2 >= greatest; };
  return std::max(1U, static_cast<unsigned>(std::ranges::count_if(capacities, suits)));
}

unsigned threads_for_cores() { return std::min(threads_for_cores(usable_cpu_numbers(), ""), read_machine().cpus); }

}  // namespace ecosort::planner
