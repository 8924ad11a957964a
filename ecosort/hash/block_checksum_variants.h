// The variants of block_checksum, one per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ecosort::hash {

std::uint64_t block_checksum_baseline(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept;
std::uint64_t block_checksum_avx2(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept;
std::uint64_t block_checksum_avx512(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept;
std::uint64_t block_checksum_neon(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept;

}  // namespace ecosort::hash
