// Reads that nothing overlaps: of a few bytes, before a sort begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "io/file.h"

namespace ecosort::io {

// Reads as many bytes of the file from `offset` on as there are, up to `size`; whole pages, for direct I/O. IoError.
[[nodiscard]] std::size_t read_at(const File& file, std::uint64_t offset, std::byte* to, std::size_t size);

// Returns what the file has of the `size` bytes from `offset` on, in `buffer`, which takes whole units around them; nothing where
// it cannot be read.
[[nodiscard]] std::span<const std::byte> try_read_at(const File& file, std::uint64_t offset, std::uint64_t size,
                                                     const Buffer& buffer);

}  // namespace ecosort::io
