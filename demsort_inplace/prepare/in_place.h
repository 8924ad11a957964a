// A file of fixed records that is to be sorted in its own space: checked, opened, and planned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demsort_inplace/space_plan.h"
#include "demsort_inplace/workbench.h"
#include "ecosort/request.hpp"
#include "engine/fixed/sort.h"
#include "io/file.h"
#include "io/posix_storage.h"
#include "plan/machine.h"

namespace ecosort::inplace {

inline constexpr std::uint64_t no_space_limit = std::uint64_t{1} << 62U;

// A file that was found fit, and how it is to be sorted.
struct PreparedInPlace {
  io::FilePtr input;  // null: the size was assumed
  planner::Machine machine;
  planner::Wanted wanted;
  std::uint64_t free_bytes = 0;  // on its file system, or as much of it as may be taken; no_space_limit for an assumed one
  std::uint64_t held_bytes = 0;  // of these, what the file system may keep
  SpaceChoice choice;            // `least` is set where there is a record to sort, `best` where it fits
};

// Checks everything, changes nothing. UsageError, NotEnoughMemory. Whether the space suffices is left to require_space(). Of a
// request without an input, a plan is made for `assumed_bytes`.
[[nodiscard]] PreparedInPlace prepare_in_place(const Request& request, std::uint64_t assumed_bytes, io::PosixStorage& storage);

// The plan to follow. NoSpaceInPlace; UsageError for a quota.
[[nodiscard]] const SpacePlan& require_space(const Request& request, const PreparedInPlace& prepared);

// Sorts it; what start() throws.
[[nodiscard]] engine::SortReport run_in_place(const Request& request, PreparedInPlace prepared, const Environment& environment);

}  // namespace ecosort::inplace
