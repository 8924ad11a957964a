// The records of the Sort Benchmark's generator, gensort 1.5, bit for bit: 100 bytes with a key in bytes 0-9. And those of
// Hadoop's TeraGen, which are the binary records of gensort 1.1: the same keys, and in clear what later versions hide.
//
// Record r holds the state S(r + 1) of a 128-bit linear congruential generator started at 0. Any range of records can be made
// on its own, because the generator skips ahead n steps in O(log n).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/uint128.h"

namespace ecosort::sortbenchmark {

inline constexpr std::size_t gensort_record_bytes = 100;
inline constexpr std::size_t gensort_key_bytes = 10;

struct GensortFormat {
  bool ascii = false;    // -a: printable keys and a readable payload; otherwise all bytes are pseudo-random
  bool skewed = false;   // -s: key prefixes shared by large parts of the records (Daytona)
  bool teragen = false;  // --teragen: neither of the others
};

// x -> multiplier * x + increment, modulo 2^128 (multiplier: L'Ecuyer 1999).
class GensortRandom {
 public:
  static constexpr uint128 multiplier = make_uint128(0x2360ed051fc65da4, 0x4385df649fccf645);
  static constexpr uint128 increment = make_uint128(0x4a696d4772617952, 0x4950202020202001);

  explicit GensortRandom(uint128 steps) noexcept;  // the state after `steps` steps from 0
  [[nodiscard]] static GensortRandom in_state(uint128 state) noexcept {
    GensortRandom random;
    random.state_ = state;
    return random;
  }
  void step() noexcept { state_ = state_ * multiplier + increment; }
  [[nodiscard]] std::uint64_t high() const noexcept { return high_half(state_); }
  [[nodiscard]] std::uint64_t low() const noexcept { return low_half(state_); }

 private:
  GensortRandom() noexcept = default;

  uint128 state_ = 0;
};

// Makes consecutive records, from record number `first` on (modulo 2^128). Not thread-safe; any number of generators may work
// at the same time.
class GensortRecords {
 public:
  GensortRecords(GensortFormat format, uint128 first) noexcept;
  // By somebody who knows the state of record `first` without skipping ahead.
  GensortRecords(GensortFormat format, uint128 first, const GensortRandom& random) noexcept
      : format_(format), number_(first), random_(random) {}

  // Writes the next `count` records to out[0, 100 * count). `out` needs no alignment.
  void generate(std::byte* out, std::size_t count);

 private:
  void generate_ascii(std::byte* out, std::size_t count) noexcept;
  void generate_binary(std::byte* out, std::size_t count) noexcept;
  // `put` makes one record, and has the digits of its number that change once in 2^32 records.
  template <auto put>
  void generate_numbered(std::byte* out, std::size_t count) noexcept;

  GensortFormat format_;
  uint128 number_;        // of the next record
  GensortRandom random_;  // its state
};

// Returns whether `record` (100 bytes) is one that the generator makes, with whatever key: an ASCII record ends with CR LF, one
// of TeraGen has 00 11 behind the key and ends with CC DD EE FF, and the rest of a binary one follows from the generator's
// recurrence. One in 2^16 random records looks like an ASCII one.
[[nodiscard]] bool looks_generated(const std::byte* record) noexcept;

// Returns which of the 129 key prefixes record `number` gets in a skewed set: 0 ... 60, 64 ... 124 or 128.
[[nodiscard]] unsigned skew_index(uint128 number) noexcept;

}  // namespace ecosort::sortbenchmark
