// The columns of the files: what the headers say, and where the keys are.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "formats/csv/dialect.h"
#include "formats/keys/key_words.h"

namespace ecosort::csv {

// Counts what of an input is in front of its first row.
struct BeforeRow {
  std::size_t lines = 0, bytes = 0;
};

// Names of the first header; other files must have the same, in the same order.
class Columns {
 public:
  explicit Columns(Dialect dialect, bool has_header) : dialect_(dialect), has_header_(has_header) {}

  // It must be called before take().
  void set_delimiter(Delimiter delimiter) noexcept { dialect_.delimiter = delimiter; }
  // The first row of an input, without its end. UsageError where it cannot be read, or does not agree with that of the first one.
  void take(const std::string& input, Text row, BeforeRow before = {});

  // Return whether take() was called, and how many columns there are then.
  [[nodiscard]] bool are_known() const noexcept { return count_ > 0; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  // Returns the names in the header; without one there are none.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

  // Number of the key's column, from 0 on: by its name, else by its place, "#1" being the first. Without a header by its number.
  // UsageError where there is none, or several.
  [[nodiscard]] std::size_t find(const ValueKey& key) const;

  // Returns the delimiter under which the row has as many fields as the first one, if it is another one; for a message.
  [[nodiscard]] std::optional<Delimiter> delimiter_for_row(Text row) const;

 private:
  [[nodiscard]] std::size_t find_number(const std::string& text) const;
  [[noreturn]] void refuse_name(const std::string& name) const;
  [[nodiscard]] std::optional<std::size_t> find_place(const std::string& text) const;
  [[nodiscard]] std::optional<Delimiter> delimiter_for(const std::string& name) const;
  void compare(const std::string& input, const std::vector<std::string>& names) const;

  Dialect dialect_;
  bool has_header_;
  std::size_t count_ = 0;
  std::string first_input_, first_row_;
  std::vector<std::string> names_;
};

}  // namespace ecosort::csv
