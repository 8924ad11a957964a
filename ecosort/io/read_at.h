// Reads that nothing overlaps: of a few bytes, before a sort begins.
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/file.h"

namespace ecosort::io {

// Reads as many bytes of the file from `offset` on as there are, up to `size`; whole pages, for direct I/O. IoError.
[[nodiscard]] std::size_t read_at(const File& file, std::uint64_t offset, std::byte* to, std::size_t size);

}  // namespace ecosort::io
