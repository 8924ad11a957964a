// The order of a language, by the library ICU, which is loaded when the first key wants it.
#pragma once

#include <memory>
#include <string>

#include "base/text.h"
#include "formats/lines/code.h"

namespace ecosort::lines {

// The sort keys of ICU (Unicode Technical Standard 10) for one locale. Immutable; thread-safe.
class Collation {
 public:
  // "de", "zh", "root", with options as BCP 47 has them: "de-u-kn-true". UsageError for a locale that ICU does not know, for
  // options that mean nothing, and where there is no ICU.
  explicit Collation(const std::string& locale);

  [[nodiscard]] const std::string& locale() const noexcept { return locale_; }
  // Adds the sort key of a text, at least one byte, to a code without bytes; returns false for a text that is no UTF-8.
  [[nodiscard]] bool encode(Text text, Code& code) const;
  // The same, with U+FFFD in place of what is no UTF-8.
  void encode_any(Text text, Code& code) const;

 private:
  enum class Invalid : bool { is_refused, is_replaced };
  struct Opened;
  [[nodiscard]] bool encode(Text text, Code& code, Invalid invalid) const;

  std::string locale_;
  std::shared_ptr<const Opened> opened_;
};

// Names the version of ICU and of its data, on which the order depends: "ICU 72.1, collation 153.120". UsageError where there is
// no ICU.
[[nodiscard]] std::string collation_version();

}  // namespace ecosort::lines
