// Decimal numbers of COBOL as bytes that compare like their values.
//
//   packed  COMP-3: two digits in each byte, the sign in the last half byte: A, C, E, F are plus, B, D are minus
//   zoned   DISPLAY: a digit in each byte, the sign in the last one. EBCDIC: F0-F9; the last one has the sign in place of the F.
//           ASCII: 0-9; the last one is 0-9, or { or A-I for plus 0-9, } or J-R, or p-y, for minus 0-9
//
// No byte means something in both EBCDIC and ASCII. -0 is 0. The key is a half byte, 1 of a number that is not negative, else 0,
// and the digits, a half byte each; of a negative number 9 minus that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ecosort/record_types.hpp"

namespace ecosort::records {

// The key of one field. Reads inside the field only; a view that is no longer valid when the record is gone.
class CobolNumber {
 public:
  [[nodiscard]] static bool is_type(RecordKeyType type) noexcept {
    return type == RecordKeyType::packed || type == RecordKeyType::zoned;
  }
  // Bytes of the keys of fields of `length` bytes.
  [[nodiscard]] static std::uint64_t key_bytes(RecordKeyType type, std::uint32_t length) noexcept;

  CobolNumber(RecordKeyType type, const std::byte* field, std::uint32_t length) noexcept;

  // Returns whether the field holds a number: only then its key means something.
  [[nodiscard]] bool is_valid() const noexcept;
  // Key bytes skip ... skip+7, big-endian, zero-padded beyond the key.
  [[nodiscard]] std::uint64_t word(std::uint64_t skip) const noexcept;

 private:
  [[nodiscard]] unsigned byte(std::uint64_t at) const noexcept { return std::to_integer<unsigned>(field_[at]); }
  [[nodiscard]] unsigned digit(std::uint64_t number) const noexcept;
  [[nodiscard]] unsigned half_byte(std::uint64_t number) const noexcept;
  [[nodiscard]] bool has_minus() const noexcept;

  const std::byte* field_;
  std::uint32_t length_;
  bool is_packed_;
  bool is_negative_ = false;
};

}  // namespace ecosort::records
