// Says what of a run came in order already, and where in the inputs it lies.
//
//   rows of the run, as they came   | ascend ............ | the rest ........ | ascend .......... |
//   pieces                          | of one input ............ | of another ..................... |
//
// A piece is rows that follow each other in one file without a gap. The look at each batch of rows, while they are in the cache,
// ends where the first row comes before the one in front of it; the rows at the end are looked at once the run is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/lines/index_lines.h"
#include "formats/lines/line_run.h"
#include "formats/row_format.h"

namespace ecosort::engine::rows {

// Rows [first, end) of a run, which ascend and lie in one file without a gap.
struct OrderedRows {
  std::size_t first = 0, end = 0;
  std::uint64_t input = 0;          // by its number
  std::uint64_t offset = 0;         // of the first row in the file
  std::size_t begin = 0, size = 0;  // bytes in the run
};

// The entry of a row, before the index is turned round: they are made from the top of the run downwards.
[[nodiscard]] inline const sorting::Entry& row_entry(const lines::LineRun& run, std::size_t row) noexcept {
  return *(run.top() - 1 - row);
}
// Keeps these rows alone, of so many bytes.
void keep_rows(lines::LineRun& run, std::size_t first, std::size_t end, std::uint64_t line_bytes) noexcept;

// Finds the order of one run buffer. No two threads at the same time.
class BufferOrder {
 public:
  // Says where the rows of a batch come from; nothing: from where they cannot be read again.
  struct Origin {
    std::uint64_t input = 0, offset = 0;
  };

  void begin() { *this = {}; }

  // The rows from `before` on were entered, from byte `from` of the run on.
  void add(const lines::LineRun& run, const formats::RowFormat& format, const lines::Indexed& batch, std::size_t before,
           std::size_t from, std::optional<Origin> origin, unsigned threads);

  // All of the run was added. Whether all rows ascend.
  [[nodiscard]] bool is_all(const lines::LineRun& run) const noexcept { return ordered_ == run.count; }
  // The rows from the first one on that ascend in one piece. Nothing: they are in no piece.
  [[nodiscard]] std::optional<OrderedRows> beginning(const lines::LineRun& run) const;
  // The rows from row `from` on to the last one, as many as ascend in one piece.
  [[nodiscard]] std::optional<OrderedRows> ending(const lines::LineRun& run, const formats::RowFormat& format,
                                                  std::size_t from) const;

  // Returns the bytes of the longest of all rows, with its end.
  [[nodiscard]] std::size_t longest() const noexcept { return longest_; }

 private:
  struct Piece {
    std::size_t first = 0, end = 0;            // rows
    std::size_t begin_byte = 0, end_byte = 0;  // in the run
    Origin origin;
  };

  [[nodiscard]] static OrderedRows part_of(const lines::LineRun& run, const Piece& piece, std::size_t first, std::size_t end);

  std::vector<Piece> pieces_;
  std::size_t ordered_ = 0;  // rows from the first one on that ascend
  std::size_t longest_ = 0;
};

}  // namespace ecosort::engine::rows
