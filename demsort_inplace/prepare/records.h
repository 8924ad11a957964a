// A sort of fixed records as a job that outlives a crash: checked, opened, and planned; also one that is there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demsort_inplace/preflight.h"
#include "demsort_inplace/records_job.h"
#include "demsort_inplace/space_plan.h"
#include "demsort_inplace/workbench.h"
#include "ecosort/request.hpp"
#include "engine/fixed/read_ahead.h"
#include "engine/fixed/sort.h"
#include "io/posix_storage.h"
#include "planner/line_plan.h"
#include "planner/machine.h"

namespace ecosort::demsort_inplace::prepare {

inline constexpr std::uint64_t no_space_limit = std::uint64_t{1} << 62U;

// A queue with so many requests serves a job whatever its plan is: reads and writes, and a few besides.
inline constexpr unsigned job_queue_depth = planner::most_kept_requests + 16;

// Everything checked and opened; nothing created.
struct PreparedRecordsJob {
  std::string file;                          // whose job it is: in place FILE, else the output, links followed
  std::vector<engine::fixed::Input> inputs;  // in place FILE, which was found fit; none: the size was assumed
  planner::Machine machine;
  planner::Wanted wanted;
  Ground ground;
  bool is_assumed = false;       // the inputs are not there
  std::uint64_t free_bytes = 0;  // on the file system, or as much of it as may be taken; no_space_limit where it is assumed
  SpaceChoice choice;            // `least` is set where there is a record to sort, `best` where it fits

  [[nodiscard]] bool is_empty() const noexcept { return wanted.input_records == 0; }
  [[nodiscard]] const io::File& first_input() const { return *inputs.front().file; }
};

// Uses of the request inputs, output, format, place, memory, threads and compression. Nothing to sort leaves `choice` empty.
// UsageError for what cannot be, NotEnoughMemory. Whether the space suffices is left to require_space(). With `assumed_bytes`: to
// be planned only, for inputs that are not there.
[[nodiscard]] PreparedRecordsJob prepare_records(const Request& request, std::uint64_t assumed_bytes, io::PosixStorage& storage);

// The plan to follow. NotEnoughSpace, in place NoSpaceInPlace; UsageError for a quota.
const SpacePlan& require_space(const Request& request, const PreparedRecordsJob& prepared);

// Sorts them; what start() throws.
[[nodiscard]] engine::fixed::SortReport run_prepared(const Request& request, PreparedRecordsJob prepared,
                                                     const JobContext& environment);

// Plans a job that is there, to be continued or given up, with the memory and threads of `means`; 0: as it was begun. UsageError,
// NotEnoughMemory.
[[nodiscard]] planner::RecordPlan plan_resumed(const JobHeader& header, const Means& means);

}  // namespace ecosort::demsort_inplace::prepare
