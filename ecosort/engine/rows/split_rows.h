// Decides which of several outputs a row of a sorted sequence goes to.
//
//   rows=N    N rows each                    files=N   N files of about the same size
//   size=S    as many rows as fit S bytes    by=KEY    one value of the first key each, or one beginning of it
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "formats/row_format.h"

namespace ecosort::engine::rows {

enum class SplitKind : std::uint8_t { rows, size, files, key };

struct SplitTerms {
  SplitKind kind = SplitKind::rows;
  std::uint64_t count = 0;                 // of rows, bytes or files
  std::optional<std::size_t> beginning{};  // of `key`: bytes of the value that count; nothing: all of it
};

// Says where a file begins among some rows, and what its name says.
struct SplitPlace {
  std::size_t at = 0;
  std::string name;
  std::uint64_t rows_before = 0;  // of the file before
};

class SplitRows {
 public:
  SplitRows(const formats::RowFormat& format, const SplitTerms& terms) : format_(format), terms_(terms) {}

  // Before the first take(): what each file begins with, and the bytes of all rows.
  void set_top(std::uint64_t bytes) noexcept { top_bytes_ = bytes; }
  void set_total(std::uint64_t bytes) noexcept { total_bytes_ = bytes; }
  // Returns how many rows the present file has.
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }

  // Takes whole rows; returns where among them files begin. Any thread, one at a time. InputRefused where a value comes again
  // behind others.
  [[nodiscard]] std::vector<SplitPlace> take(Text rows);
  // No row follows: files that are to be there all the same.
  [[nodiscard]] std::vector<SplitPlace> end();

 private:
  void take_row(Text row, std::size_t at, std::vector<SplitPlace>& places);
  [[nodiscard]] bool begins_file(Text row) const;
  void take_value(Text row, std::size_t at, std::vector<SplitPlace>& places);
  [[nodiscard]] bool has_other_value(const std::optional<std::string>& value) const;
  void begin_file(std::size_t at, std::vector<SplitPlace>& places, std::string name);
  [[nodiscard]] std::string number() const;

  const formats::RowFormat& format_;
  const SplitTerms terms_;
  std::uint64_t top_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t files_ = 0;
  std::uint64_t rows_ = 0, bytes_ = 0;  // of the present file
  std::uint64_t all_bytes_ = 0;         // of rows
  std::optional<std::string> value_;    // of the present file, as far as it counts; nothing: rows without a value
};

// A part of a file's name that says a value, so that different values have different names: letters, digits, bytes beyond ASCII
// and some signs stay, others become %XX; what is too long is cut, and its hash put behind. Nothing: there is no value.
[[nodiscard]] std::string name_of_value(const std::optional<std::string>& value);

}  // namespace ecosort::engine::rows
