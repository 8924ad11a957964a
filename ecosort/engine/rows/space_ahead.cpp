#include "engine/rows/space_ahead.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/errors.h"
#include "base/full_drive.h"
#include "base/text.h"

namespace ecosort::engine::rows {

SpaceAhead::SpaceAhead(Bench& bench, const io::File& file, const ByteRange& part, std::uint64_t total)
    : bench_(bench),
      file_(file),
      taken_(part.begin),
      end_(part.end),
      total_(total),
      can_take_(file.is_direct() && part.size() >= 2 * step) {}

void SpaceAhead::reach(std::uint64_t at, TaskGroup& tasks) {
  if (!can_take_ || taken_ == end_ || at + step <= taken_) return;
  can_take_ = has_room();
  if (!can_take_) return;
  const std::uint64_t from = std::exchange(taken_, std::min(std::max(taken_, at) + 2 * step, end_));
  has_taken_ = true;
  tasks.spawn(take(from, taken_ - from));
}

// Nothing must ever lack what is allocated here too early, so all of the output must fit beside it. A directory that is gone, or
// has another name by now, is no fault of a sort whose files are open.
bool SpaceAhead::has_room() const {
  try {
    return bench_.storage.free_bytes(directory_of(file_.path())) >= total_;
  } catch (const Error&) {
    return false;
  }
}

// The writes say that a drive is full.
Task<void> SpaceAhead::take(std::uint64_t from, std::uint64_t size) {
  try {
    can_take_ = co_await bench_.reactor.reserve(file_, from, size);
  } catch (const IoError& error) {
    if (!is_full(error.error_number())) throw;
    can_take_ = false;
  }
}

}  // namespace ecosort::engine::rows
