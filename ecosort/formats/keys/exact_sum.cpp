#include "formats/keys/exact_sum.h"

#include <algorithm>

#include "formats/lines/number_bytes.h"
#include "formats/lines/text.h"

namespace ecosort::keys {

void ExactSum::multiply(unsigned factor) {
  std::uint64_t carry = 0;
  for (std::size_t i = digits_.size(); i-- > 0;) {
    carry += static_cast<std::uint64_t>(digits_[i] - '0') * factor;
    digits_[i] = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  std::string more;
  for (; carry > 0; carry /= 10) more += static_cast<char>('0' + carry % 10);
  digits_.insert(digits_.begin(), more.rbegin(), more.rend());
}

void ExactSum::add(ExactSum other) {
  ExactSum& finer = scale_ >= other.scale_ ? *this : other;
  ExactSum& coarser = scale_ >= other.scale_ ? other : *this;
  coarser.digits_.append(static_cast<std::size_t>(finer.scale_ - coarser.scale_), '0');
  coarser.scale_ = finer.scale_;
  const std::size_t size = std::max(digits_.size(), other.digits_.size()) + 1;
  digits_.insert(0, size - digits_.size(), '0');
  other.digits_.insert(0, size - other.digits_.size(), '0');
  int carry = 0;
  for (std::size_t i = size; i-- > 0;) {
    const int sum = digits_[i] - '0' + other.digits_[i] - '0' + carry;
    digits_[i] = static_cast<char>('0' + sum % 10);
    carry = sum / 10;
  }
}

void ExactSum::encode(bool is_negative, Code& code) const { add_number(number_of(is_negative, digits_, {}, -scale_), code); }

void add_number(const Number& number, Code& code) {
  constexpr std::size_t most_more = 12;  // sign, length, end
  const std::size_t begin = code.size();
  code.resize(begin + most_more + number.significant / 2 + 1);
  auto* const to = reinterpret_cast<unsigned char*>(code.data() + begin);
  code.resize(begin + lines::encode_number(number, 0, to, code.size() - begin));
}

std::optional<ExactSum> take_decimal(Text& text, Text points) {
  const auto digits_at = [&](std::size_t at) {
    while (at < text.size() && lines::is_digit(text[at])) ++at;
    return at;
  };
  const std::size_t whole = digits_at(0);
  const bool has_point = whole + 1 < text.size() && points.find(text[whole]) != Text::npos && lines::is_digit(text[whole + 1]);
  if (whole == 0 && !has_point) return std::nullopt;
  const std::size_t begin = has_point ? whole + 1 : whole, end = has_point ? digits_at(begin) : whole;
  const ExactSum decimal(text.substr(0, whole), text.substr(begin, end - begin));
  text.remove_prefix(end);
  return decimal;
}

}  // namespace ecosort::keys
