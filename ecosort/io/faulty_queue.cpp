#include "io/faulty_queue.h"

#include <algorithm>

namespace ecosort::io {

void FaultyQueue::submit(const Request& request) {
  const Effect effect = plan_.next(request.file->role(), fault_point(request.operation));
  switch (effect.kind) {
    case Effect::Kind::none:
    case Effect::Kind::signal:
      return below_.submit(request);
    case Effect::Kind::error:
      decided_.push_back({request.tag, -effect.number});
      return;
    case Effect::Kind::short_count:
      break;
  }
  if (effect.bytes == 0) {
    decided_.push_back({request.tag, 0});
    return;
  }
  const std::size_t unit = request.file->alignment();
  Request shortened = request;
  shortened.size = std::min(request.size, std::max(unit, effect.bytes / unit * unit));
  below_.submit(shortened);
}

void FaultyQueue::wait(std::vector<Completion>& out, bool block) {
  const bool has_some = !decided_.empty();
  out.insert(out.end(), decided_.begin(), decided_.end());
  decided_.clear();
  below_.wait(out, block && !has_some);
}

}  // namespace ecosort::io
