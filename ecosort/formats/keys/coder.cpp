#include <fmt/format.h>

#include "base/errors.h"
#include "formats/keys/code.h"
#include "formats/keys/key_words.h"
#include "formats/lines/text.h"

namespace ecosort::keys {
namespace {

Coder coder_of_type(ValueType type) {
  switch (type) {
// NOLINTBEGIN(cppcoreguidelines-macro-usage): one case for each row of the table
#define ECOSORT_PLAIN(of_type, name, argument, text)
#define ECOSORT_CODED(of_type, name, argument, text) \
  case ValueType::of_type:                           \
    return code_##of_type;
    ECOSORT_VALUE_TYPES(ECOSORT_PLAIN, ECOSORT_CODED)
#undef ECOSORT_CODED
#undef ECOSORT_PLAIN
    // NOLINTEND(cppcoreguidelines-macro-usage)
    default:
      return nullptr;
  }
}

}  // namespace

Coder coder_of(const ValueKey& key) {
  if (key.type == ValueType::list) return list_coder(key.argument);
  if (key.argument.empty()) return coder_of_type(key.type);
  if (key.is_collated()) return nullptr;
  if (key.type == ValueType::number) return written_number_coder(key.argument);
  throw UsageError(
      fmt::format("key '{}': type {} has no options; leave '{}' out", key.name, type_word({"", key.type}), key.argument));
}

bool is_word(Text text, Text small) noexcept {
  if (text.size() != small.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (lines::to_upper(text[i]) != lines::to_upper(small[i])) return false;
  return true;
}

}  // namespace ecosort::keys
