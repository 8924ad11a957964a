// Finds in a file where rows begin: that is what a range of bytes comes to.
//
// The byte in front of a place shows it if rows have no quotes and escapes. If quotes may hold the ends of rows, all quotes are
// counted from a place on where none is open, so everything in front of the last place is read.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/memory.h"
#include "formats/row_format.h"
#include "io/file.h"

namespace ecosort::engine::partition {

// Reads through one small buffer, synchronously. One thread.
class RowBorders {
 public:
  // Rows begin at `first`. The file ends at `end`.
  RowBorders(const io::File& file, const formats::RowFormat& format, std::uint64_t first, std::uint64_t end);

  // Returns where the first row begins that does so at `place` or behind it; the end where none does. Places ascend. IoError.
  [[nodiscard]] std::uint64_t at_or_behind(std::uint64_t place);

 private:
  // The file's bytes from `at_` on, some of them.
  [[nodiscard]] Text bytes_here();
  void pass_until(std::uint64_t place);

  const io::File& file_;
  const formats::RowFormat& format_;
  MemoryBudget memory_;
  Buffer buffer_;
  std::uint64_t from_ = 0, got_ = 0;  // bytes of the file that it holds
  std::uint64_t at_, end_;            // a row begins at `at_` between two calls
  formats::Inside inside_;            // at `at_`
};

}  // namespace ecosort::engine::partition
