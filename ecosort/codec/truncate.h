// Prefix truncation: rows in their order, each without what it shares with the row before it.
//
//   rows        | end of a row | /usr/bin/awk\n | /usr/bin/ar\n   | /usr/b
//   truncated   | end of a row | 0 12 /usr/bin/awk | 10 1 r | 6 0      the first row shares nothing: each block is complete
//
// A row begins behind a terminator. The end of a row that began in the block before stays as it is; the last row may lack its
// end. Of a row there are: how many bytes it shares (one byte; 255: they follow in four), how many it has of its own (likewise),
// these in four where need be, and its own bytes. The terminator is not stored. (Front coding; in indexes of databases it is an
// old technique, in sorted runs see Do and Graefe, Robust and efficient sorting with offset-value coding, 2023.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace ecosort::codec {

// Bytes that may be read behind the rows that are truncated: whatever they hold.
inline constexpr std::size_t truncation_slack_bytes = 16;

// This byte in place of a number of bytes says that the number follows in four.
inline constexpr unsigned char more_follow = 255;

struct RowsToTruncate {
  std::span<const std::byte> rows;  // with the slack behind them
  std::size_t carried = 0;          // bytes at their begin that belong to a row that began before
  char terminator = '\n';
};

struct TruncatedRows {
  std::size_t bytes = 0;
  bool is_last_whole = true;  // the last row has its end
};

// Nothing: they do not fit `to`.
[[nodiscard]] std::optional<TruncatedRows> truncate(const RowsToTruncate& in, std::span<std::byte> to);

// Restores the truncated rows, and returns whether they become exactly `to`, whose first `carried` bytes are as they are. Nothing
// is written beyond `to`, whatever the bytes are, and they do not overlap.
[[nodiscard]] bool restore(std::span<const std::byte> truncated, bool is_last_whole, char terminator, std::size_t carried,
                           std::span<std::byte> to);

// A row of truncated rows.
struct TruncatedRow {
  std::size_t shared = 0, own = 0;  // bytes
  const char* bytes = nullptr;      // its own
};

// The row at `at`, whose own bytes may reach behind `end`: it must be looked at whether they do. Nothing: not even its numbers
// lie before the end.
[[nodiscard]] inline std::optional<TruncatedRow> truncated_row_at(const char* at, const char* end) noexcept {
  constexpr std::size_t few = 2;
  const auto left = static_cast<std::size_t>(end - at);
  if (left < few) return std::nullopt;
  TruncatedRow row{static_cast<unsigned char>(at[0]), static_cast<unsigned char>(at[1]), at + few};
  if (row.shared != more_follow && row.own != more_follow) [[likely]]
    return row;
  for (std::size_t* const number : {&row.shared, &row.own}) {
    if (*number != more_follow) continue;
    std::uint32_t value = 0;
    if (static_cast<std::size_t>(end - row.bytes) < sizeof value) return std::nullopt;
    std::memcpy(&value, row.bytes, sizeof value);
    *number = value;
    row.bytes += sizeof value;
  }
  return row;
}

}  // namespace ecosort::codec
