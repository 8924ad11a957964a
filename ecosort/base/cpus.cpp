#include "base/cpus.h"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <thread>

namespace ecosort {
namespace {

// The mask of a machine with more than CPU_SETSIZE processors needs a larger set; the kernel says so with EINVAL.
unsigned count_affinity(int largest_cpu) {
  struct Free {
    void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
  };
  const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(largest_cpu));
  const std::size_t size = CPU_ALLOC_SIZE(largest_cpu);
  if (set == nullptr || sched_getaffinity(0, size, set.get()) != 0) return 0;
  return static_cast<unsigned>(CPU_COUNT_S(size, set.get()));
}

}  // namespace

unsigned usable_cpus() {
  for (int largest_cpu = CPU_SETSIZE; largest_cpu <= 1 << 16; largest_cpu *= 4) {
    if (const unsigned cpus = count_affinity(largest_cpu); cpus > 0) return cpus;
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace ecosort
