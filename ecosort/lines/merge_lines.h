// The merge of sorted runs of lines, or of sorted files (-m), with bounded memory.
//
//   slot | room for a line's beginning | block |       two per source: one is merged while the next block is fetched into the
//   other;
//                               [ line..|..e.. ]       the line at the border is put together in front of the block behind
//
// The room is as long as the longest line of the run, which run formation recorded: with long lines fewer runs are merged at a
// time, and the memory stays what it is. Where even two runs do not fit that way, each has one slot. A plain file has a short
// room until it shows a longer line; then it gets one slot with more, up to a quarter of the memory, from memory kept for that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "io/reactor.h"
#include "lines/late_hash.h"
#include "lines/line_blocks.h"
#include "lines/line_kernels.h"
#include "lines/line_order.h"
#include "lines/line_plan.h"
#include "lines/merge_tree.h"
#include "pipeline/compute.h"
#include "records/multiset_hash.h"

namespace ecosort::lines {

struct MergedLines {
  records::MultisetHash in, out, dropped;
  std::size_t longest = 0;
};

struct MergeTerms {
  bool unique = false;
  bool must_be_ordered = true;  // VerificationError else; files of the user's may be in any order
  char terminator = '\n';
};

// How many of `inputs`, from `first` on, can be merged at once, and with how many slots each (0: not even two).
struct MergeFit {
  std::size_t inputs = 0;
  unsigned slots = 2;
};
[[nodiscard]] MergeFit fit_merge(const LinePlan& plan, const std::vector<MergeInput>& inputs, std::size_t first);

// One merge. Coordinator only; must outlive its task.
class MergeLines {
 public:
  MergeLines(io::Reactor& reactor, pipeline::Compute& compute, RunFiles& files, MemoryBudget& memory, const LinePlan& plan,
             const LineOrder& order, const MergeTerms& terms, std::vector<MergeInput> inputs, unsigned slots);
  ~MergeLines();

  // Appends to what is in `sink` already; `header` goes first.
  [[nodiscard]] Task<void> merge_to(LineSink& sink, const std::string& header);

  [[nodiscard]] const MergedLines& merged() const noexcept { return merged_; }

 private:
  enum class Reason : std::uint8_t { block_full, needs_block, finished };

  Task<void> start();
  Task<void> next_line_begins(std::size_t source);
  Task<void> next_block(MergeSource& source);
  Task<void> merge_all(LineSink& sink, std::vector<std::byte*>& blocks);
  void enter(MergeSource& source, unsigned slot, std::size_t tail);
  [[nodiscard]] bool advance(MergeSource& source);
  void refill();
  void request(MergeSource& source);
  Task<void> load(MergeSource& source, unsigned slot, std::uint64_t block);
  [[nodiscard]] bool find_line(MergeSource& source);
  void keep_last_line(const MergeSource& source);
  [[nodiscard]] Buffer allocate(const MergeSource& source, std::size_t bytes);
  Task<void> make_room(MergeSource& source, std::size_t tail);
  Reason merge_some(char* block, std::size_t capacity);
  std::size_t merge_blocks(const std::vector<std::byte*>& blocks, const LineSink& sink, Reason& reason);
  bool emit(const MergeSource& source, char* block, std::size_t capacity);
  bool go_on_emitting(char* block, std::size_t capacity);
  bool choose(const MergeSource& source);
  void release_consumed(MergeSource& source);
  [[noreturn]] void out_of_order() const;

  io::Reactor& reactor_;
  pipeline::Compute& compute_;
  RunFiles& files_;
  const LinePlan& plan_;
  const LineOrder& order_;
  const LineKernels& kernels_;
  MemoryBudget& budget_;
  MergeTerms terms_;
  std::vector<std::unique_ptr<MergeSource>> sources_;
  std::unique_ptr<MergeTree> tree_;
  Buffer memory_, last_memory_;
  TaskGroup background_;
  Signal loaded_;
  MergedLines merged_;
  LateHash out_;

  std::size_t filled_ = 0;            // bytes in the block
  Text emitting_;                     // the rest of the present line that is not in a block yet
  std::size_t waiting_ = 0;           // the source that needs a block
  std::vector<std::size_t> emptied_;  // sources that went on to another block: the one before may be fetched into
  bool has_last_ = false;
  Text last_;  // the line that went out last, or its copy
  records::KeyWindow last_window_{};
  std::size_t last_source_ = 0;
};

}  // namespace ecosort::lines
