// The words that databases write for true and false.
#include <algorithm>

#include "formats/keys/code.h"
#include "formats/lines/text.h"

namespace ecosort::keys {
namespace {

constexpr Text words_for_false[] = {"false", "f", "no", "n", "off", "0"}, words_for_true[] = {"true", "t", "yes", "y", "on", "1"};

}  // namespace

bool code_boolean(Text value, Code& code) {
  const Text text = lines::without_blanks(value);
  const auto is_one = [text](Text word) { return is_word(text, word); };
  const bool is_true = std::ranges::any_of(words_for_true, is_one);
  if (!is_true && std::ranges::none_of(words_for_false, is_one)) return false;
  code.add(is_true ? 2U : 1U);
  return true;
}

}  // namespace ecosort::keys
