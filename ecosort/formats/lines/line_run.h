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

#include "base/memory.h"
#include "formats/lines/line_kernels.h"
#include "formats/lines/text.h"
#include "hash/multiset_hash.h"
#include "sort/entry.h"

namespace ecosort::lines {

inline constexpr std::size_t index_bytes_per_line = 2 * sizeof(records::Entry);  // with its scratch
inline constexpr std::uint64_t most_run_bytes = std::uint64_t{1} << 32U;         // an entry holds 32 bits of position

struct LineRun {
  Buffer memory;
  std::size_t count = 0;         // lines in the index
  std::uint64_t line_bytes = 0;  // of them, with their ends
  std::size_t header_lines = 0;  // above the index: they are not sorted
  char terminator = '\n';

  [[nodiscard]] char* bytes() const noexcept { return reinterpret_cast<char*>(memory.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return memory.size() < most_run_bytes ? memory.size() : most_run_bytes; }

  // Where the bytes of lines must end if there are `lines` of them.
  [[nodiscard]] std::size_t room_for(std::size_t lines) const noexcept {
    const std::size_t index = lines * index_bytes_per_line + line_slack_bytes;
    return index < size() ? size() - index : 0;
  }
  // Behind the last entry that has been made; they are made downwards and turned round before they are sorted.
  [[nodiscard]] records::Entry* top() const noexcept {
    return reinterpret_cast<records::Entry*>(memory.data() + round_down(size(), page_bytes)) - header_lines;
  }
  [[nodiscard]] records::Entry* entries() const noexcept { return top() - count; }
  [[nodiscard]] records::Entry* scratch() const noexcept { return entries() - count; }

  // The line of an entry, without its end.
  [[nodiscard]] Text line(const records::Entry& entry) const noexcept {
    const char* begin = bytes() + entry.index;
    const void* end = std::memchr(begin, terminator, size() - entry.index);
    return {begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin)};
  }
};

// Adds one line to what a collection of lines holds (promise P1).
void add_line(records::MultisetHash& hash, Text line) noexcept;

}  // namespace ecosort::lines
