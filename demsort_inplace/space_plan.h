// Divides the space that an in-place sort has: the size of its pieces, run blocks and checkpoint intervals.
//
// Pure integer arithmetic. Of all layouts that memory and space allow it takes the one that should be fastest; the least space
// with which there is any is what `ecosort plan inplace` prints and what a file system must have free.
#pragma once

#include <cstdint>
#include <optional>

#include "demsort_inplace/layout.h"
#include "planner/plan.h"

namespace ecosort::demsort_inplace {

// Says what gives up space to what.
enum class Mode : std::uint8_t {
  in_place,      // the input to the runs, the runs to the output
  beside_input,  // the runs to the output: the input stays
  keeping_runs,  // nothing: input, runs and output, each in full
};

// Says where a job takes its space.
struct Ground {
  Mode mode = Mode::in_place;
  std::uint64_t held_bytes = 0;  // counted as free by the file system, but not always given out (preflight.h)
  bool describes_runs = true;    // in place they are not where that alone would be too much
};

struct SpacePlan {
  Layout layout;
  planner::RecordPlan engine;
  std::uint64_t journal_bytes = 0;
  std::uint64_t metadata_bytes = 0;  // of the file system about our files: an allowance
  std::uint64_t held_bytes = 0;      // of the ground
  std::uint64_t output_bytes = 0;    // where the input stays: what the output takes in the end
  std::uint64_t checkpoints = 0;     // at most about so many
  [[nodiscard]] std::uint64_t need_bytes() const noexcept {
    return layout.extra_bytes() + output_bytes + journal_bytes + metadata_bytes + held_bytes;
  }
};

struct SpaceChoice {
  std::optional<SpacePlan> best;   // the fastest that fits; nothing: none does
  std::optional<SpacePlan> least;  // the one that needs the least space; nothing: the memory is too little for any

  [[nodiscard]] const SpacePlan& any() const { return best ? *best : *least; }
};

// Returns what the file system needs about so many files and extents of theirs: an allowance.
[[nodiscard]] std::uint64_t metadata_allowance(std::uint64_t files, std::uint64_t extents, std::uint64_t unit) noexcept;

// `wanted.input_alignment` is the layout's unit. In place runs have no descriptions where these would not fit, or would make the
// job a tenth slower: the least there is has none.
[[nodiscard]] SpaceChoice choose_space(const planner::Wanted& wanted, std::uint64_t free_bytes, const Ground& ground = {});

// The space with which more would gain little: the least one with which everything but moving the bytes takes at most a twentieth
// of the time that moving them at 1 GB/s does, or no longer than with any amount of space. Nothing: the memory is too little.
[[nodiscard]] std::optional<SpacePlan> recommended_space(const planner::Wanted& wanted, const Ground& ground = {});

// The least memory with which there is a layout at all, or up to a 64th more. UsageError where no memory is enough.
[[nodiscard]] std::uint64_t least_memory_bytes(planner::Wanted wanted, const Ground& ground = {});

}  // namespace ecosort::demsort_inplace
