// CSV as a format of rows: fields, a header, typed keys. The order is stable; rows go out byte for byte as they came in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/csv/columns.h"
#include "formats/csv/csv_kernels.h"
#include "formats/csv/dialect.h"
#include "formats/csv/value.h"
#include "formats/keys/value_format.h"
#include "formats/row_format.h"

namespace ecosort::csv {

using keys::Key;
using keys::TimeFormat;
using keys::ValueKind;

struct CsvTerms {
  Dialect dialect;
  bool names_delimiter = false;  // an input that names another one is refused
  bool has_header = true;
  std::vector<ValueKey> keys;     // at least one
  bool nulls_first = false;       // values that are empty or unparsable: in front of all others, also of a key that descends
  bool strict = false;            // an unparsable value is an error
  std::string date_format;        // empty: ISO 8601
  bool rows_decide_last = false;  // rows with equal keys are ordered by all of their bytes
  std::optional<std::string> count_name = {};  // of the column in front of counted rows
  bool leaves_out_bad_rows = false;
  std::string comment = {};      // lines that begin so are no rows; empty: there are none
  std::uint64_t skip_lines = 0;  // of each input, in front of its header
};

// Complete when the first row of an input was taken, which says where the columns are; immutable from then on, but for the
// columns of further inputs, which are compared.
class CsvFormat final : public keys::ValueFormat<CsvFormat> {
 public:
  static constexpr Format kept_as = Format::csv;
  static constexpr bool checks_rows = true;
  static constexpr bool leaves_out_blank_rows = false;

  // UsageError for terms that cannot be.
  explicit CsvFormat(const CsvTerms& terms);
  [[nodiscard]] static std::unique_ptr<CsvFormat> of_order_bytes(ByteReader& in, std::uint64_t header_lines);

  [[nodiscard]] const CsvTerms& terms() const noexcept { return terms_; }
  [[nodiscard]] Dialect dialect() const noexcept { return dialect_; }
  [[nodiscard]] std::size_t column_count() const noexcept { return columns_.count(); }

  // Describes a row by its `borders`, column_count() offsets from `bytes` on, as Scan has them, of which the last one is its end,
  // and gives the window of level 0. Counts the values of all keys; a fault's place counts from `bytes` on.
  struct Fields {
    const char* bytes = nullptr;
    std::size_t begin = 0;
    const std::uint32_t* borders = nullptr;
  };
  [[nodiscard]] records::KeyWindow take_values(const Fields& row, std::vector<formats::KeyCounts>& counts,
                                               std::optional<formats::RowFault>& fault) const;
  void scan(const char* text, std::size_t size, Scan& scan) const noexcept { kernels_.scan(text, size, dialect_, scan); }
  // Why a row cannot be one, or nothing. Its fields go into `borders`.
  [[nodiscard]] std::optional<formats::RowFault> look_at(Text row, std::vector<std::uint32_t>& borders) const;

  [[nodiscard]] const char* row_end(const char* at, const char* end, formats::Inside& inside) const noexcept {
    return is_walked_ ? kernels_.find(at, end, dialect_, inside) : line_kernels_.find(at, end, '\n');
  }
  // Both of the row at `at`, which was checked, in one look at its bytes; null where it has quotes or does not end before `end`.
  [[nodiscard]] const char* plain_row_end(const char* at, const char* end, records::KeyWindow& window) const;
  // Returns whether the row, whose window of level 0 this is, has the values of the header.
  [[nodiscard]] bool repeats_header(Text row, records::KeyWindow window) const {
    return has_top_ && window == header_window_ && is_header(row);
  }
  // Returns whether the bytes have quotes or escapes.
  [[nodiscard]] bool has_marks(Text text) const noexcept {
    return (dialect_.quote && text.find(*dialect_.quote) != Text::npos) ||
           (dialect_.escape && text.find(*dialect_.escape) != Text::npos);
  }
  // Returns whether a line that begins here is no row.
  [[nodiscard]] bool is_comment(Text line) const noexcept { return !terms_.comment.empty() && line.starts_with(terms_.comment); }
  // Nothing where the row is as it should be; then its values are counted.
  [[nodiscard]] std::optional<formats::RowFault> check_row(Text row, std::vector<formats::KeyCounts>& counts) const;

