// Names of members.
#pragma once

#include <cstring>

#include "formats/jsonl/value.h"

namespace ecosort::jsonl {

// Returns whether the text between the quotes of a valid string, in which there may be escapes, is the name.
[[nodiscard]] inline bool is_name(Text raw, Text name) {
  if (raw.size() == name.size() && std::memcmp(raw.data(), name.data(), raw.size()) == 0)
    return raw.find('\\') == Text::npos;  // else it is longer than what it means
  return raw.size() > name.size() && raw.find('\\') != Text::npos && without_escapes(raw) == name;
}

}  // namespace ecosort::jsonl
