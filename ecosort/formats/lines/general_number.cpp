#include "formats/lines/general_number.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

namespace ecosort::lines {
namespace {

constexpr std::uint64_t each_byte = 0x0101010101010101;
constexpr int sign_bit = 8 * static_cast<int>(LongDouble::value_bytes) - 1;
constexpr std::size_t most_digits = 19;  // so that they are a number below 2^64
constexpr std::size_t most_exponent_digits = 4;
constexpr int exponent_too_large = 10'000;

constexpr auto powers = [] {
  std::array<std::uint64_t, 9> result{1};
  for (std::size_t i = 1; i < result.size(); ++i) result[i] = 10 * result[i - 1];
  return result;
}();

// A place in a text, of which digits are read, up to eight at a time.
class Digits {
 public:
  explicit Digits(Text text) noexcept : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  [[nodiscard]] char next() const noexcept { return at_ < end_ ? *at_ : '\0'; }
  void skip(std::size_t count) noexcept { at_ += count; }
  std::size_t skip_zeros() noexcept {
    const char* const before = at_;
    while (next() == '0') ++at_;
    return static_cast<std::size_t>(at_ - before);
  }
  // Appends digits to `value`, which means nothing if they are too many. Returns how many there are.
  std::size_t read(std::uint64_t& value) noexcept;
  // Reads what follows the e of an exponent; exponent_too_large if it has many digits, 0 if none.
  [[nodiscard]] int exponent() noexcept;

 private:
  [[nodiscard]] std::uint64_t load() const noexcept;

