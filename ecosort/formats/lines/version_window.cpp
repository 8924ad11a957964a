#include "formats/lines/version_window.h"

#include <algorithm>
#include <array>
#include <bit>

#include "formats/lines/versions.h"

namespace ecosort::lines {
namespace {

constexpr std::size_t window_bytes = 11;
// Behind the window up to the first byte that is no number of 0: there are at most 8 such bytes in a row, of a number.
constexpr std::size_t looked_at = 24;

constexpr unsigned char before_all = 0, tilde = 1, zero = 2;
constexpr std::uint64_t most_in_a_byte = 150;
constexpr unsigned char number_of_bytes = zero + most_in_a_byte;  // and how many
constexpr unsigned char long_number = number_of_bytes + 9;
constexpr unsigned char first_letter = long_number + 1;
constexpr std::size_t most_digits_of_group = 19;

constexpr bool has_second_byte(unsigned char c) { return c < ' ' || c >= 127; }

// The first byte of each character that is no digit.
constexpr auto codes = [] {
  std::array<unsigned char, 256> result{};
  unsigned char code = first_letter;
  for (unsigned c = 0; c < 256; ++c)
    if (is_letter(static_cast<char>(c))) result[c] = code++;
  for (unsigned c = 0; c < ' '; ++c) result[c] = code;
  for (unsigned c = ' '; c < 127; ++c)
    if (!is_letter(static_cast<char>(c)) && !is_digit(static_cast<char>(c)) && c != '~') result[c] = ++code;
  ++code;
  for (unsigned c = 127; c < 256; ++c) result[c] = code;
  result['~'] = tilde;
  return result;
}();
static_assert(codes[255] > codes['}'] && codes[' '] > codes[31] && codes[31] > codes['z']);

// The bytes of a row from number `depth` on, as many as are looked at.
class Row {
 public:
  explicit Row(std::size_t depth) noexcept : skip_(depth) {}

  void put_name(Text name, bool has_endings) noexcept;
  void put_class(NameClass kind) noexcept {
    put(before_all);
    put(static_cast<unsigned char>(kind));
  }
  [[nodiscard]] records::KeyWindow window() const noexcept;

 private:
  [[nodiscard]] bool is_full() const noexcept { return count_ == looked_at; }
  void put(unsigned char byte) noexcept {
    if (skip_ > 0) {
      --skip_;
    } else if (!is_full()) {
      bytes_[count_++] = byte;
    }
  }
  void put_number(std::uint64_t value) noexcept;
  [[nodiscard]] VersionRest rest() const noexcept;

  std::size_t skip_;
  std::size_t count_ = 0;
  VersionRest end_ = VersionRest::nothing;
  unsigned char bytes_[looked_at];
};

void Row::put_number(std::uint64_t value) noexcept {
  if (value <= most_in_a_byte) return put(static_cast<unsigned char>(zero + value));
  const unsigned bytes = (static_cast<unsigned>(std::bit_width(value)) + 7) / 8;
  put(static_cast<unsigned char>(number_of_bytes + bytes));
  for (unsigned i = bytes; i-- > 0;) put(static_cast<unsigned char>(value >> 8 * i));
}

void Row::put_name(Text name, bool has_endings) noexcept {
  if (has_endings) end_ = VersionRest::by_compare;
  for (std::size_t at = 0; at < name.size() && !is_full();) {
    if (!is_digit(name[at])) {
      const auto c = static_cast<unsigned char>(name[at++]);
      put(codes[c]);
      if (has_second_byte(c)) put(c);
      continue;
    }
    while (at < name.size() && name[at] == '0') ++at;
    const std::size_t end = std::min(name.size(), at + most_digits_of_group);
    std::uint64_t value = 0;
    for (; at < end && is_digit(name[at]); ++at) value = 10 * value + static_cast<std::uint64_t>(name[at] - '0');
    if (at == end && at < name.size() && is_digit(name[at])) {
      put(long_number);
      end_ = VersionRest::by_compare;
      return;
    }
    put_number(value);
  }
}

VersionRest Row::rest() const noexcept {
  for (std::size_t i = window_bytes; i < count_; ++i)
    if (bytes_[i] != zero) return bytes_[i] < zero ? VersionRest::below : VersionRest::above;
  return end_;
}

records::KeyWindow Row::window() const noexcept {
  unsigned char window[window_bytes + 1];
  for (std::size_t i = 0; i < window_bytes; ++i) window[i] = i < count_ ? bytes_[i] : zero;
  window[window_bytes] = static_cast<unsigned char>(rest());
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < 8; ++i) prefix = prefix << 8U | window[i];
  std::uint32_t extension = 0;
  for (std::size_t i = 8; i < sizeof window; ++i) extension = extension << 8U | window[i];
  return {prefix, extension};
}

}  // namespace

records::KeyWindow version_window(Text name, std::size_t depth) noexcept {
  Row row(depth);
  const NameClass kind = name_class(name);
  if (kind != NameClass::other) row.put_class(kind);
  if (kind >= NameClass::begins_with_dot) {
    const Text begin = without_endings(name);
    row.put_name(begin, begin.size() < name.size());
  }
  return row.window();
}

}  // namespace ecosort::lines
