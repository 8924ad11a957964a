#include "base/random.h"

#include <sys/random.h>

#include <cerrno>

#include "base/errors.h"

namespace ecosort {

void draw_random_bytes(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t drawn = ::getrandom(bytes.data(), bytes.size(), 0);
    if (drawn >= 0)
      bytes = bytes.subspan(static_cast<std::size_t>(drawn));
    else if (errno != EINTR)
      throw IoError::from_call("draw", "random numbers", errno);
  }
}

}  // namespace ecosort
