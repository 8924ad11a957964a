// Rows of a part are taken out of stretches of bytes that the kernel has scanned, each of which begins with a row:
//
//   stretch | row ...,...,...\n | row ...,...,...\n | beginning of a row      the borders of row i among those that were found
//   are
//             0   1   2           3   4   5                                   i * columns ... i * columns + columns - 1
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/csv/csv_format.h"
#include "formats/lines/enter_rows.h"

namespace ecosort::csv {

// Has what framers have in common.
class Framer {
 public:
  struct Row {
    Text text;
    records::KeyWindow window;
  };

  [[nodiscard]] static records::KeyWindow window(const Row& row) noexcept { return row.window; }
  [[nodiscard]] std::size_t end() const noexcept { return begin_; }

 protected:
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

  // Returns the size of the stretch.
  std::size_t scan_stretch() {
    at_ = begin_;
    taken_ = 0;
    const std::size_t size = std::min(lines::split_bytes, part_end_ - at_);
    format_.scan(bytes_ + at_, size, scan_);
    part_.has_quotes |= scan_.has_quotes;
    return size;
  }

  // Describes the next row of the stretch, where borders count from the stretch on.
  [[nodiscard]] CsvFormat::Fields scanned_fields() const noexcept {
    return {bytes_ + at_, begin_ - at_, scan_.offsets + taken_ * columns_};
  }

  // The row goes into the index.
  void pass_row(const Row& row, bool may_have_ends) {
    if (may_have_ends) part_.ends_inside += lines::line_kernels().count(row.text.data(), row.text.size(), '\n');
    begin_ += row.text.size() + 1;
  }

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
};

}  // namespace ecosort::csv
