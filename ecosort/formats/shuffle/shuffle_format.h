// Rows in the order of random keys (random_keys.h). The rows themselves are those of another format, or paragraphs, or records of
// a fixed size; no one looks into them for their order.
//
// While a run is formed the key of a row is in its entry of the index. A run on a drive has it in front of the row, with the
// row's size, so that a merge finds the next row without a look at this one:
//
//   run   | key, size: 16 bytes | row with its end | key, size | row ...
//
// A record has no end: its last byte is in the place of one.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "formats/lines/line_groups.h"
#include "formats/row_format.h"
#include "formats/shuffle/random_keys.h"
#include "sorting/entry.h"

namespace ecosort::shuffle {

// Lies in front of a row of a run: `index` is the size of the row with its end.
using RowHead = sorting::Entry;

class ShuffleFormat : public formats::RowFormat {
 public:
  static constexpr bool checks_rows = false;
  static constexpr bool leaves_out_blank_rows = false;
  static constexpr bool rows_begin_anew = true;  // with their heads, in runs

  [[nodiscard]] const RandomKeys& keys() const noexcept { return keys_; }
  // Returns the size of every row with its end; 0 where it differs.
  [[nodiscard]] std::uint64_t row_bytes() const noexcept { return row_bytes_; }
  // None where rows are walked: they are copied one by one.
  [[nodiscard]] formats::Gather quoted_gather() const override { return nullptr; }

  // Both take rows with their heads. `at`: where one begins.
  [[nodiscard]] const char* row_end(const char* at, const char* end, formats::Inside& /*inside*/) const noexcept {
    const auto bytes = static_cast<std::size_t>(end - at);
    if (bytes < sizeof(RowHead)) return nullptr;
    const std::size_t size = sizeof(RowHead) + head(at).index;
    return bytes < size ? nullptr : at + size - 1;
  }
  [[nodiscard]] records::KeyWindow window(Text row) const noexcept {
    const RowHead of = head(row.data());
    return {of.prefix, of.extension};
  }
  [[nodiscard]] records::KeyWindow window(Text row, unsigned /*level*/, std::size_t /*depth*/) const override {
    return window(row);
  }

  // Windows are whole keys, so that rows are never compared.
  [[nodiscard]] formats::KeyBytes key_bytes(unsigned /*level*/) const override { return formats::KeyBytes::made; }
  [[nodiscard]] std::size_t common_bytes(Text /*a*/, Text /*b*/, unsigned /*level*/, std::size_t skip) const override {
    return skip;
  }
  [[nodiscard]] formats::KeyPlace behind_first(records::KeyWindow /*window*/) const override { return {1, 0}; }
  [[nodiscard]] bool is_cut(records::KeyWindow /*window*/, unsigned /*level*/) const override { return false; }
  [[nodiscard]] bool has_deeper_window(records::KeyWindow /*window*/, unsigned /*level*/) const override { return false; }

 protected:
  ShuffleFormat(std::uint64_t seed, Format format, char terminator, std::optional<char> quote,
                std::optional<char> escape = std::nullopt)
      : RowFormat(format, terminator, quote, escape), keys_(seed) {
    levels_ = 1;
  }

  std::uint64_t row_bytes_ = 0;

 private:
  [[nodiscard]] static RowHead head(const char* at) noexcept {
    RowHead head;
    std::memcpy(&head, at, sizeof head);
    return head;
  }
  [[nodiscard]] int compare_levels(Text a, Text b, unsigned level, unsigned end) const override;

  RandomKeys keys_;
};

// Null where the rows are in no random order.
[[nodiscard]] inline const ShuffleFormat* as_shuffle(const formats::RowFormat& format) noexcept {
  return dynamic_cast<const ShuffleFormat*>(&format);
}

// The rows of `rows`, with its headers and refusals.
[[nodiscard]] std::unique_ptr<formats::RowFormat> shuffled(std::unique_ptr<formats::RowFormat> rows, std::uint64_t seed);
// Rows of several lines.
[[nodiscard]] std::unique_ptr<formats::RowFormat> shuffled_line_groups(lines::LineGroups groups, std::uint64_t seed);
// Records of this size.
[[nodiscard]] std::unique_ptr<formats::RowFormat> shuffled_records(std::uint64_t record_size, std::uint64_t seed);

}  // namespace ecosort::shuffle
