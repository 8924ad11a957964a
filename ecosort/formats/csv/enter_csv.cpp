// Rows of CSV enter the index, taken out of stretches of bytes that the kernel has scanned, each of which begins with a row:
//
//   stretch | row ...,...,...\n | row ...,...,...\n | beginning of a row      the borders of row i among those that were found
//   are
//             0   1   2           3   4   5                                   i * columns ... i * columns + columns - 1
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "formats/csv/check_row.h"
#include "formats/csv/csv_format.h"
#include "formats/lines/enter_rows.h"
#include "formats/lines/pass_quotes.h"

namespace ecosort::csv {
namespace {

// The lines of a stretch that has anything but regular rows are looked at one by one:
//
//   a line that begins as a comment     is left out, whatever quotes it has
//   a line without anything in it       is left out where bad rows are
//   a row with a misplaced quote        ends with its line; where bad rows are left out, the next line is a row again
//   a row that has another fault        is left out as a whole, or ends the sort
//
// The kind of a line depends on the lines before it in the file alone: never on where batches and parts end. A batch is cut by
// counting quotes, which is wrong behind a line with an odd number of them that was left out: then the part ends there, and the
// rest of the batch is cut anew.
class Framer {
 public:
  struct Row {
    Text text;
    records::KeyWindow window;
  };

  Framer(const lines::LineRun& run, const CsvFormat& format, lines::Part& part)
      : run_(run),
        bytes_(run.bytes()),
        format_(format),
        part_(part),
        columns_(format.column_count()),
        begin_(part.begin),
        part_end_(part.end) {
    part.key_counts.resize(format.levels());
  }

  [[nodiscard]] static records::KeyWindow window(const Row& row) noexcept { return row.window; }
  [[nodiscard]] std::size_t end() const noexcept { return begin_; }

  std::size_t next(lines::HashedRow<Framer>* rows, std::size_t most) {
    std::size_t count = 0;
    while (count < most && begin_ < part_end_) {
      if (taken_ == regular_ && begin_ >= careful_until_) scan();
      const bool is_row = taken_ < regular_ ? take_regular(rows[count].row) : take_carefully(rows[count].row);
      count += is_row ? 1 : 0;
    }
    return count;
  }

 private:
  void scan() {
    at_ = begin_;
    taken_ = 0;
    const std::size_t size = std::min(lines::split_bytes, part_end_ - at_);
    format_.scan(bytes_ + at_, size, scan_);
    part_.has_quotes |= scan_.has_quotes;
    regular_ = scan_.is_wrong ? 0 : are_regular() ? scan_.rows : regular_rows();
    careful_until_ = regular_ == scan_.rows && regular_ > 0 ? 0 : at_ + size;
  }

  // Returns whether every row has as many fields as there are columns.
  [[nodiscard]] bool are_regular() const noexcept {
    if (scan_.rows * columns_ > scan_.count) return false;
    for (std::size_t i = 1; i <= scan_.rows; ++i)
      if (bytes_[at_ + scan_.offsets[i * columns_ - 1]] != '\n') return false;
    return true;
  }

  // Returns how many rows the stretch begins with that have as many fields as there are columns. A newline within one of them
  // ends a shorter row: three empty lines have as many borders as a row of three fields.
  [[nodiscard]] std::size_t regular_rows() const noexcept {
    std::size_t rows = 0, fields = 0;
    for (std::size_t i = 0; i < scan_.count; ++i) {
      const bool ends_row = bytes_[at_ + scan_.offsets[i]] == '\n';
      if (ends_row != (++fields == columns_)) break;
      if (!ends_row) continue;
      fields = 0;
      ++rows;
    }
    return rows;
  }

  bool take_regular(Row& row) {
    if (format_.is_comment(rest())) {
      take_line(&Framer::take_comment);
      return false;
    }
    const CsvFormat::Fields fields{bytes_ + at_, begin_ - at_, scan_.offsets + taken_ * columns_};
    ++taken_;
    return finish(row, fields, fields.borders[columns_ - 1], scan_.ends_inside);
  }

  bool take_carefully(Row& row) {
    if (format_.is_comment(rest())) {
      if (rest().find('\n') == Text::npos)
        part_end_ = begin_;
      else
        take_line(&Framer::take_comment);
      return false;
    }
    formats::Inside inside;
    const char* const begin = bytes_ + begin_;
    const char* const end = format_.find_end(begin, bytes_ + part_end_, inside);
    if (end == nullptr) return take_open_row(), false;
    const Text text(begin, static_cast<std::size_t>(end - begin));
    if (format_.leaves_out_bad_rows() && format_.is_blank_end(text)) {
      lines::leave_out(part_, text);
      ++part_.blank_lines;
      begin_ += text.size() + 1;
      return false;
    }
    part_.has_quotes |= format_.has_marks(text);  // perhaps behind the stretch
    if (auto fault = format_.look_at(text, borders_)) return take_no_row(text, std::move(*fault)), false;
    return finish(row, {begin, 0, borders_.data()}, text.size(), true);
  }

