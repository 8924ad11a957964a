#include "formats/lines/row_bound.h"

#include "formats/lines/index_lines.h"

namespace ecosort::lines {

RowBound::RowBound(const formats::RowFormat& format, const sorting::Entry& last, Text row)
    : format_(&format),
      window_{last.prefix, last.extension},
      decides_(tie_is_decided(format, {last.prefix, last.extension}, level_)) {
  if (!decides_ && row.size() <= most_kept) row_.emplace(row);
}

bool RowBound::is_before(const RowBound& other) const {
  if (format_ == nullptr || other.format_ == nullptr) return format_ == nullptr && other.format_ != nullptr;
  if (other.row_) return is_before(other.window_, *other.row_);
  if (window_ != other.window_) return window_ < other.window_;
  return row_.has_value();
}

bool RowBound::is_before(records::KeyWindow window, Text row) const {
  if (format_ == nullptr) return true;
  if (window_ != window) return window_ < window;
  return row_ && format_->compare(*row_, row, level_) < 0;
}

}  // namespace ecosort::lines
