// Order, duplicates and checksum of gensort records, as valsort 1.5 reports them.
//
// Pieces of a file are summarised independently and then put together from left to right; the summaries are also what valsort
// keeps in summary files, so that partitions on many machines can be checked as one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/uint128.h"
#include "sortbenchmark/gensort.h"
#include "sortbenchmark/valsort_crc.h"

namespace ecosort::sortbenchmark {

// Says how the ten key bytes are compared: as unsigned bytes, or with A-Z taken for a-z.
enum class KeyCase : std::uint8_t { exact, ignored };

inline constexpr std::size_t summary_bytes = 280;

// Sums up consecutive records. Default: of no records.
struct PartitionSummary {
  uint128 first_unordered = 0;  // index of the first record whose key is below its predecessor's; 0: none (record 0 has none)
  uint128 unordered = 0;        // neighbours with key(previous) > key(next)
  uint128 records = 0;
  uint128 duplicates = 0;  // neighbours with equal keys: m equal keys count m - 1
  Checksum checksum;
  std::array<std::byte, gensort_record_bytes> first_record{}, last_record{};  // meaningless without records

  // Extends this summary by the records that follow. Counters add modulo 2^128.
  void append(const PartitionSummary& next, KeyCase key_case);

  // The form in summary files: five 128-bit numbers, each with its high word first, words in the machine's byte order, then the
  // two records.
  [[nodiscard]] std::array<std::byte, summary_bytes> to_bytes() const;
  [[nodiscard]] static PartitionSummary from_bytes(std::span<const std::byte, summary_bytes> bytes);

  friend bool operator==(const PartitionSummary&, const PartitionSummary&) = default;
};

// Summarizes records[0, 100 * count); no alignment needed. Thread-safe.
[[nodiscard]] PartitionSummary summarize(const std::byte* records, std::size_t count, KeyCase key_case);

}  // namespace ecosort::sortbenchmark