  // No row ends outside of quotes. Where a quote is misplaced before, or the input ends, the line is no row; else more may come.
  void take_open_row() {
    std::optional<formats::RowFault> fault;
    if (part_.is_last && format_.leaves_out_bad_rows()) {
      fault = split_row({bytes_ + begin_, run_.present - begin_}, format_.dialect(), run_.is_complete).fault;
      if (!fault && run_.is_complete) fault = {rest().size() - 1, "the row ends with an escape", true};
    }
    if (fault && rest().find('\n') != Text::npos)
      take_bad(rest(), std::move(*fault));
    else
      part_end_ = begin_;
  }

  // More may come behind blank lines, which are nothing but the end of an input unless rows follow.
  void take_no_row(Text text, formats::RowFault fault) {
    if (!format_.leaves_out_bad_rows() && format_.is_blank_end({bytes_ + begin_, run_.present - begin_}))
      part_end_ = begin_;
    else
      take_bad(text, std::move(fault));
  }

  void take_bad(Text row, formats::RowFault fault) {
    fault.at += begin_;
    if (!format_.leaves_out_bad_rows()) {
      part_.fault = std::move(fault);
      part_end_ = begin_;
    } else if (fault.is_of_quotes) {
      fault_ = std::move(fault);
      take_line(&Framer::take_bad_line);
    } else {
      leave_out_bad(row, std::move(fault));
    }
  }

  void leave_out_bad(Text row, formats::RowFault fault) {
    const bool may_go_on = lines::leave_out_bad(run_, part_, row, std::move(fault));
    part_.ends_inside += lines::line_kernels().count(row.data(), row.size(), '\n');
    begin_ += row.size() + 1;
    if (!may_go_on) part_end_ = begin_;
  }

  // The bytes up to the next newline are no row, so that their quotes mean nothing.
  void take_line(void (Framer::*take)(Text line)) {
    const Text line = rest().substr(0, rest().find('\n'));
    const bool has_marks = format_.has_marks(line);
    formats::Inside behind;
    if (has_marks) lines::pass_quotes(format_, line, behind);
    (this->*take)(line);
    if (taken_ < regular_) ++taken_;
    if (!has_marks) return;
    regular_ = taken_ = careful_until_ = 0;
    if (!behind.quotes || part_.is_last) return;
    part_.is_cut_wrong = true;
    part_end_ = begin_;
  }
  void take_comment(Text line) {
    lines::leave_out(part_, line);
    ++part_.comments;
    begin_ += line.size() + 1;
  }
  void take_bad_line(Text line) { leave_out_bad(line, std::move(fault_)); }

  // False where a value is refused.
  bool finish(Row& row, const CsvFormat::Fields& fields, std::size_t end, bool may_have_ends) {
    row.text = Text(fields.bytes + fields.begin, end - fields.begin);
    std::optional<formats::RowFault> fault;
    row.window = format_.take_values(fields, part_.key_counts, fault);
    const bool is_header = format_.repeats_header(row.text, row.window);
    if (is_header && format_.terms().strict) fault = formats::RowFault{fields.begin, std::string(is_header_again)};
    if (fault) [[unlikely]] {
      fault->at -= fields.begin;
      formats::uncount(part_.key_counts, [&](auto& counts, auto& again) { (void)format_.take_values(fields, counts, again); });
      take_bad(row.text, std::move(*fault));
      return false;
    }
    if (is_header && part_.header_rows++ == 0) part_.header_row = begin_;
    if (may_have_ends) part_.ends_inside += lines::line_kernels().count(row.text.data(), row.text.size(), '\n');
    begin_ += row.text.size() + 1;
    return true;
  }

  // Bytes from the next line on; one that lies behind the part belongs to another row.
  [[nodiscard]] Text rest() const noexcept { return {bytes_ + begin_, part_end_ - begin_}; }

  const lines::LineRun& run_;
  const char* bytes_;
  const CsvFormat& format_;
  lines::Part& part_;
  std::size_t columns_;
  std::size_t begin_;  // of the next row or line
  std::size_t part_end_;
  std::size_t at_ = 0;                  // of the stretch
  std::size_t taken_ = 0;               // rows of it
  std::vector<std::uint32_t> borders_;  // of a row that was looked at by itself
  Scan scan_;
  std::size_t regular_ = 0;        // rows that the stretch begins with
  std::size_t careful_until_ = 0;  // lines that begin before there are looked at one by one
  formats::RowFault fault_;
};

}  // namespace

void CsvFormat::enter(lines::LineRun& run, lines::Part& part, lines::DuplicateFilter* seen) const {
  Framer framer(run, *this, part);
  lines::enter_rows(run, framer, part, seen);
}

}  // namespace ecosort::csv
