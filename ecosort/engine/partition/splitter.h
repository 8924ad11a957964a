// A row with its place: what a sample holds, and what cuts a range of rows into parts.
//
// Rows are ordered by the format, then by their source, then by their offset in it. No two rows of a job have all three in
// common, so that splitters cut anywhere, also amid rows that are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ecosort::engine::partition {

struct Splitter {
  std::string row;           // of lines, csv and jsonl: without its end
  std::uint64_t source = 0;  // number of the file that it is in
  std::uint64_t offset = 0;  // in it, in bytes
};

// Returns the row in the type that an encoder takes.
[[nodiscard]] inline const std::byte* bytes_of(const std::string& row) { return reinterpret_cast<const std::byte*>(row.data()); }

inline constexpr std::size_t most_parts = std::size_t{1} << 16U;  // a part's number has 16 bits

}  // namespace ecosort::engine::partition
