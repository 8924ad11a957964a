// The output of a sort of rows: one file as it is, one that is compressed, or several.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/memory.h"
#include "engine/rows/line_blocks.h"
#include "engine/rows/lines_sort.h"
#include "engine/rows/merge_parts.h"
#include "engine/rows/packed_sink.h"
#include "engine/rows/split_sink.h"

namespace ecosort::engine::rows {

// Coordinator only.
class RowOutput {
 public:
  // All outlive this.
  RowOutput(const LinesJob& job, Bench& bench, MemoryBudget& codec_memory) : job_(job), bench_(bench), memory_(codec_memory) {}

  // Takes the space that the output will take, so that a full drive shows before the work and no one else can fill it meanwhile.
  void reserve(io::File& file);
  // `top` stays on top; it may still grow until rows are written.
  void open(const RowTools& tools, const std::string& top);

  [[nodiscard]] LineSink& sink() const noexcept { return *out_; }
  // Null: the output is one file.
  [[nodiscard]] SplitSink* split() noexcept { return split_ ? &*split_ : nullptr; }
  // Returns what goes out first; where the output is split each file begins with what stays on top.
  [[nodiscard]] const std::string& beginning() const noexcept { return split_ ? nothing_ : *top_; }
  // So many bytes of rows will come.
  void set_total(std::uint64_t bytes);
  [[nodiscard]] Task<void> merge(MergeParts& parts);
  // All rows are there.
  [[nodiscard]] Task<void> complete();

  [[nodiscard]] std::uint64_t file_bytes() const { return packed_ ? packed_->file_bytes() : out_->bytes(); }
  void report_to(LinesReport& report) const;

 private:
  const LinesJob& job_;
  Bench& bench_;
  MemoryBudget& memory_;
  io::File* file_ = nullptr;
  bool is_reserved_ = false;
  const std::string* top_ = nullptr;
  const std::string nothing_;
  std::optional<OutputSink> sink_;
  std::optional<PackedSink> packed_;  // instead of it
  std::optional<SplitSink> split_;    // likewise
  LineSink* out_ = nullptr;           // the one of them that there is
};

}  // namespace ecosort::engine::rows
