#include "base/cpus.h"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace ecosort {
namespace {

// The mask of a machine with more than CPU_SETSIZE processors needs a larger set; the kernel says so with EINVAL.
std::vector<unsigned> read_affinity(int largest_cpu) {
  struct Free {
    void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
  };
  const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(largest_cpu));
  const std::size_t size = CPU_ALLOC_SIZE(largest_cpu);
  std::vector<unsigned> found;
  if (set == nullptr || sched_getaffinity(0, size, set.get()) != 0) return found;
  for (int cpu = 0; cpu < largest_cpu; ++cpu)
    if (CPU_ISSET_S(cpu, size, set.get())) found.push_back(static_cast<unsigned>(cpu));
  return found;
}

}  // namespace

std::vector<unsigned> usable_cpu_numbers() {
  std::vector<unsigned> found;
  for (int largest_cpu = CPU_SETSIZE; found.empty() && largest_cpu <= 1 << 16; largest_cpu *= 4)
    found = read_affinity(largest_cpu);
  return found;
}

unsigned usable_cpus() {
  const std::size_t cpus = usable_cpu_numbers().size();
  return cpus > 0 ? static_cast<unsigned>(cpus) : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace ecosort
