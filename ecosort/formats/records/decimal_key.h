// Decimal numbers in ASCII as bytes that compare like their values, exactly, however many digits they have.
//
// A number is: blanks, an optional sign (+ or -), digits with at most one point among, before or after them, blanks; at least one
// digit. Blanks are space, tab, CR, LF and NUL. There is no exponent and no grouping of digits. -0 is 0, and 1, +1.0 and 001 are
// one value. A field that holds anything else is no number: such fields come before all numbers and are equal to each other.
//
// The key of a field of L bytes is a code for sign and magnitude, then the digits from the first one that is not 0, two to a
// byte:
//
//   code     1, 2 or 3 bytes: 0 no number; 1 ... 2L negative, the larger the magnitude the smaller; 2L + 1 zero; above: positive
//   digits   ceil(L / 2) bytes of 0 ... 99, missing digits 0; of a negative number 99 minus that
//
// where the magnitude e of 0.d1d2d3... * 10^e, with d1 not 0, is between -L + 1 and L. Keys of up to 14 bytes of text fit into
// the 8-byte prefix, of up to 22 into prefix and extension.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ecosort::records {

// The key of one field. Reads inside the field only; a view that is no longer valid when the record is gone.
class DecimalKey {
 public:
  // Bytes of the keys of fields of `length` bytes.
  [[nodiscard]] static std::uint64_t key_bytes(std::uint32_t length) noexcept;

  DecimalKey(const std::byte* field, std::uint32_t length) noexcept;

  // Key bytes skip ... skip+7, big-endian, zero-padded beyond the key.
  [[nodiscard]] std::uint64_t word(std::uint64_t skip) const noexcept;

 private:
  [[nodiscard]] unsigned digit(std::uint64_t number) const noexcept;

  const std::byte* field_;
  std::uint32_t length_;
  std::uint32_t first_digit_ = 0;   // byte of the field
  std::uint32_t before_point_ = 0;  // digits from the first one to the point; the point is skipped behind them
  std::uint32_t digits_ = 0;
  std::uint32_t code_ = 0;
  bool negative_ = false;
};

}  // namespace ecosort::records
