// Record formats and key specifications: what `--record-size`, `--key` and `--reverse` mean.
//
// A record is a fixed number of bytes. Its sort key is one or more fields of the record, compared one after the other, each as
// what its type says; a descending field reverses its own order only. Fields may overlap. All functions are pure and thread-safe.
//
//   bytes       unsigned bytes, the first one decides first
//   nocase      the same with the ASCII letters a-z taken for A-Z
//   dec         a decimal number in ASCII: decimal_key.h
//   u8 ... u64  an unsigned integer; i8 ... i64 one in two's complement
//   f32 f64     IEEE 754: -infinity ... -0 < +0 ... +infinity < NaN; NaNs of any sign and payload are one value
//
// Numbers of several bytes are little-endian (u32 is u32le) unless they end in `be`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ecosort/request.hpp"

namespace ecosort::records {

inline constexpr std::uint32_t max_record_size = 1U << 20U;  // bytes
inline constexpr std::uint32_t usual_record_size = 100;      // bytes, and the key of the Sort Benchmark
inline constexpr std::uint32_t default_key_length = 10;      // bytes

struct RecordFormat {
  std::uint32_t record_size = usual_record_size;                     // bytes, 1 ... max_record_size
  std::vector<RecordKey> keys = {RecordKey{0, default_key_length}};  // most significant first, never empty
};

// The format of `--record-size` and the `--key` options in their order. Without a key: the first 10 bytes, or the whole
// record where it is shorter. `reverse` turns the direction of every field round, which reverses the order of unequal keys.
// Throws UsageError for a size or a key that cannot be.
RecordFormat make_record_format(std::uint64_t record_size, const std::vector<RecordKey>& keys, bool reverse = false);
RecordFormat make_record_format(const Records& records);

// Bytes of a record as asked for, or as usual.
std::uint64_t size_of(const Records& records) noexcept;

// No one said what the records are: they must look like those of the Sort Benchmark.
bool is_assumed(const Records& records) noexcept;

// Throws UsageError unless the record size is allowed and every key field lies inside the record and suits its type.
void check_record_format(const RecordFormat& format);

// A key for people: "8:8:u64le:desc (unsigned integer, little-endian, largest first)".
std::string explain(const RecordKey& field);

}  // namespace ecosort::records
