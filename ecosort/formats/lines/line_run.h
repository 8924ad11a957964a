// A run while it is in memory: lines from below, their index from above.
//
//   memory | (room) | lines ............ | free | radix scratch | index |
//                                                16 bytes a line, twice
//
// Lines of any length share one buffer that way, and short ones cannot make the index outgrow its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/memory.h"
#include "formats/lines/line_kernels.h"
#include "formats/lines/text.h"
#include "formats/row_format.h"
#include "hash/multiset_hash.h"
#include "sorting/entry.h"

namespace ecosort::lines {

inline constexpr std::size_t index_bytes_per_line = 2 * sizeof(sorting::Entry);  // with its scratch
inline constexpr std::uint64_t most_run_bytes = std::uint64_t{1} << 32U;         // an entry holds 32 bits of position

class GroupBounds;
class RowBound;

struct LineRun {
  Buffer memory;
  std::size_t count = 0;         // lines in the index
  std::uint64_t line_bytes = 0;  // of them, with their ends
  std::uint64_t offset = 0;      // of byte 0, in the input of the first line, modulo 2^64
  std::size_t present = 0;       // bytes up to here are indexed
  bool is_complete = false;      // nothing more of their input comes behind them
  char terminator = '\n';
  const formats::RowFormat* format = nullptr;  // where rows have quotes
  bool has_quotes = false;
  bool is_ordered = false;  // the lines came in order, and the index is to be turned round only
  // With a limit: lines in the index lie in the first bytes, and more are read behind them; lines behind the bound are left out.
  std::size_t kept_bytes = 0;
  std::shared_ptr<const RowBound> bound = nullptr;
  std::shared_ptr<const GroupBounds> group_bounds = nullptr;  // likewise, of each group
  bool keys_follow = false;  // rows get their keys when they are in the index (formats/shuffle): none is left out before

  [[nodiscard]] char* bytes() const noexcept { return reinterpret_cast<char*>(memory.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return memory.size() < most_run_bytes ? memory.size() : most_run_bytes; }

  // Returns where the bytes of lines must end if there are `lines` of them.
  [[nodiscard]] std::size_t room_for(std::size_t lines) const noexcept {
    const std::size_t index = lines * index_bytes_per_line + line_slack_bytes;
    return index < size() ? size() - index : 0;
  }
  // Behind the last entry that has been made; they are made downwards and turned round before they are sorted.
  [[nodiscard]] sorting::Entry* top() const noexcept {
    return reinterpret_cast<sorting::Entry*>(memory.data() + round_down(size(), page_bytes));
  }
  [[nodiscard]] sorting::Entry* entries() const noexcept { return top() - count; }
  [[nodiscard]] sorting::Entry* scratch() const noexcept { return entries() - count; }

  // The line of an entry, without its end.
  [[nodiscard]] Text line(const sorting::Entry& entry) const noexcept {
    const char* begin = bytes() + entry.index;
    if (has_quotes) [[unlikely]]
      return quoted_row(begin);
    const void* end = std::memchr(begin, terminator, size() - entry.index);
    return {begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin)};
  }

 private:
  [[nodiscard]] Text quoted_row(const char* begin) const noexcept {
    formats::Inside inside;
    return {begin, static_cast<std::size_t>(format->find_end(begin, bytes() + size(), inside) - begin)};
  }
};

// Adds one line to what a collection of lines holds (promise P1).
void add_line(hash::MultisetHash& hash, Text line) noexcept;

}  // namespace ecosort::lines
