// --debug warns of keys which may not mean what their author thinks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/lines/key_words.h"

namespace ecosort::lines {

// Holds the resolved keys in their order, with what they inherited.
struct KeysInUse {
  const std::vector<KeyWords>& keys;
  const KeyWords& global;
  bool is_global_only = false;  // the only key is the whole line with the global options
  bool has_last_resort = true;
  std::optional<char> separator;
};

// Lines as sort 9.1 writes them in the C locale, without the name of the program.
[[nodiscard]] std::vector<std::string> key_warnings(const KeysInUse& use);

}  // namespace ecosort::lines
