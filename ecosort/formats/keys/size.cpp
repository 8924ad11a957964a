// Sizes as programs print them: 10K, 1.5GiB.
#include "formats/keys/exact_sum.h"
#include "formats/lines/text.h"

namespace ecosort::keys {

bool code_size(Text value, Code& code) {
  Text text = lines::without_blanks(value);
  const bool is_negative = take_sign(text);
  auto size = take_decimal(text);
  if (!size) return false;
  text = lines::without_leading_blanks(text);
  constexpr Text letters = "KMGTPEZYRQ";
  const std::size_t power = text.empty() ? Text::npos : letters.find(lines::to_upper(text.front()));
  if (power != Text::npos) {
    text.remove_prefix(1);
    const bool is_decimal = is_word(text, "b");
    if (is_decimal) size->multiply_by_power_of_ten(3 * (static_cast<int>(power) + 1));
    for (std::size_t i = 0; i <= power && !is_decimal; ++i) size->multiply(1024);
  }
  if (!text.empty() && !is_word(text, "b") && (power == Text::npos || !is_word(text, "ib"))) return false;
  size->encode(is_negative, code);
  return true;
}

}  // namespace ecosort::keys
