#include "engine/pace_meter.h"

#include <time.h>

#include <algorithm>

namespace ecosort::engine {
namespace {

// CPU seconds of all threads, also of those that have ended.
double process_cpu_s() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Before they have computed so much, it is too early to say who else wants the processors. A small sort ends before that, and had
// better not look into /proc: where threads were looked at there, the kernel lets who waits for the process spin until all ended.
constexpr double least_computed_s = 0.02;

ThreadTimes times_of_the_others() {
  return process_cpu_s() - thread_cpu_s() < least_computed_s ? ThreadTimes{} : other_threads_times();
}

}  // namespace

PaceMeter::PaceMeter(Bench& bench, run::RunPacker& packer, bool reads_input)
    : bench_(bench),
      packer_(packer),
      reads_input_(reads_input),
      cpu_s_at_begin_(process_cpu_s()),
      threads_at_begin_(packer.plan().wanted.is_auto ? times_of_the_others() : ThreadTimes{}) {
  if (packer.plan().wanted.is_auto) bench.reactor.meter_drives();
}

// The coordinator waits for processors as well, but meanwhile drives and the others work.
double PaceMeter::slowdown() const {
  const ThreadTimes now = times_of_the_others();
  const double computed_s = now.computed_s - threads_at_begin_.computed_s, ready_s = now.ready_s - threads_at_begin_.ready_s;
  return computed_s > 0 ? 1 + std::max(ready_s, 0.0) / computed_s : 1;
}

void PaceMeter::tell(std::uint64_t input_bytes) const {
  if (input_bytes == 0 || !packer_.plan().wanted.is_auto) return;
  const unsigned threads = bench_.compute.threads();
  packer_.set_pace({.drive_s = bench_.reactor.drive_work().seconds_per_byte(),
                    .compute_s = (process_cpu_s() - cpu_s_at_begin_) / static_cast<double>(input_bytes) / threads,
                    .threads = threads,
                    .reads_input = reads_input_,
                    .slowdown = slowdown()});
}

}  // namespace ecosort::engine
