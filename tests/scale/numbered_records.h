// ASCII records of the Sort Benchmark as a function of their number, with skewed keys or without, fast enough to be made whenever
// they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sortbenchmark/gensort.h"

namespace ecosort::scale {

inline constexpr std::size_t record_bytes = sortbenchmark::gensort_record_bytes;
inline constexpr std::uint64_t most_records = std::uint64_t{1} << 43U;  // numbers are below that

enum class Keys : std::uint8_t { uniform, skewed };

// Makes the records with these numbers, one behind the other. Thread-safe, as all of these are.
void make_records(std::span<const std::uint64_t> numbers, std::byte* out, Keys keys = Keys::uniform) noexcept;

// Returns how many of what begins in `bytes` are such records byte for byte, and sets their numbers; at most numbers.size().
[[nodiscard]] std::size_t numbers_of(std::span<const std::byte> bytes, std::span<std::uint64_t> numbers,
                                     Keys keys = Keys::uniform) noexcept;

// Bytes [offset, offset + size) of the file of all records, one behind the other.
void make_bytes(std::uint64_t offset, std::size_t size, std::byte* out, Keys keys = Keys::uniform) noexcept;

}  // namespace ecosort::scale
