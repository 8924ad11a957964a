// The first bytes of a pipe, which stay in it for who reads it.
#pragma once

#include <cstddef>
#include <span>

namespace ecosort::io {

struct Peeked {
  std::size_t size = 0;   // bytes that are there
  bool is_whole = false;  // no more will come than these
};

// Waits for the first byte, and then a little for as many as `to` holds. Of what is no pipe, none: its bytes can be read once.
[[nodiscard]] Peeked peek(int fd, std::span<std::byte> to) noexcept;

}  // namespace ecosort::io
