// Divides the memory of a sort of rows. A pure integer function of the memory and the threads; lengths of lines show later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/memory.h"

namespace ecosort::planner {

inline constexpr unsigned most_blocks_at_once = 16;

struct LinePlan {
  std::uint64_t memory_bytes = 0;
  unsigned threads = 1;
  std::size_t block_bytes = 0;       // of runs, of reads, and of the output; whole pages
  unsigned write_blocks = 0;         // behind run formation and behind the merge
  unsigned blocks_at_once = 3;       // at most so many are filled between two words with the coordinator
  unsigned run_buffers = 2;          // one is read into while others are sorted and written
  std::size_t run_buffer_bytes = 0;  // of each
  std::size_t seen_bytes = 0;        // with -u: for what is known of lines that came before
  unsigned read_depth = 0, write_depth = 0;
  std::uint64_t spread_bytes = 0;        // of lines that become runs of about one size; 0: each fills its buffer
  std::size_t batch_size = SIZE_MAX;     // most runs merged at a time
  std::size_t most_programs = SIZE_MAX;  // most of them compressed: each has a process that reads it
  Pages pages = Pages::large;

  [[nodiscard]] std::uint64_t write_bytes() const noexcept { return std::uint64_t{block_bytes} * write_blocks; }
  // Returns what a merge has for its runs, and for a copy of the line that went out last.
  [[nodiscard]] std::uint64_t merge_bytes() const noexcept { return memory_bytes - write_bytes(); }
};

inline constexpr std::uint64_t least_line_memory_bytes = std::uint64_t{1} << 20U;

[[nodiscard]] LinePlan plan_lines(std::uint64_t memory_bytes, unsigned threads, std::size_t batch_size, bool unique);

// The same memory for an input that is known not to fit in a run buffer: three smaller ones, so that there is one to read into
// also while one run is sorted and another one is written. And larger blocks, where that leaves hundreds of runs to a merge,
// which needs two of each: large requests cost less.
[[nodiscard]] LinePlan plan_for_stored_runs(LinePlan plan);

// Smaller blocks where rows are so short that one merge has no room for all their runs, if it has room then: in parts at the same
// time, at most so many, where that is possible, too. Larger requests cost less than a second merge of all rows.
[[nodiscard]] LinePlan fit_blocks(const LinePlan& plan, std::uint64_t input_bytes, std::uint64_t rows,
                                  std::uint64_t most_parts = UINT64_MAX);

// Plans for runs that outlive the process, however few: their blocks may be given, because runs are there already (0:
// they may have any size). Nothing: the memory is too little for such blocks.
[[nodiscard]] std::optional<LinePlan> plan_for_kept_runs(LinePlan plan, std::size_t block_bytes);

// No plan of a job has more reads and writes under way: its queue is made before the journal says what the plan is.
inline constexpr unsigned most_kept_requests = 192;

// The same plan with as many bytes under way as with blocks of the usual size, where these are smaller. The job has
// `besides_bytes` more memory, for coders, from which that size follows.
[[nodiscard]] LinePlan with_usual_bytes_under_way(LinePlan plan, std::uint64_t besides_bytes = 0);

// Lines that fill so many run buffers are spread over as many runs as the loser tree that merges them has leaves: the merge costs
// the same, and smaller runs touch less memory, and less of it at a time. No more than fill the buffers where the merge has no
// memory for more.
[[nodiscard]] std::uint64_t spread_runs(const LinePlan& plan, std::uint64_t full_runs, std::size_t longest_line);

// The same memory for an input of a few MB, of so many bytes, which is sorted sooner than threads, large pages and a buffer of
// the whole memory are set up. Each run fills its buffer, and one holds such an input where the memory does.
[[nodiscard]] LinePlan plan_for_small_input(LinePlan plan, std::uint64_t input_bytes);

}  // namespace ecosort::planner
