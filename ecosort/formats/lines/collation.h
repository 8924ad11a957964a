// The order of a language, by the library ICU, which is loaded when the first key wants it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/text.h"

namespace ecosort::lines {

// The order of ICU (Unicode Technical Standard 10) for one locale. Immutable; thread-safe. What is no UTF-8 counts as U+FFFD.
class Collation {
 public:
  // "de", "zh", "root", with options as BCP 47 has them: "de-u-kn-true". UsageError for a locale that ICU does not know, for
  // options that mean nothing, and where there is no ICU.
  explicit Collation(const std::string& locale);

  [[nodiscard]] const std::string& locale() const noexcept { return locale_; }
  // Writes the bytes of the primary weights that the text's sort key begins with; returns how many, at most `room`. Texts whose
  // bytes differ compare as these do; others may differ all the same.
  [[nodiscard]] std::size_t first_weights(Text text, unsigned char* to, std::size_t room) const;
  [[nodiscard]] int compare(Text a, Text b) const;

 private:
  struct Opened;

  std::string locale_;
  std::shared_ptr<const Opened> opened_;
};

// Names the version of ICU and of its data, on which the order depends: "ICU 72.1, collation 153.120". UsageError where there is
// no ICU.
[[nodiscard]] std::string collation_version();

}  // namespace ecosort::lines
