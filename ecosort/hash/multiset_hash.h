// Describes a collection of records, whatever their order, by a count and a 128-bit sum of record hashes (promise P1).
//
// Two collections with equal MultisetHash hold the same records, up to the collision odds below; the sum of parts is the hash of
// the whole, so that buffers and threads are hashed apart and added. The value is the same on every machine and at every
// CpuLevel.
//
// The function. Every run hashes every record twice, so it is built from the one multiplication that all processors have in
// vector form, 32 x 32 -> 64 bits. A record is cut into 8-byte little-endian words (l, h); where the size is no multiple of 8,
// the last eight bytes are one more word; records below 8 bytes are one zero-padded word. With two independent key tables k and
// q,
//
//   A = sum over words of (l + k) * (h + k'),  B = sum over words of (l + q) * (h + q')   (sums modulo 2^32, products modulo
//   2^64)
//
// which is NH, the universal hash of UMAC (Black, Halevi, Krawczyk, Krovetz, Rogaway 1999), twice. (A, B) is added to a state
// that starts from the record size, and a bijective mixer of five Feistel rounds makes the sum over records non-linear. Records
// above 1 KiB chain the state through their 1 KiB chunks.
//
// Odds. For keys drawn at random, two given records collide with probability <= 2^-64 per chunk; this holds for the worst pair.
// The bound is met only by differences built for it: two records that differ in one half of one word never collide (the two keys
// of its partner differ), and unrelated differences hit the same 128 bits with probability 2^-128. Lost, duplicated, torn and
// stale records, flipped bits, and bytes exchanged between records change the hash unless such a collision happens. The keys are
// fixed constants: this finds accidents, and does not resist someone who constructs records to collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/cpu_features.h"

namespace ecosort::hash {

struct MultisetHash {
  std::uint64_t low = 0;  // two independent sums, each modulo 2^64
  std::uint64_t high = 0;
  std::uint64_t count = 0;  // records

  // Adds `record_count` contiguous records of record_size bytes each (1 or more).
  void add_records(const std::byte* records, std::size_t record_count, std::uint32_t record_size);

  MultisetHash& operator+=(const MultisetHash& other) noexcept {
    low += other.low;
    high += other.high;
    count += other.count;
    return *this;
  }
  friend MultisetHash operator+(MultisetHash a, const MultisetHash& b) noexcept { return a += b; }
  // Takes the records of a part away from the collection.
  MultisetHash& operator-=(const MultisetHash& part) noexcept {
    low -= part.low;
    high -= part.high;
    count -= part.count;
    return *this;
  }
  friend bool operator==(const MultisetHash&, const MultisetHash&) = default;

  // The 128 bits as 32 hexadecimal digits, high half first; without the count.
  [[nodiscard]] std::string to_hex() const;
  // The reverse, for so many records; nothing for what are not 32 such digits.
  [[nodiscard]] static std::optional<MultisetHash> from_hex(std::string_view digits, std::uint64_t count);
};

// The variant of one level, for tests and benchmarks: the hash of contiguous records. `level` must not exceed
// detected_cpu_level().
using HashRecordsFunction = MultisetHash (*)(const std::byte* records, std::size_t record_count,
                                             std::uint32_t record_size) noexcept;
HashRecordsFunction hash_records_variant(CpuLevel level) noexcept;

}  // namespace ecosort::hash
