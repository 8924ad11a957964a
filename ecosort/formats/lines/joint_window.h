// One window for several keys: their bytes one behind the other, so that a tie of the first key is decided by the next ones.
//
// A key's code is the beginning of no other code of that key. So the bytes of the next key can follow it, and codes of rows
// compare as the rows do:
//
//   number  sign and digits before the point in one byte; then two digits in each byte, times two, plus one where more follow
//   text    its bytes and a 1; a byte up to 2 is a 2 and the byte above it, one from 0xfe on is a 0xfe and itself
//   date    its day in 3 bytes; then a 1 at midnight, else in 3 bytes its second times two, plus one where a fraction follows,
//           which is cut off with all behind it
//   null    0 or 0xff, with which no value begins
//
// The code of a key that descends is complemented. A window has the first 12 bytes, without a count. Four numbers of up to four
// digits fit in one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/uint128.h"
#include "formats/lines/number_bytes.h"
#include "formats/lines/text.h"
#include "formats/records/encoder.h"
#include "formats/row_format.h"

namespace ecosort::lines {

class JointWindow {
 public:
  enum class Kind : std::uint8_t { number, text, date };
  struct Level {
    Kind kind = Kind::text;
    bool descends = false;
  };

  // Keys are added in their order until the window is full; what does not fit is cut off.
  [[nodiscard]] bool is_full() const noexcept { return count_ >= size; }
  // The number with this window, as encode() of numbers.h makes it: of a key that ascends.
  void add_number(records::KeyWindow number, bool descends) noexcept {
    const unsigned count = number.extension & 0xffU, sign = static_cast<unsigned>(number.prefix >> 56U);
    // A positive one of up to twelve digits, fewer than 64 of them before the point: all in registers.
    if (sign != positive_byte || count > 8 || (number.prefix >> 54U & 3U) != 0) [[unlikely]]
      return add_any_number(number, descends);
    const std::uint64_t pairs = number.prefix << 16U;  // from the highest byte on
    const std::uint64_t last = each_byte << 8 * (8 - (count - 2)), all_but_last = last << 8U;
    const std::uint64_t codes = (pairs - last) * 2 + all_but_last;
    const std::uint64_t head = positive_head + (number.prefix >> 48U & 0xffU);
    const std::uint64_t word = head << 56U | codes >> 8U;
    add_code(word, count - 1, descends);
  }
  // Adds the digits that the text has from `at` on, if they are 1 to 7 that begin with no zero; returns how many they are, else 0
  // and adds none. The text has 8 bytes or more.
  std::size_t add_digits(Text text, std::size_t at, bool descends) noexcept;
  void add_text(Text text, bool descends) noexcept;
  // The date with this window, as keys/date.h encodes it: of a key that ascends.
  void add_date(records::KeyWindow date, bool descends) noexcept;
  void add_null(bool is_first) noexcept;

  [[nodiscard]] records::KeyWindow window() const noexcept {
    return {high_half(code_), static_cast<std::uint32_t>(low_half(code_) >> 32U)};
  }

  // Returns where rows with this window may differ: in the first level that it does not hold all of, from a depth on that is
  // above 0 in level 0; level levels.size() if it holds all.
  [[nodiscard]] static formats::KeyPlace behind(records::KeyWindow window, std::span<const Level> levels) noexcept;

 private:
  static constexpr std::size_t size = 12;
  static constexpr std::uint64_t each_byte = 0x0101010101010101;
  static constexpr unsigned positive_head = 0x81;  // of a number without digits before the point

  // The first `count` bytes of a word, at most 8, whose others are zeros.
  void add(std::uint64_t word, std::size_t count) noexcept {
    if (is_full()) return;
    code_ |= make_uint128(word, 0) >> 8 * count_;
    count_ += count;
  }
  void add_code(std::uint64_t word, std::size_t count, bool descends) noexcept {
    add(descends ? ~word & ~(~std::uint64_t{0} >> 8 * count) : word, count);
  }
  void add(unsigned char byte) noexcept { add(std::uint64_t{byte} << 56U, 1); }
  void fill(unsigned char byte) noexcept {
    while (!is_full()) add(byte);
  }
  void add_any_text(Text text, unsigned char mask) noexcept;
  void add_any_number(records::KeyWindow number, bool descends) noexcept;

  uint128 code_ = 0;
  std::size_t count_ = 0;  // bytes, of which those behind the first 12 are cut off
};

inline std::size_t JointWindow::add_digits(Text text, std::size_t at, bool descends) noexcept {
  const std::size_t from = std::min(at, text.size() - 8);
  std::uint64_t word = 0;
  std::memcpy(&word, text.data() + from, 8);
  const std::uint64_t bytes = (word >> 8 * (at - from)) ^ '0' * each_byte;  // the first one is the lowest; no digit is 10 or more
  const std::uint64_t others = ((bytes & 0x7f * each_byte) + 0x76 * each_byte) | bytes | std::uint64_t{1} << 63U;
  const auto digits = static_cast<unsigned>(__builtin_ctzll(others & 0x80 * each_byte)) / 8;
  if (digits == 0 || (bytes & 0xff) == 0) return 0;
  const std::uint64_t value = bytes & ((std::uint64_t{1} << 8 * digits) - 1);
  // Bytes 0, 2, 4 and 6 hold two digits each; they come together, the first one highest.
  const std::uint64_t tens = value * 10 + (value >> 8U);
  std::uint64_t pairs = tens & 0x00ff00ff00ff00ff;
  pairs = (pairs | pairs >> 8U) & 0x0000ffff0000ffff;
  pairs = std::uint64_t{__builtin_bswap32(static_cast<std::uint32_t>(pairs | pairs >> 16U))} << 32U;
  const unsigned unused = static_cast<unsigned>(__builtin_ctzll(pairs)) / 8;  // bytes behind the last pair that is not 0
  const std::uint64_t all_but_last = each_byte << 8 * unused << 8U;
  const std::uint64_t codes = pairs * 2 + all_but_last;
  add_code(std::uint64_t{positive_head + digits} << 56U | codes >> 8U, 9 - unused, descends);
  return digits;
}

}  // namespace ecosort::lines
