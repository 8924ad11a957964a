// The requests in flight of a queue, numbered: backends and decorators pass the number down as their own tag, because the
// caller's tags need not be unique.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/errors.h"
#include "io/queue.h"

namespace ecosort::io {

// Not thread-safe; the coordinator's.
class RequestTable {
 public:
  // More than `depth` at once is a bug of the caller.
  explicit RequestTable(std::size_t depth) : depth_(depth) { requests_.reserve(depth); }

  [[nodiscard]] std::size_t size() const noexcept { return requests_.size() - free_.size(); }

  // Numbers are below `depth` and used again after take().
  [[nodiscard]] std::uint64_t put(const IoRequest& request) {
    if (size() >= depth_) throw InternalError("more I/O requests in flight than the queue was made for");
    if (free_.empty()) {
      requests_.push_back(request);
      return requests_.size() - 1;
    }
    const std::uint64_t number = free_.back();
    free_.pop_back();
    requests_[number] = request;
    return number;
  }

  [[nodiscard]] const IoRequest& at(std::uint64_t number) const { return requests_[number]; }

  IoRequest take(std::uint64_t number) {
    free_.push_back(number);
    return requests_[number];
  }

 private:
  const std::size_t depth_;
  std::vector<IoRequest> requests_;
  std::vector<std::uint64_t> free_;
};

}  // namespace ecosort::io
