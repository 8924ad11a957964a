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
#include "lines/line_blocks.h"
#include "lines/line_order.h"
#include "lines/line_plan.h"
#include "pipeline/compute.h"
#include "records/multiset_hash.h"

namespace ecosort::lines {

// What is merged: a stored run, or a file that somebody sorted.
struct MergeInput {
  StoredRun run;  // its file is that of a plain file as well
  std::string name;
  bool is_plain = false;
};

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
  struct Source;
  class Tree;
  enum class Reason : std::uint8_t { block_full, needs_block, finished };

  Task<void> start();
  Task<void> next_line_begins(std::size_t source);
  Task<void> next_block(Source& source);
  void request(Source& source);
  Task<void> load(Source& source, unsigned slot, std::uint64_t block);
  [[nodiscard]] bool find_line(Source& source);
  void keep_last_line(const Source& source);
  [[nodiscard]] Buffer allocate(const Source& source, std::size_t bytes);
  Task<void> make_room(Source& source, std::size_t tail);
  Reason merge_some(char* block, std::size_t capacity);
  bool emit(char* block, std::size_t capacity);
  bool choose();
  void release_consumed(Source& source);
  [[noreturn]] void out_of_order() const;

  io::Reactor& reactor_;
  pipeline::Compute& compute_;
  RunFiles& files_;
  const LinePlan& plan_;
  const LineOrder& order_;
  MemoryBudget& budget_;
  MergeTerms terms_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::unique_ptr<Tree> tree_;
  Buffer memory_, last_memory_;
  TaskGroup background_;
  Signal loaded_;
  MergedLines merged_;

  std::size_t filled_ = 0;  // bytes in the block
  Text emitting_;           // the rest of the present line that is not in a block yet
  bool is_emitting_ = false;
  std::size_t waiting_ = 0;  // the source that needs a block
  bool has_last_ = false;
  Text last_;  // the line that went out last, or its copy
  records::KeyWindow last_window_{};
  std::size_t last_source_ = 0;
};

}  // namespace ecosort::lines
