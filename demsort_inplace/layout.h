// The numbers of an in-place job: which records make which run, how long every file is at every moment, how much space that
// takes.
//
// Pure integer arithmetic; a job keeps them in its journal, so that a resumption computes the same. DESIGN.md derives the
// bound.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/memory.h"
#include "planner/plan.h"
#include "run/run_block.h"

namespace ecosort::demsort_inplace {

// A run is a piece of the input; piece 0 is its tail.
//
//   input     | piece k-1 | ... | piece 1 | piece 0 |
//   run file  | description | run block n-1 | ... | run block 0 |    its smallest records at its end
struct Layout {
  std::uint64_t records = 0;
  std::uint32_t record_size = 0;
  planner::RunBlock run_block = {};
  std::uint64_t piece_records = 0;
  std::uint64_t unit = page_bytes;   // files are cut at multiples of this: a file system block, and a unit of direct I/O
  std::uint64_t head_bytes = 0;      // of each run file, for its description: whole units; 0: it has none
  std::uint64_t key_stride = 0;      // at the end of these, the keys of every so many run blocks (kept_keys.h); 0: none
  std::uint64_t interval_bytes = 0;  // so much output at least has room between checkpoints
  // Consumed run space is not given back before the end: where a file system could mix up blocks after a crash, or would not let
  // the output have them. Only for a job whose input is another file.
  bool keeps_runs = false;
  // Runs may be packed (run/packed_block.h): they go forward, and what is consumed is punched out behind their description. Each
  // is promised the space of its blocks as they are, and of their table; where runs keep it, by `assumed_ratio` (thousandths)
  // less.
  bool packs = false;
  std::uint64_t assumed_ratio = 0;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return records * record_size; }
  [[nodiscard]] std::uint64_t runs() const noexcept { return div_up(records, piece_records); }
  [[nodiscard]] std::uint64_t run_records(std::uint64_t run) const noexcept {
    return run + 1 < runs() ? piece_records : records - run * piece_records;
  }
  // Records of the input that are left once pieces 0 ... run-1 are gone.
  [[nodiscard]] std::uint64_t records_left(std::uint64_t run) const noexcept {
    return run < runs() ? records - run * piece_records : 0;
  }
  [[nodiscard]] std::uint64_t run_run_blocks(std::uint64_t run) const noexcept {
    return div_up(run_records(run), run_block.records);
  }
  // Returns the size of a run file of which `consumed` records are not needed any more; of one that may be packed the most that
  // it takes.
  [[nodiscard]] std::uint64_t run_file_bytes(std::uint64_t run, std::uint64_t consumed) const noexcept {
    if (packs && keeps_runs) return head_bytes + promised_bytes(run_run_blocks(run)) + table_bytes(run);
    if (keeps_runs) return head_bytes + run_run_blocks(run) * run_block.bytes;
    if (consumed == run_records(run)) return 0;
    return head_bytes + (run_run_blocks(run) - consumed / run_block.records) * run_block.bytes + table_bytes(run);
  }
  [[nodiscard]] std::uint64_t all_run_bytes() const noexcept;
  // Returns the bytes of a run that is not packed.
  [[nodiscard]] std::uint64_t plain_run_bytes(std::uint64_t run) const noexcept {
    return head_bytes + run_run_blocks(run) * run_block.bytes;
  }
  // Returns the most bytes of so many blocks that may be packed.
  [[nodiscard]] std::uint64_t promised_bytes(std::uint64_t blocks) const noexcept;
  // Returns the size of the table of a run's blocks, where they may be packed.
  [[nodiscard]] std::uint64_t table_bytes(std::uint64_t run) const noexcept;
  // Packed blocks, and their table, begin and end within units.
  [[nodiscard]] std::uint64_t cut_units_bytes() const noexcept { return packs && unit > page_bytes ? 3 * runs() * unit : 0; }

  // A file is never cut inside a unit that still holds a record that is needed.
  [[nodiscard]] std::uint64_t input_file_bytes(std::uint64_t records_left) const noexcept {
    return round_up(records_left * record_size, unit);
  }

  // Its length then: it is never made longer.
  [[nodiscard]] std::uint64_t input_length(std::uint64_t records_left) const noexcept {
    return std::min(bytes(), input_file_bytes(records_left));
  }

  // The output may run ahead of the space that the runs have given back by this much.
  [[nodiscard]] std::uint64_t slack_bytes() const noexcept;
  // Returns the bytes of all files but the journal, from the beginning to the end of the job.
  [[nodiscard]] std::uint64_t total_bytes() const noexcept;
  // Returns what of these the input does not hold already.
  [[nodiscard]] std::uint64_t extra_bytes() const noexcept { return total_bytes() - input_file_bytes(records); }
  // Returns what no one uses while run number `run` is being written.
  [[nodiscard]] std::uint64_t spare_bytes(std::uint64_t run) const noexcept;
  // Returns how much of the output may be allocated while the runs take `run_bytes`.
  [[nodiscard]] std::uint64_t output_room(std::uint64_t run_bytes) const noexcept;
};

// Returns the direction of its runs: where nothing is cut off, there is no need to begin at their end.
[[nodiscard]] inline run::Direction direction_of(const Layout& layout) noexcept {
  return layout.packs ? run::Direction::forward : run::Direction::backward;
}

// Returns what a plan of the engine has to know of it. `keeps_keys`: runs keep those of their forecast.
[[nodiscard]] planner::EqualRuns equal_runs(const Layout& layout, bool keeps_keys) noexcept;

// The most bytes of a batch that a checkpoint interval allows for: with four of them and four units it always gets ahead.
[[nodiscard]] std::uint64_t most_batch_bytes(const Layout& layout) noexcept;
// The shortest interval that is worth it: it has room for four batches, and makes at most about 4096 checkpoints.
[[nodiscard]] std::uint64_t least_interval_bytes(const Layout& layout) noexcept;

}  // namespace ecosort::demsort_inplace
