// A CSV file of any size as a function of the place in it: rows with numbers in no order and texts that repeat, so that a file
// system that compresses keeps few bytes of each.
//
//   id,shop,remark
//   482910338127,"maple, 4",crate tomato amber ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ecosort::scale {

// Thread-safe once it is made.
class NumberedRows {
 public:
  // Less than that is only the header.
  static constexpr std::uint64_t least_bytes = std::uint64_t{64} << 10U;

  // As many rows as fit, in whole groups of one for each text.
  explicit NumberedRows(std::uint64_t at_most);

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return header.size() + groups_ * group_bytes_; }
  // Makes bytes [offset, offset + size) of it.
  void make(std::uint64_t offset, std::size_t size, std::byte* out) const noexcept;

 private:
  static constexpr std::string_view header = "id,shop,remark\n";
  static constexpr std::size_t texts = 64, id_digits = 12;

  std::array<std::string, texts> text_;               // of a row behind its id, with the end of the line
  std::array<std::uint64_t, texts + 1> row_begin_{};  // in a group
  std::uint64_t group_bytes_ = 0, groups_ = 0;
};

}  // namespace ecosort::scale
