// The body of block_checksum, included once per instruction set; everything here has internal linkage, so that no function
// compiled for a newer processor can replace the plain one.
#pragma once

#include <cstddef>
#include <cstdint>

// GCC 12 warns about its own AVX-512 intrinsics, which start from a deliberately undefined register.
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace {

inline std::uint64_t xxh3_checksum(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(data, size, seed);
}

}  // namespace
