// The row at which the order is cut (`--limit`): as many rows as are wanted come no later than this row, and before it in the
// input. So a row that is read afterwards and does not come before it can be dropped. Mostly the windows show that, before
// anything of the row is kept.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "formats/lines/text.h"
#include "formats/row_format.h"
#include "sorting/entry.h"

namespace ecosort::lines {

// Immutable, and thread-safe.
class RowBound {
 public:
  // All rows are dropped.
  RowBound() = default;
  // `last`: the entry of the row; its first window.
  RowBound(const formats::RowFormat& format, const sorting::Entry& last, Text row);

  // Returns whether a row that is read later, with this first window, can be dropped.
  [[nodiscard]] bool is_behind(records::KeyWindow window, Text row) const {
    if (format_ == nullptr) return true;
    if (window.prefix != window_.prefix) return window.prefix > window_.prefix;
    if (window.extension != window_.extension) return window.extension > window_.extension;
    return decides_ || (row_ && format_->compare(row, *row_, level_) >= 0);
  }

  [[nodiscard]] records::KeyWindow window() const noexcept { return window_; }

  // Return whether its row comes before the other one, and does not equal it. Of a row that is too long to be kept it is only
  // known that it comes no later than the last one with its window, which counts as the row.
  [[nodiscard]] bool is_before(const RowBound& other) const;
  [[nodiscard]] bool is_before(records::KeyWindow window, Text row) const;

 private:
  static constexpr std::size_t most_kept = std::size_t{64}
                                           << 10U;  // bytes of the row: with a longer one windows alone are compared

  const formats::RowFormat* format_ = nullptr;
  records::KeyWindow window_{};
  unsigned level_ = 0;    // the first one to compare where windows are equal
  bool decides_ = false;  // rows with the window are equal
  std::optional<std::string> row_;
};

}  // namespace ecosort::lines
