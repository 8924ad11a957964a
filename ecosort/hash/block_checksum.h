// The checksum that every run block of a run file carries (promise: a flipped bit, a stale or a foreign block never becomes
// output).
//
// XXH3 with 64 bits: an accidental change is missed with probability 2^-64. The seed is the identity of the run block (its job,
// run and position), so that intact data in the wrong place fails as well. The value is the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu_features.h"

namespace ecosort::hash {

// `data` needs no alignment and may be empty (size 0). Thread-safe.
std::uint64_t block_checksum(const std::byte* data, std::size_t size, std::uint64_t seed);

// The variant of one level, for tests and benchmarks. `level` must not exceed detected_cpu_level().
using BlockChecksumFunction = std::uint64_t (*)(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept;
BlockChecksumFunction block_checksum_variant(CpuLevel level) noexcept;

}  // namespace ecosort::hash