  const char* begin_;
  const char* at_;
  const char* end_;
};

// Eight bytes, the first one lowest; behind the text zeros. Nothing outside of the text is read.
std::uint64_t Digits::load() const noexcept {
  std::uint64_t bytes = 0;
  const auto left = static_cast<std::size_t>(end_ - at_);
  if (left >= sizeof bytes) {
    std::memcpy(&bytes, at_, sizeof bytes);
  } else if (static_cast<std::size_t>(end_ - begin_) >= sizeof bytes) {
    if (left == 0) return 0;
    std::memcpy(&bytes, end_ - sizeof bytes, sizeof bytes);
    bytes >>= 8 * (sizeof bytes - left);
  } else {
    for (std::size_t i = 0; i < left; ++i) bytes |= std::uint64_t{static_cast<unsigned char>(at_[i])} << 8 * i;
  }
  return bytes;
}

// Reads the number from eight values 0 to 9, the first one lowest.
std::uint64_t number_of(std::uint64_t digits) noexcept {
  digits = digits * 10 + (digits >> 8U);  // pairs in every second byte
  constexpr std::uint64_t pair = 0x000000ff000000ff;
  return ((digits & pair) * (100 + (std::uint64_t{1'000'000} << 32U)) +
          (digits >> 16U & pair) * (1 + (std::uint64_t{10'000} << 32U))) >>
         32U;
}

std::size_t Digits::read(std::uint64_t& value) noexcept {
  const char* const before = at_;
  while (true) {
    const std::uint64_t bytes = load() ^ '0' * each_byte;
    // A carry of the sum reaches bytes behind the first one that is no digit only.
    const std::uint64_t others = ((bytes + (0x80 - 10) * each_byte) | bytes) & 0x80 * each_byte;
    const std::size_t count = others == 0 ? 8 : static_cast<std::size_t>(std::countr_zero(others)) / 8;
    if (count > 0) value = value * powers[count] + number_of(bytes << 8 * (8 - count));
    at_ += count;
    if (count < 8) return static_cast<std::size_t>(at_ - before);
  }
}

int Digits::exponent() noexcept {
  const bool is_negative = next() == '-';
  if (is_negative || next() == '+') skip(1);
  (void)skip_zeros();
  std::uint64_t value = 0;
  if (read(value) > most_exponent_digits) return exponent_too_large;
  return is_negative ? -static_cast<int>(value) : static_cast<int>(value);
}

uint128 ordered(uint128 magnitude, bool is_negative) noexcept {
  constexpr uint128 sign = uint128{1} << sign_bit;
  return is_negative ? (sign - 1) - magnitude : sign | magnitude;
}

General from_value(long double value) noexcept {
  unsigned char bytes[LongDouble::value_bytes];
  std::memcpy(bytes, &value, sizeof bytes);
  const bool is_nan = std::isnan(value);
  if (!is_nan) std::reverse(std::begin(bytes), std::end(bytes));
  uint128 number = 0;
  for (const unsigned char byte : bytes) number = number << 8U | byte;
  if (is_nan) return {General::Kind::nan, number};
  const uint128 magnitude = number & ((uint128{1} << sign_bit) - 1);
  return {General::Kind::number, ordered(magnitude, magnitude != 0 && std::signbit(value))};
}

// Stops where strtold stops.
std::size_t scan_general(Text text, General& number) {
  char near[64];
  std::string far;
  const char* begin = near;
  if (text.size() < sizeof near) {
    *std::copy(text.begin(), text.end(), near) = '\0';
  } else {
    far = text;
    begin = far.c_str();
  }
  char* end = nullptr;
  const long double value = std::strtold(begin, &end);
  if (end == begin) return 0;
  number = from_value(value);
  return static_cast<std::size_t>(end - begin);
}

bool may_begin_a_word(char c) noexcept { return c == 'i' || c == 'I' || c == 'n' || c == 'N'; }

}  // namespace

std::optional<General> plain_general(Text text) noexcept {
  std::size_t space = 0;
  while (space < text.size() && is_space(text[space])) ++space;
  Digits rest(text.substr(space));
  const bool is_negative = rest.next() == '-';
  if (is_negative || rest.next() == '+') rest.skip(1);
  const std::size_t zeros = rest.skip_zeros();
  std::uint64_t value = 0;
  std::size_t significant = rest.read(value), fraction_zeros = 0, fraction = 0;
  if (rest.next() == '.') {
    rest.skip(1);
    if (value == 0) fraction_zeros = rest.skip_zeros();
    fraction = rest.read(value);
    significant += fraction;
  }
  if (zeros + significant + fraction_zeros == 0) {
    if (fraction_zeros == 0 && may_begin_a_word(rest.next())) return std::nullopt;
    return General{};
  }
  if (significant > most_digits || fraction_zeros > largest_power_of_ten) return std::nullopt;
  const char next = rest.next();
  if (value == 0)
    return next == 'x' || next == 'X' ? std::nullopt : std::optional(General{General::Kind::number, ordered(0, false)});
  int exponent = -static_cast<int>(fraction_zeros + fraction);
  if (next == 'e' || next == 'E') {
    rest.skip(1);
    exponent += rest.exponent();
  }
  const auto magnitude = round_decimal(value, exponent);
  if (!magnitude) return std::nullopt;
  return General{General::Kind::number, ordered(*magnitude, is_negative)};
}

General read_general(Text text) {
  if (const auto plain = plain_general(text)) return *plain;
  General number;
  (void)scan_general(text, number);
  return number;
}

std::size_t general_length(Text text) {
  General number;
  return scan_general(text, number);
}

int compare(const General& a, const General& b) noexcept {
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  return (a.value > b.value) - (a.value < b.value);
}

std::size_t encode(const General& number, unsigned char* to) noexcept {
  to[0] = static_cast<unsigned char>(number.kind);
  if (number.kind == General::Kind::none) return 1;
  for (std::size_t i = 0; i < LongDouble::value_bytes; ++i)
    to[1 + i] = static_cast<unsigned char>(number.value >> 8 * (LongDouble::value_bytes - 1 - i));
  return general_bytes;
}

std::optional<records::KeyWindow> general_window(Text text) noexcept {
  if (general_bytes > 11) return std::nullopt;
  const auto number = plain_general(text);
  if (!number) return std::nullopt;
  if (number->kind == General::Kind::none) return records::KeyWindow{0, 1};
  return records::KeyWindow{
      std::uint64_t{static_cast<unsigned char>(number->kind)} << 56U | static_cast<std::uint64_t>(number->value >> 24U),
      static_cast<std::uint32_t>(number->value << 8U) | static_cast<std::uint32_t>(general_bytes)};
}

}  // namespace ecosort::lines
