// Measures what the calling thread has computed so far.
#pragma once

#include <time.h>

namespace ecosort {

// CPU seconds of the calling thread.
[[nodiscard]] inline double thread_cpu_s() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace ecosort
