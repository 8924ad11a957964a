// Rows of CSV enter the index.
#include <algorithm>

#include "formats/csv/check_row.h"
#include "formats/csv/framer.h"

namespace ecosort::csv {
namespace {

// Where a border of a row is not its newline, or a quote is misplaced, and for rows longer than a stretch, rows are looked at
// one by one, until it shows which one is wrong.
class CsvFramer : public Framer {
 public:
  CsvFramer(const lines::LineRun& run, const CsvFormat& format, lines::Part& part) : Framer(run, format, part) {}

  std::size_t next(lines::HashedRow<CsvFramer>* rows, std::size_t most) {
    while (taken_ == rows_) {
      if (part_.fault || begin_ >= part_end_) return 0;
      scan();
    }
    const std::size_t count = std::min(rows_ - taken_, most);
    for (std::size_t i = 0; i < count; ++i) {
      if (is_careful_ ? !take_carefully(rows[i].row) : !take(rows[i].row)) {
        rows_ = taken_;
        part_end_ = part_.fault ? part_end_ : begin_;
        return i;
      }
      ++taken_;
    }
    return count;
  }

 private:
  void scan() {
    scan_stretch();
    is_careful_ = scan_.is_wrong || scan_.rows == 0 || !are_regular();
    rows_ = std::max<std::size_t>(scan_.rows, 1);
  }

  // Returns whether every row has as many fields as there are columns.
  [[nodiscard]] bool are_regular() const noexcept {
    if (scan_.rows * columns_ > scan_.count) return false;
    for (std::size_t i = 1; i <= scan_.rows; ++i)
      if (bytes_[at_ + scan_.offsets[i * columns_ - 1]] != '\n') return false;
    return true;
  }

  bool take(Row& row) {
    const CsvFormat::Fields fields = scanned_fields();
    return finish(row, fields, fields.borders[columns_ - 1], scan_.ends_inside);
  }

  bool take_carefully(Row& row) {
    formats::Inside inside;
    const char* const begin = bytes_ + begin_;
    const char* const end = format_.find_end(begin, bytes_ + part_end_, inside);
    if (end == nullptr) return false;
    const Text text(begin, static_cast<std::size_t>(end - begin));
    part_.has_quotes |= format_.has_marks(text);  // perhaps behind the stretch
    part_.fault = format_.look_at(text, borders_);
    if (part_.fault) {
      part_.fault->at += begin_;
      if (format_.is_blank_end({begin, run_.present - begin_})) part_.fault.reset();  // unless more comes
      return false;
    }
    return finish(row, {begin, 0, borders_.data()}, text.size(), true);
  }

  // False where a value is refused.
  bool finish(Row& row, const CsvFormat::Fields& fields, std::size_t end, bool may_have_ends) {
    row.text = Text(fields.bytes + fields.begin, end - fields.begin);
    row.window = format_.take_values(fields, part_.key_counts, part_.fault);
    if (part_.fault) [[unlikely]]
      part_.fault->at += static_cast<std::size_t>(fields.bytes - bytes_);
    if (format_.repeats_header(row.text, row.window)) [[unlikely]]
      take_header(static_cast<std::size_t>(row.text.data() - bytes_));
    if (part_.fault) [[unlikely]]
      return false;
    pass_row(row, may_have_ends);
    return true;
  }

  // A row at `at` equals the header.
  void take_header(std::size_t at) {
    if (format_.terms().strict) part_.fault = {at, std::string(is_header_again)};
    if (part_.header_rows++ == 0) part_.header_row = at;
  }

  std::size_t rows_ = 0;  // in the stretch
  bool is_careful_ = false;
};

}  // namespace

void CsvFormat::enter(lines::LineRun& run, lines::Part& part, lines::DuplicateFilter* seen) const {
  if (leaves_out_bad_rows() || !terms_.comment.empty()) return enter_leniently(run, part, seen);
  CsvFramer framer(run, *this, part);
  lines::enter_rows(run, framer, part, seen);
}

}  // namespace ecosort::csv
