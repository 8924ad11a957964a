// The order of a language, by the library ICU, which is loaded when the first key wants it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/text.h"
#include "formats/records/encoder.h"

namespace ecosort::lines {

// The order of ICU (Unicode Technical Standard 10) for one locale. Immutable; thread-safe. What is no UTF-8 counts as U+FFFD.
class Collation {
 public:
  // "de", "zh", "root", with options as BCP 47 has them: "de-u-kn-true". UsageError for a locale that ICU does not know, for
  // options that mean nothing, and where there is no ICU.
  explicit Collation(const std::string& locale);

  [[nodiscard]] const std::string& locale() const noexcept { return locale_; }
  // A window of the text's primary weights (formats/row_format.h). Equal ones never mean equal texts.
  [[nodiscard]] records::KeyWindow window(Text text, std::size_t depth, bool descends) const;
  // Returns whether a deeper window has more weights, by the last byte of one that does not descend; else compare() decides.
  [[nodiscard]] static bool has_more_weights(unsigned char last_byte) noexcept { return last_byte == has_more; }
  [[nodiscard]] int compare(Text a, Text b) const;

 private:
  struct Opened;

  static constexpr unsigned char ends_here = 0x20, has_more = 0xf0;  // more than any number of bytes

  [[nodiscard]] std::size_t weights(Text text, std::size_t depth, unsigned char* to) const;

  std::string locale_;
  std::shared_ptr<const Opened> opened_;
};

// Names the version of ICU and of its data, on which the order depends: "ICU 72.1, collation 153.120". UsageError where there is
// no ICU.
[[nodiscard]] std::string collation_version();

}  // namespace ecosort::lines
