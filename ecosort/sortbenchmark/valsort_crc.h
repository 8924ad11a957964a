// The checksum of the Sort Benchmark's tools: the sum, modulo 2^128, of the CRC-32 of every 100-byte record.
//
// It does not depend on the order of the records, so the input and the output of a sort have the same one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/cpu_features.h"
#include "base/uint128.h"

namespace ecosort::sortbenchmark {

struct Checksum {
  uint128 sum = 0;

  Checksum& operator+=(const Checksum& other) noexcept {
    sum += other.sum;
    return *this;
  }
  friend bool operator==(const Checksum&, const Checksum&) = default;
  [[nodiscard]] std::string to_hex() const { return ecosort::to_hex(sum); }  // as gensort -c prints it
};

// Over records[0, 100 * count); no alignment needed. Thread-safe.
[[nodiscard]] Checksum crc_sum(const std::byte* records, std::size_t count);

// The variant of one level, for tests and benchmarks. `level` must not exceed detected_cpu_level(); count < 2^32, so that
// the sum fits.
using CrcSumFunction = std::uint64_t (*)(const std::byte* records, std::size_t count) noexcept;
[[nodiscard]] CrcSumFunction crc_sum_variant(CpuLevel level) noexcept;

}  // namespace ecosort::sortbenchmark