  // Rows with escapes are copied one by one.
  [[nodiscard]] formats::Gather quoted_gather() const override { return dialect_.escape ? nullptr : kernels_.gather; }
  [[nodiscard]] std::vector<std::byte> order_bytes() const override;
  void enter(lines::LineRun& run, lines::Part& part, lines::DuplicateFilter* seen) const override;
  [[nodiscard]] std::size_t mark_bytes(Text first) const override { return formats::byte_order_mark_bytes(first); }
  // A line without anything in it, of a table with several columns, has no value in any.
  [[nodiscard]] bool is_blank_end(Text rest) const override {
    return columns_.count() > 1 && rest.find_first_not_of("\r\n") == Text::npos;
  }
  [[nodiscard]] const char* find_first_row_end(const char* at, const char* end) const override;
  [[nodiscard]] bool wants_first_row() const override { return wants_first_row_; }
  [[nodiscard]] formats::FirstRow take_first_row(const std::string& input, Text row) override;
  [[nodiscard]] bool keys_need_first_row() const override { return true; }
  [[nodiscard]] bool precedes_first_row(Text line) const override { return named_delimiter(line, dialect_).has_value(); }
  void begin_input() override;
  void go_on_in_input() override { wants_first_row_ = is_first_line_ = false; }
  void miss_first_row(const std::string& input) const override;
  [[nodiscard]] std::string_view missing_end(Text row, char before_end) const override;
  [[nodiscard]] std::optional<formats::RowFault> fault_in(Text beginning, bool is_all) const override;

  void count_in_front(Text row, std::uint64_t rows, formats::CountText& to) const override;
  [[nodiscard]] std::string top_of_counted(const std::string& top) const override;

 private:
  friend ValueFormat;

  [[nodiscard]] const char* find_walked_end(const char* at, const char* end, formats::Inside& inside) const override {
    return row_end(at, end, inside);
  }
  [[nodiscard]] bool is_header(Text row) const;
  void take_delimiter(const std::string& input, Delimiter delimiter);
  [[nodiscard]] formats::FirstRow take_line_before_rows(Text line);
  void check_count() const;
  [[nodiscard]] bool must_be_quoted(std::string_view name) const;
  [[nodiscard]] std::string quoted(std::string name) const;
  [[nodiscard]] std::string escaped(const std::string& name) const;
  template <class Use>
  decltype(auto) with_value(Text row, unsigned level, const Use& use) const {
    return csv::with_value(field_of(row, level), dialect_, use);
  }
  [[nodiscard]] Text field_of(Text row, unsigned level) const noexcept;
  [[nodiscard]] Text field_of(const Fields& row, unsigned level) const noexcept;
  void count(unsigned level, ValueKind kind, const Fields& row, std::vector<formats::KeyCounts>& counts,
             std::optional<formats::RowFault>& fault) const;

  const CsvKernels& kernels_;
  const lines::LineKernels& line_kernels_;
  const CsvTerms terms_;
  Dialect dialect_;
  Columns columns_;
  std::unique_ptr<const TimeFormat> time_format_;
  std::vector<std::size_t> places_;  // columns of the keys
  bool wants_first_row_ = false, is_first_line_ = false, has_delimiter_line_ = false, has_top_ = false;
  std::size_t bytes_before_ = 0, lines_before_ = 0;  // of the present input, in front of its first row
  std::uint64_t lines_to_skip_ = 0;                  // likewise
  records::KeyWindow header_window_{};               // of a row like the header
  std::size_t header_bytes_ = 0;                     // of the header on top, with its end
};

}  // namespace ecosort::csv
