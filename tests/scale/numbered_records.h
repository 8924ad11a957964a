// ASCII records of the Sort Benchmark as a function of their number, with skewed keys or without, fast enough to be made whenever
// they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sortbenchmark/gensort.h"

namespace ecosort::scale {

inline constexpr std::size_t record_bytes = sortbenchmark::gensort_record_bytes;
inline constexpr std::uint64_t most_records = std::uint64_t{1} << 43U;  // numbers are below that

enum class Keys : std::uint8_t { uniform, skewed };

// Makes record `number` in 100 bytes. Thread-safe, as all of these are.
void make_record(std::uint64_t number, std::byte* out, Keys keys = Keys::uniform) noexcept;

// The number of what is such a record byte for byte.
[[nodiscard]] std::optional<std::uint64_t> number_of(const std::byte* record, Keys keys = Keys::uniform) noexcept;

// Bytes [offset, offset + size) of the file of all records, one behind the other.
void make_bytes(std::uint64_t offset, std::size_t size, std::byte* out, Keys keys = Keys::uniform) noexcept;

}  // namespace ecosort::scale
