#include "io/drive_meter.h"

namespace ecosort::io {
namespace {

// Clocks that are read one after the other differ by less.
constexpr std::chrono::microseconds least_sleep{10};

}  // namespace

void DriveMeter::end(std::uint64_t begun, std::size_t bytes) noexcept {
  work_.bytes += bytes;
  ++(begun < waits_ ? ended_known_ : ended_fresh_);
}

void DriveMeter::wait_ended(const AwakeTime& time) noexcept {
  const auto asleep = (time.now - wait_begin_.now) - (time.awake - wait_begin_.awake);
  const bool has_slept = asleep >= least_sleep;
  if (known_ > ended_known_)
    work_.busy += time.now - last_end_;
  else if (has_slept && known_ > 0)
    work_.busy += wait_begin_.now - last_end_ + asleep;
  else if (has_slept && fresh_ > 0)
    work_.busy += asleep;
  known_ = known_ - ended_known_ + fresh_ - ended_fresh_;
  fresh_ = ended_known_ = ended_fresh_ = 0;
  last_end_ = time.now;
  ++waits_;
}

}  // namespace ecosort::io
