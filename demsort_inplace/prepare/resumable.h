// A sort of fixed records into another file that is to outlive a crash: checked, opened, and planned.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demsort_inplace/space_plan.h"
#include "demsort_inplace/workbench.h"
#include "engine/fixed/read_ahead.h"
#include "engine/fixed/sort.h"
#include "io/posix_storage.h"
#include "job/prepare_records.h"
#include "plan/machine.h"

namespace ecosort::inplace {

// Everything checked and opened; nothing created.
struct PreparedResumable {
  std::vector<engine::Input> inputs;
  std::string output;  // links followed
  planner::Machine machine;
  planner::Wanted wanted;
  Ground ground{Mode::beside_input};
  bool is_assumed = false;       // the inputs are not there
  std::uint64_t free_bytes = 0;  // on the output's file system; no_space_limit where it is assumed
  SpaceChoice choice;            // `least` is set where there is a record to sort, `best` where it fits
};

// Of `request` the inputs, output, format, memory, threads and compression count. Nothing to sort leaves `choice` empty.
// UsageError for what cannot be resumed, NotEnoughMemory. Whether the space suffices is left to require_space(). With
// `assumed_records`: to be planned only, for as many that are not there, with all the space that it wants.
[[nodiscard]] PreparedResumable prepare_resumable(const Request& request, io::PosixStorage& storage,
                                                  std::uint64_t assumed_records = 0);

// The plan to follow; NotEnoughSpace.
[[nodiscard]] const SpacePlan& require_space(const PreparedResumable& prepared);

// Sorts them; what start_resumable() throws. `threads`: as asked for, 0: as many as there are processors whenever it continues.
[[nodiscard]] engine::SortReport run_resumable(const Request& request, PreparedResumable prepared,
                                               const Environment& environment);

}  // namespace ecosort::inplace
