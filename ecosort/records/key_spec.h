// Record formats and key specifications: what `--record-size` and `--key` mean.
//
// A record is a fixed number of bytes. Its sort key is one or more fields of the record, compared one after the other as
// unsigned bytes; a descending field reverses its own order only. All functions are pure and thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ecosort::records {

inline constexpr std::uint32_t max_record_size = 1U << 20U;  // bytes
inline constexpr std::uint32_t default_key_length = 10;      // bytes; the key of the Sort Benchmark

struct KeyField {
  std::uint32_t offset = 0;  // bytes from the start of the record
  std::uint32_t length = 0;  // bytes, at least 1
  bool descending = false;

  friend bool operator==(const KeyField&, const KeyField&) = default;
};

struct RecordFormat {
  std::uint32_t record_size = 100;                                 // bytes, 1 ... max_record_size
  std::vector<KeyField> keys = {KeyField{0, default_key_length}};  // most significant first, never empty
};

// "OFFSET:LENGTH[:bytes][:desc]" -> field. Throws UsageError (one line, names the text) for anything else.
KeyField parse_key_field(std::string_view text);

// The format of `--record-size` and the `--key` options in their order. Without a key: the first 10 bytes, or the whole
// record where it is shorter. Throws UsageError for a size or a key that cannot be.
RecordFormat make_record_format(std::uint64_t record_size, const std::vector<std::string>& key_texts);

// Throws UsageError unless the record size is allowed and every key field lies inside the record.
void check_record_format(const RecordFormat& format);

// "OFFSET:LENGTH[:desc]", as parse_key_field reads it.
std::string to_string(const KeyField& field);

}  // namespace ecosort::records
