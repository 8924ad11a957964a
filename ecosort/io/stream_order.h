// Keeps the requests on a stream in order: one at a time is with the system, the others wait here.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "io/queue.h"

namespace ecosort::io {

// Not thread-safe.
class StreamOrder {
 public:
  // True: start the request now. False: it is kept until those before it on the same stream have completed.
  [[nodiscard]] bool admit(const IoRequest& request) {
    for (Line& line : busy_) {
      if (line.file != request.file) continue;
      line.waiting.push_back(request);
      return false;
    }
    busy_.push_back({request.file, {}});
    return true;
  }

  // A started request on this stream completed. Returns the one to start next, if any waits.
  [[nodiscard]] std::optional<IoRequest> complete(const File* file) {
    for (std::size_t i = 0; i < busy_.size(); ++i) {
      if (busy_[i].file != file) continue;
      if (busy_[i].waiting.empty()) {
        busy_.erase(busy_.begin() + static_cast<std::ptrdiff_t>(i));
        return std::nullopt;
      }
      const IoRequest next = busy_[i].waiting.front();
      busy_[i].waiting.pop_front();
      return next;
    }
    return std::nullopt;
  }

 private:
  struct Line {
    const File* file;
    std::deque<IoRequest> waiting;
  };
  std::vector<Line> busy_;  // a sort has two streams, and one per program of its own
};

}  // namespace ecosort::io
