// Run formation: each run that is full is sorted and stored while the next one is read.
//
//   read | index (read_lines) -> sort the index -> drop lines of groups (-u) -> gather into blocks -> write
//
// Rows that came in order are not sorted, nor stored if they can be read again: they become a run that lies in its input
// (RowsInInput), and if it continues in the next buffer the same run grows.
//
//   buffer   | goes on the run before | sorted and stored | a run in the input, or sorted with the rest where it is short |
//
// Run buffers are a counted resource, first come first served. A run is one task from its sort to its last block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/task.h"
#include "engine/group_policy.h"
#include "engine/pace_meter.h"
#include "engine/rows/input_order.h"
#include "engine/rows/limit_rows.h"
#include "engine/rows/line_blocks.h"
#include "engine/rows/merge_tree.h"
#include "engine/rows/read_lines.h"
#include "engine/rows/row_tools.h"
#include "formats/lines/duplicate_filter.h"
#include "formats/lines/gather_lines.h"
#include "hash/multiset_hash.h"

namespace ecosort::engine::rows {

// Reading when a run was full, since the reader was made.
struct ReadSoFar {
  ReadPlace next;                 // of the first line that is in no run yet
  hash::MultisetHash all, seen;   // of the lines before, and of those among them that the reader dropped
  std::uint64_t blank_lines = 0;  // among these
  std::vector<formats::KeyCounts> key_counts;
  formats::RepeatedHeader repeated_header;
};

// Makes runs that outlive the process. Coordinator only.
class LineRunKeeper {
 public:
  LineRunKeeper() = default;
  LineRunKeeper(const LineRunKeeper&) = delete;
  LineRunKeeper& operator=(const LineRunKeeper&) = delete;
  virtual ~LineRunKeeper() = default;

  // The file of run `number` of this formation, with space for `bytes` of lines. Runs may ask in any order, and be kept waiting.
  [[nodiscard]] virtual Task<run::RowRun> create(std::size_t number, std::uint64_t bytes) = 0;
  // All of it is written: lines with the hash `written`; `dropped` of its lines are equal to others in it.
  [[nodiscard]] virtual Task<void> after_store(std::size_t number, const run::RowRun& run, const ReadSoFar& read,
                                               const hash::MultisetHash& written, const hash::MultisetHash& dropped) = 0;
};

// Coordinator only; must outlive its task.
class FormLineRuns {
 public:
  FormLineRuns(const RowTools& tools, ReadLines& reader, std::vector<lines::DuplicateFilter>& seen, const GroupPolicy& groups);

  // Reads to the end of the inputs. Where all lines fit one run, that stays in memory: resident(). With a keeper every run is
  // stored, by its rules, and its lines are hashed and compared with their neighbours as they are written.
  [[nodiscard]] Task<void> form(std::vector<MergeInput>& runs, LineRunKeeper* keeper = nullptr);
  // Before form(): the packer learns before each run how fast drives and processors are. Of streams no one knows what they wait
  // for: then what was written shows it.
  void tell_pace(run::RunPacker& packer, bool inputs_are_files) noexcept {
    packer_ = &packer;
    inputs_are_files_ = inputs_are_files;
  }

  // Before form(), without a keeper and without runs in the inputs: only the first rows of the order are wanted.
  void set_limit(LimitRows& limit) noexcept { limit_ = &limit; }

  // Before form(), without a keeper: runs may lie in the inputs, which stay as they are until the runs are merged.
  void leave_in_inputs() noexcept { leaves_in_inputs_ = true; }

  [[nodiscard]] lines::LineRun* resident() const noexcept { return resident_; }
  // Returns the hash of lines that were dropped after they were sorted.
  [[nodiscard]] const hash::MultisetHash& dropped() const noexcept { return dropped_; }

  // Orders a run, and drops lines that are equal to others of it, which are returned.
  [[nodiscard]] Task<hash::MultisetHash> sort(lines::LineRun& run);
  // Puts all lines into blocks of the sink, and waits until they are written.
  [[nodiscard]] Task<void> gather_to(lines::RowSource& gather, LineSink& sink);

 private:
  Task<void> read_runs();
  Task<void> fill(lines::LineRun& run);
  Task<std::optional<std::size_t>> leave_ordered(lines::LineRun& run);
  [[nodiscard]] bool goes_on(const lines::LineRun& run, const OrderedRows& rows) const;
  [[nodiscard]] bool is_worth_a_run(const lines::LineRun& run, const OrderedRows& rows) const;
  void leave_in_input(const lines::LineRun& run, const OrderedRows& rows);
  Task<void> store(lines::LineRun& run, std::size_t number, ReadSoFar read);
  Task<void> gather_blocks(lines::RowSource& gather, LineSink& sink);
  void make_seen();
  [[nodiscard]] ReadSoFar read_so_far() const;

  const RowTools tools_;
  ReadLines& reader_;
  std::vector<lines::DuplicateFilter>& seen_;
  GroupPolicy groups_;
  LimitRows* limit_ = nullptr;
  bool leaves_in_inputs_ = false;
  BufferOrder order_;                    // of the run that is read
  std::optional<std::string> last_row_;  // of the last run, if it lies in an input and may go on
  std::uint64_t last_input_ = 0;         // by its number, likewise
  LineRunKeeper* keeper_ = nullptr;
  run::RunPacker* packer_ = nullptr;
  bool inputs_are_files_ = true;
  std::optional<PaceMeter> pace_;
  std::vector<MergeInput>* runs_ = nullptr;
  Buffer seen_memory_;
  std::vector<lines::LineRun> run_buffers_;
  std::vector<lines::LineRun*> idle_runs_;
  lines::LineRun* resident_ = nullptr;
  hash::MultisetHash dropped_;
  TaskGroup storing_;
  Semaphore free_runs_;
};

}  // namespace ecosort::engine::rows
