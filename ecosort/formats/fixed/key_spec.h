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

namespace ecosort::records {

inline constexpr std::uint32_t max_record_size = 1U << 20U;  // bytes
inline constexpr std::uint32_t default_key_length = 10;      // bytes; the key of the Sort Benchmark

// The numbers are those of the journal of in-place jobs.
enum class KeyType : std::uint8_t { bytes = 0, nocase = 1, dec = 2, unsigned_integer = 3, signed_integer = 4, floating = 5 };

struct KeyField {
  std::uint32_t offset = 0;  // bytes from the start of the record
  std::uint32_t length = 0;  // bytes, at least 1
  bool descending = false;
  KeyType type = KeyType::bytes;
  bool big_endian = false;  // of integers and floating-point numbers

  friend bool operator==(const KeyField&, const KeyField&) = default;
};

struct RecordFormat {
  std::uint32_t record_size = 100;                                 // bytes, 1 ... max_record_size
  std::vector<KeyField> keys = {KeyField{0, default_key_length}};  // most significant first, never empty
};

// "OFFSET:LENGTH[:TYPE][:desc]" or "OFFSET:TYPE[:desc]" for a number, whose type says the length -> field. Throws UsageError
// (one line, names the text) for anything else.
KeyField parse_key_field(std::string_view text);

// The format of `--record-size` and the `--key` options in their order. Without a key: the first 10 bytes, or the whole
// record where it is shorter. `reverse` turns the direction of every field round, which reverses the order of unequal keys.
// Throws UsageError for a size or a key that cannot be.
RecordFormat make_record_format(std::uint64_t record_size, const std::vector<std::string>& key_texts, bool reverse = false);

// Throws UsageError unless the record size is allowed and every key field lies inside the record and suits its type.
void check_record_format(const RecordFormat& format);

// "OFFSET:LENGTH[:TYPE][:desc]", as parse_key_field reads it; without the type where it is `bytes`.
std::string to_string(const KeyField& field);

// The same for people: "8:8:u64le:desc (unsigned integer, little-endian, largest first)".
std::string explain(const KeyField& field);

}  // namespace ecosort::records
