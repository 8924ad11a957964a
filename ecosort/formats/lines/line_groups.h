// Rows of several lines: so many each (FASTQ, mdb_load), or paragraphs, between which lines are empty (LDIF, recutils).
//
//   @read1 | ACGT | + | !!!!     one row of --record-lines 4; its text has the ends of its lines but the last one
//
// Keys are cut from the row as from a line: its fields run over the ends of its lines, which are blanks, as in `sort -z`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "formats/lines/line_order.h"
#include "formats/row_format.h"

namespace ecosort::lines {

// Says which lines belong together.
class LineGroups {
 public:
  static LineGroups paragraphs() noexcept { return LineGroups(0); }
  static LineGroups of_lines(std::uint64_t number) noexcept { return LineGroups(number); }

  // The end of the row that begins at `at`, or null. A paragraph ends with an empty line, or one that has only a carriage return.
  [[nodiscard]] const char* find_end(const char* at, const char* end) const noexcept;
  // An empty line in front of a paragraph.
  [[nodiscard]] bool is_blank(Text row) const noexcept { return lines_ == 0 && is_empty_line(row); }
  // Returns what the last row of an input lacks: a paragraph its empty line, and even the end of its last line.
  [[nodiscard]] std::string_view missing_end(Text row) const noexcept;
  // The last row of an input may have too few lines.
  [[nodiscard]] std::optional<formats::RowFault> fault_in(Text beginning, bool is_all) const;

 private:
  explicit LineGroups(std::uint64_t lines) noexcept : lines_(lines) {}
  [[nodiscard]] static bool is_empty_line(Text line) noexcept { return line.empty() || line == "\r"; }

  std::uint64_t lines_;  // of each row; 0: paragraphs
};

// Rows of several lines in the order of lines. Thread-safe.
class LineGroupOrder final : public formats::RowFormat {
 public:
  static constexpr bool checks_rows = false;
  static constexpr bool leaves_out_blank_rows = true;
  static constexpr bool rows_begin_anew = true;  // their ends show from their beginnings on alone
  static constexpr std::size_t hashed_end_bytes = 0;

  LineGroupOrder(LineGroups groups, const LineOrderTerms& terms);

  [[nodiscard]] formats::Gather quoted_gather() const override { return nullptr; }  // rows are copied one by one
  [[nodiscard]] const char* row_end(const char* at, const char* end, formats::Inside& /*inside*/) const noexcept {
    return groups_.find_end(at, end);
  }
  [[nodiscard]] bool is_blank(Text row) const noexcept { return groups_.is_blank(row); }
  [[nodiscard]] records::KeyWindow window(Text row) const { return order_.window(row); }
  [[nodiscard]] records::KeyWindow entry_window(Text row) const { return order_.window(row); }

  void enter(LineRun& run, Part& part, DuplicateFilter* seen) const override;
  [[nodiscard]] std::string_view missing_end(Text row, char /*before_end*/) const override { return groups_.missing_end(row); }
  [[nodiscard]] std::optional<formats::RowFault> fault_in(Text beginning, bool is_all) const override {
    return groups_.fault_in(beginning, is_all);
  }
  [[nodiscard]] records::KeyWindow window(Text row, unsigned level, std::size_t depth) const override {
    return order_.window(row, level, depth);
  }
  [[nodiscard]] formats::KeyPlace behind_first(records::KeyWindow window) const override { return order_.behind_first(window); }
  // Never KeyBytes::of_row: what reads rows as they are takes the first terminator for their end.
  [[nodiscard]] formats::KeyBytes key_bytes(unsigned level) const override;
  [[nodiscard]] std::size_t common_bytes(Text a, Text b, unsigned level, std::size_t skip) const override {
    return order_.common_bytes(a, b, level, skip);
  }
  [[nodiscard]] bool is_cut(records::KeyWindow window, unsigned level) const override { return order_.is_cut(window, level); }
  [[nodiscard]] bool has_deeper_window(records::KeyWindow window, unsigned level) const override {
    return order_.has_deeper_window(window, level);
  }

 private:
  [[nodiscard]] const char* find_walked_end(const char* at, const char* end, formats::Inside& /*inside*/) const override {
    return groups_.find_end(at, end);
  }
  [[nodiscard]] int compare_levels(Text a, Text b, unsigned level, unsigned end) const override {
    return order_.compare_some(a, b, level, end);
  }

  LineGroups groups_;
  LineOrder order_;
};

}  // namespace ecosort::lines
