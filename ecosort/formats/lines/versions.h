// -V: the order of version numbers in file names (coreutils manual, "Version sort ordering").
#pragma once

#include "formats/lines/text.h"

namespace ecosort::lines {

[[nodiscard]] int compare_versions(Text a, Text b) noexcept;

// compare_versions looks at these, one after the other, until something differs: the class, the name without its endings, the
// name.

// Names that come before all others, in their order: the empty one, ".", "..", those that begin with a dot.
enum class NameClass : unsigned char { empty, dot, two_dots, begins_with_dot, other };
[[nodiscard]] NameClass name_class(Text name) noexcept;

// Without the endings of the name, such as ".tar.gz": dots followed by a letter or ~ and then letters, digits and ~.
[[nodiscard]] Text without_endings(Text name) noexcept;

}  // namespace ecosort::lines
