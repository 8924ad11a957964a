// Reads what an output holds back from the device: its lines, their hash and their order.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/memory.h"
#include "engine/rows/row_tools.h"
#include "formats/lines/text.h"
#include "hash/multiset_hash.h"

namespace ecosort::engine::rows {

// The beginning of a file: whole lines, the first of which need not be in order.
struct WrittenLines {
  const io::File& file;
  std::uint64_t mark_bytes = 0;               // at the beginning, of no line
  std::uint64_t header_bytes = 0, bytes = 0;  // the mark is a part of the header, and that of all bytes
  std::size_t longest = 0;                    // at least that of the longest line, with its end
};

// Coordinator only; must outlive its task.
class RereadLines {
 public:
  // Uses two of the plan's blocks, which are a multiple of the file's alignment, and room for two lines.
  RereadLines(const ReadTools& tools, const WrittenLines& lines);

  // Returns what it takes of the budget.
  [[nodiscard]] static std::uint64_t memory_bytes(std::size_t longest, std::size_t block_bytes) noexcept;

  // Sets where a signal number may be found: run() then throws Interrupted. Outlives the task.
  void stop_for(const std::atomic<int>& interrupted) noexcept { interrupted_ = &interrupted; }

  [[nodiscard]] Task<void> run();

  [[nodiscard]] const hash::MultisetHash& hash() const noexcept { return hash_; }  // with the header's
  // Each line is complete, none is longer than it may be, and none comes before the one before it.
  [[nodiscard]] bool in_order() const noexcept { return in_order_; }

 private:
  Task<void> read(unsigned slot, std::uint64_t offset);
  void check(unsigned slot, std::uint64_t offset);
  void check_line(Text line, std::uint64_t offset);
  void keep_last();
  void carry_rest(unsigned slot);

  io::Reactor& reactor_;
  Compute& compute_;
  const formats::RowFormat& format_;
  const bool is_shuffle_;
  const std::size_t hashed_end_;
  formats::RecordMarker marker_;
  const WrittenLines lines_;
  const std::size_t block_bytes_, room_;
  Progress& progress_;
  const std::atomic<int>* interrupted_ = nullptr;
  Buffer memory_;
  std::byte* blocks_[2];    // room for a line's beginning lies before each
  std::byte* last_at_;      // room for a line
  formats::Inside inside_;  // at the end of what was looked at
  Text rest_;               // the beginning of a line whose end is in the next block
  Text last_;               // the line before; where it lies in a block, that is the present one
  bool has_last_ = false;
  hash::MultisetHash hash_;
  bool in_order_ = true;
};

}  // namespace ecosort::engine::rows
