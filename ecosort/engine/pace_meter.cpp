#include "engine/pace_meter.h"

#include <time.h>

#include <algorithm>

namespace ecosort::engine {
namespace {

double seconds_of(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

PaceMeter::PaceMeter(Bench& bench, run::RunPacker& packer, bool inputs_are_files)
    : bench_(bench),
      packer_(packer),
      inputs_are_files_(inputs_are_files),
      traffic_at_begin_(bench.reactor.traffic()),
      begin_s_(seconds_of(CLOCK_MONOTONIC)),
      processors_begin_s_(seconds_of(CLOCK_PROCESS_CPUTIME_ID)) {}

void PaceMeter::tell(std::uint64_t input_bytes) const {
  const io::Traffic moved = bench_.reactor.traffic() - traffic_at_begin_;
  const double idle_s = static_cast<double>(moved.idle.count()) * 1e-9;
  const double busy_s = std::max(seconds_of(CLOCK_MONOTONIC) - begin_s_ - idle_s, 0.0);
  const double processors_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - processors_begin_s_;
  const auto bytes = static_cast<double>(moved.bytes_read + moved.bytes_written), read = static_cast<double>(input_bytes);
  const unsigned threads = bench_.compute.threads();
  if (bytes == 0 || read == 0) return;
  const double drive_s = inputs_are_files_ ? busy_s / bytes : packer_.write_s_per_byte();
  packer_.set_pace({drive_s, processors_s / read / threads, threads, inputs_are_files_});
}

}  // namespace ecosort::engine
