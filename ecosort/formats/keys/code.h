// Makes bytes that order the values of a type.
#pragma once

#include <functional>
#include <string>

#include "base/text.h"
#include "ecosort/request.hpp"
#include "formats/lines/code.h"

namespace ecosort::keys {

using lines::Code;

// Adds the bytes of a value, at least one, to a code that has none; returns false for a value that cannot be read as one of the
// type. Thread-safe.
using Coder = std::function<bool(Text value, Code& code)>;

// Returns the coder of the key's type and its argument; null where Key knows the type. UsageError for an argument that means
// nothing.
[[nodiscard]] Coder coder_of(const ValueKey& key);

// NOLINTBEGIN(cppcoreguidelines-macro-usage): one function for each row of the table
#define ECOSORT_PLAIN(type, name, argument, text)
#define ECOSORT_CODED(type, name, argument, text) [[nodiscard]] bool code_##type(Text value, Code& code);
ECOSORT_VALUE_TYPES(ECOSORT_PLAIN, ECOSORT_CODED)
#undef ECOSORT_CODED
#undef ECOSORT_PLAIN
// NOLINTEND(cppcoreguidelines-macro-usage)

// Coders of types with an argument.
[[nodiscard]] Coder list_coder(const std::string& values);
[[nodiscard]] Coder written_number_coder(const std::string& dialect);

// Returns whether the texts are equal where letters of either case are, and `small` has small ones.
[[nodiscard]] bool is_word(Text text, Text small) noexcept;

}  // namespace ecosort::keys
