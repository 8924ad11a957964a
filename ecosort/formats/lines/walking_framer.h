// Enters rows of several lines into the index, one by one.
#pragma once

#include <cstddef>

#include "formats/lines/enter_rows.h"

namespace ecosort::lines {

// `rows` is their format: find_end() says where each ends, is_blank() which are left out, entry_window() what the entry of a row
// has of its key.
template <class Rows>
class WalkingFramer {
 public:
  struct Row {
    Text text;
    [[nodiscard]] Text hashed() const noexcept { return {text.data(), text.size() + Rows::hashed_end_bytes}; }
  };

  WalkingFramer(const LineRun& run, const Rows& rows, Part& part)
      : bytes_(run.bytes()), rows_(rows), part_(part), begin_(part.begin) {
    part.has_quotes = true;  // terminators lie inside of rows
  }

  std::size_t next(HashedRow<WalkingFramer>* rows, std::size_t most) {
    std::size_t count = 0;
    while (count < most && begin_ < part_.end) {
      formats::Inside inside;
      const char* const end = rows_.find_end(bytes_ + begin_, bytes_ + part_.end, inside);
      if (end == nullptr) break;
      const Text row(bytes_ + begin_, static_cast<std::size_t>(end - bytes_) - begin_);
      begin_ += row.size() + 1;
      if constexpr (Rows::hashed_end_bytes == 0)  // its lines count where a message says where a row is
        part_.ends_inside += line_kernels().count(row.data(), row.size(), '\n');
      if (rows_.is_blank(row)) {
        leave_out(part_, row);
        ++part_.blank_lines;
      } else {
        rows[count++].row.text = row;
      }
    }
    return count;
  }
  [[nodiscard]] records::KeyWindow window(const Row& row) const { return rows_.entry_window(row.text); }
  [[nodiscard]] std::size_t end() const noexcept { return begin_; }

 private:
  const char* bytes_;
  const Rows& rows_;
  Part& part_;
  std::size_t begin_;  // of the next row
};

}  // namespace ecosort::lines
