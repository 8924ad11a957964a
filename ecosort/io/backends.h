// Chooses the backend that serves seam 1.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/queue.h"

namespace ecosort::io {

// `auto_`: io_uring, or the pool where the kernel refuses it.
enum class BackendChoice : std::uint8_t { auto_, uring, pool, stxxl };

// "auto", "uring", "pool", "stxxl"; UsageError for others.
[[nodiscard]] BackendChoice parse_backend(std::string_view name);

struct Backend {
  std::unique_ptr<Queue> queue;
  std::string notice;  // one line for the user; empty if there is nothing to say
  unsigned depth = 0;  // requests in flight that the queue is for
};

// A queue for up to `depth` requests in flight. A backend that was asked for by name and is not available is a UsageError
// that names a way out.
[[nodiscard]] Backend make_queue(BackendChoice choice, unsigned depth);

// For an input of a few MB: what serves it before io_uring or a thread would be set up.
[[nodiscard]] Backend make_queue_for_small_input(unsigned depth);

}  // namespace ecosort::io
