// Divides memory and space of a sort of lines in place (DESIGN.md, "Lines in place", derives the bounds).
//
// Pure integer arithmetic. Runs are counted for the worst lines there can be, so that what is planned holds for all: of what the
// lines are like nothing is known before they are read. Of all plans that memory and space allow it takes the one with the most
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "demsort_inplace/job_records.h"
#include "planner/line_plan.h"

namespace ecosort::demsort_inplace {

struct LinesInPlace {
  planner::LinePlan plan;
  JobHeader header;                  // with all that the layout decides
  std::uint64_t runs = 0;            // at most
  std::uint64_t journal_bytes = 0;   // has a place for each of them
  std::uint64_t metadata_bytes = 0;  // of the file system about our files: an allowance
  std::uint64_t held_bytes = 0;      // counted as free by the file system, but not always given out
  std::uint64_t checkpoints = 0;     // at most about so many

  // Returns what FILE does not hold already of all files but the journal.
  [[nodiscard]] std::uint64_t extra_bytes() const noexcept;
  [[nodiscard]] std::uint64_t need_bytes() const noexcept { return extra_bytes() + journal_bytes + metadata_bytes + held_bytes; }
};

struct LinesInPlaceChoice {
  std::optional<LinesInPlace> best;   // with the most memory that fits the space; nothing: none does
  std::optional<LinesInPlace> least;  // the one that needs the least space; nothing: the memory is too little for any
};

// `job`: what it is, with its input, unit, descriptions and words. `memory`: with which, at most.
[[nodiscard]] LinesInPlaceChoice choose_lines_in_place(const JobHeader& job, const planner::LinePlan& memory,
                                                       std::uint64_t free_bytes, std::uint64_t held_bytes);

// The least memory with which there is a plan at all.
[[nodiscard]] std::uint64_t least_lines_memory_bytes(const JobHeader& job, planner::LinePlan memory);

// The memory of such a job whose runs have these blocks. Nothing: it is too little.
[[nodiscard]] std::optional<planner::LinePlan> plan_in_place(const planner::LinePlan& memory, std::size_t block_bytes);

// Bytes, with its end, of the longest line that is sorted with this memory.
[[nodiscard]] std::uint64_t longest_line_in_place(const planner::LinePlan& plan) noexcept;

// Returns the most runs that run formation makes of lines of so many bytes, whatever they are like.
[[nodiscard]] std::uint64_t most_runs_in_place(const planner::LinePlan& plan, std::uint64_t bytes) noexcept;

// Returns the most bytes of all files of the job but the journal. `job` has its input, unit, descriptions, blocks and
// interval.
[[nodiscard]] std::uint64_t lines_total_bytes(const JobHeader& job, const planner::LinePlan& plan, std::uint64_t runs) noexcept;

// Run blocks of a run with so many bytes of lines that are not needed any more when the first `consumed` are not.
[[nodiscard]] std::uint64_t consumed_blocks(const JobHeader& header, std::uint64_t bytes, std::uint64_t consumed) noexcept;
// Returns what the file of the run takes by then.
[[nodiscard]] std::uint64_t run_file_bytes(const JobHeader& header, std::uint64_t bytes, std::uint64_t consumed) noexcept;

}  // namespace ecosort::demsort_inplace
