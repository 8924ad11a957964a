// The output of a merge of lines that continues where an earlier one was interrupted.
//
//   output | ..... unit | unit ........        bytes before `place` are durable, and so is the rest of the unit that it lies in:
//             begin ^  ^ place                 that unit is compared with what comes, and not written again
//   block  | lead | lines ............
//
// The first block begins at the unit: its lead, the bytes before `place`, is what the merge puts in front of its lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/rows/line_blocks.h"

namespace ecosort::demsort_inplace {

// A unit of the output that is durable, whole.
struct DurableUnit {
  std::uint64_t begin = 0;       // in the output
  std::vector<std::byte> bytes;  // empty: it is to be written
};

// Coordinator only; as every LineSink. put() throws IoError where the unit is not what comes.
class AppendedLines : public engine::rows::LineSink {
 public:
  // The plan's blocks are a multiple of the unit.
  AppendedLines(const engine::rows::RowTools& tools, const io::File& file, DurableUnit unit);

  [[nodiscard]] std::size_t capacity() const noexcept override { return block_bytes_; }
  void complete(std::byte* block, run::BlockContents contents, std::uint64_t before) override;
  void put(std::byte* block, std::size_t bytes) override;

 private:
  Task<void> write_from(std::byte* block, std::size_t from, std::size_t to, std::uint64_t offset);

  const io::File& file_;
  std::vector<std::byte> unit_;  // to be compared
};

}  // namespace ecosort::demsort_inplace
