// Lines of a run that came lately, by their hash: with -u, one that comes again needs no place in the index and is not sorted.
//
// A set of fixed size that forgets: what it misses is dropped after sorting. Equal hashes are confirmed by comparing the lines.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/lines/text.h"

namespace ecosort::lines {

// For one thread at a time.
class DuplicateFilter {
 public:
  // `memory` outlives this, is aligned to 64 bytes and holds `bytes`, 64 or more.
  DuplicateFilter(std::byte* memory, std::size_t bytes);

  // Returns what has_or_note() of a line with this hash will look at first: a cache line, to be asked for in time.
  [[nodiscard]] const void* place_of(std::uint64_t hash) const noexcept { return &set_of(hash); }
  // And then, when that is here: the line in `run` that it will most probably be compared with; `run` if none.
  [[nodiscard]] const char* alike(std::uint64_t hash, const char* run) const noexcept;

  // Another run begins.
  void forget() noexcept;

  // Returns whether enough was found in this run to continue asking.
  [[nodiscard]] bool is_worth_it() const noexcept;

  // Returns whether a line equal to `line` was noted since forget(); if not, `line` is noted. It lies in `run` with its end
  // behind it, as all lines do that were noted.
  [[nodiscard]] bool has_or_note(std::uint64_t hash, Text line, const char* run) noexcept;

 private:
  static constexpr std::size_t ways = 8;
  struct Slot {
    std::uint32_t tag = 0;  // 0: empty
    std::uint32_t position = 0;
  };
  struct alignas(64) Set {
    Slot slots[ways];
  };
  [[nodiscard]] static std::uint32_t tag_of(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash) | 1U; }
  [[nodiscard]] Set& set_of(std::uint64_t hash) const noexcept { return sets_[((hash >> 32U) * count_) >> 32U]; }

  Set* sets_;
  std::size_t count_;
  std::uint64_t asked_ = 0, found_ = 0;
};

}  // namespace ecosort::lines
