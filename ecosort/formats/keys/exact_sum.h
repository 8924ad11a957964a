// Exact decimal numbers that are made of others: sizes and durations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/text.h"
#include "formats/keys/code.h"
#include "formats/keys/number.h"

namespace ecosort::keys {

// Not negative.
class ExactSum {
 public:
  ExactSum() = default;
  ExactSum(Text whole, Text behind_point) : digits_(whole), scale_(static_cast<std::int64_t>(behind_point.size())) {
    digits_ += behind_point;
  }

  void multiply(unsigned factor);
  void multiply_by_power_of_ten(int exponent) noexcept { scale_ -= exponent; }
  void add(ExactSum other);
  void encode(bool is_negative, Code& code) const;

 private:
  std::string digits_;
  std::int64_t scale_ = 0;  // digits behind the point
};

// Adds the bytes of the number (formats/lines/number_bytes.h).
void add_number(const Number& number, Code& code);

// Takes a number off the text: digits, in front of which or within which one of `points` may be. Nothing where there is none.
[[nodiscard]] std::optional<ExactSum> take_decimal(Text& text, Text points = ".");

}  // namespace ecosort::keys
