// Takes merged or sorted rows as any sink does, and puts them into several files, one after the other.
//
//   blocks of rows   | ....... | ......: ......:. |       in their order; rows of two blocks are put together in `carry`
//   files            | top ..........:  | top .. :        each through a sink of its own, which may compress
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/rows/line_blocks.h"
#include "engine/rows/packed_sink.h"
#include "engine/rows/split_files.h"
#include "engine/rows/split_rows.h"

namespace ecosort::engine::rows {

// Says how a job writes several outputs.
struct SplitJob {
  std::string word;  // as it was given: "rows=1000"
  SplitTerms terms;
  SplitNames names;
  std::set<io::FileNumber> inputs;  // that no file of the split may replace
  std::uint64_t memory_bytes = 0;   // besides the plan's
};

// Coordinator only.
class SplitSink : public LineSink {
 public:
  // `codecs`: of the encoders, where the files are compressed. What `top` refers to is complete when the first row comes.
  SplitSink(const RowTools& tools, const SplitJob& job, const std::string& top, MemoryBudget& codecs,
            const std::optional<Packing>& packing);

  void set_total(std::uint64_t row_bytes) noexcept { rows_.set_total(row_bytes); }

  [[nodiscard]] std::size_t capacity() const noexcept override { return block_bytes_; }
  void complete(std::byte* /*block*/, run::BlockContents /*contents*/, std::uint64_t /*before*/) override {}
  void put(std::byte* block, std::size_t bytes) override;
  [[nodiscard]] Task<void> settle() override;

  // All rows were put: completes the last file.
  [[nodiscard]] Task<void> finish();
  // Then. Returns what a user should know; may be empty.
  [[nodiscard]] std::string publish(const hash::MultisetHash& rows) { return files_.publish(job_.word, rows); }

  [[nodiscard]] std::size_t files() const noexcept { return files_.files().size(); }
  [[nodiscard]] std::uint64_t plain_bytes() const noexcept { return plain_bytes_; }  // of all files, with their tops
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  [[nodiscard]] std::uint64_t peak_memory_bytes() const noexcept { return memory_.peak_bytes(); }

 private:
  Task<void> take_in_order(std::byte* block, std::size_t bytes, std::uint64_t number);
  Task<void> take_block(Text text);
  Task<void> take_rows(Text rows);
  Task<void> begin_file(const SplitPlace& place);
  Task<void> append(Text bytes);
  Task<void> end_file(std::uint64_t rows);
  void carry(Text part);
  // Takes what the row that is carried lacks from the text behind it. Returns how much that is; nothing: the row goes on.
  [[nodiscard]] std::optional<std::size_t> complete_carried(Text text);

  RowTools tools_;
  const SplitJob& job_;
  const std::string& top_;
  MemoryBudget memory_;
  BlockPool pool_of_files_;
  Buffer carry_;             // of a row that goes on in the next block
  std::size_t carried_ = 0;  // bytes
  formats::Inside inside_;   // at its end
  MemoryBudget& codecs_;
  const std::optional<Packing>& packing_;
  SplitRows rows_;
  SplitFiles files_;
  Signal turned_;
  std::uint64_t put_ = 0, taken_ = 0;  // blocks

  io::FilePtr file_;  // the present one
  std::optional<OutputSink> plain_;
  std::optional<PackedSink> packed_;  // in its place
  std::byte* filling_ = nullptr;
  std::size_t filled_ = 0;
  std::uint64_t plain_bytes_ = 0, file_bytes_ = 0;
};

}  // namespace ecosort::engine::rows
