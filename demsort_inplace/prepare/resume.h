// A job that is there: continued, or given up. Of rows prepare/rows.h has what differs.
#pragma once

#include <cstdint>
#include <string>

#include "demsort_inplace/job_bench.h"
#include "demsort_inplace/job_directory.h"
#include "demsort_inplace/job_status.h"
#include "demsort_inplace/preflight.h"
#include "engine/fixed/sort.h"
#include "planner/line_plan.h"
#include "planner/plan.h"

namespace ecosort::demsort_inplace::prepare {

// A queue with so many requests serves a job whatever its plan is: reads and writes, and a few besides.
inline constexpr unsigned job_queue_depth = planner::most_kept_requests + 16;

// With what it continues; 0: as it was begun.
struct ResumeMeans {
  std::uint64_t memory_bytes = 0;
  unsigned threads = 0;
};

// Plans a job of fixed records. UsageError, NotEnoughMemory.
[[nodiscard]] planner::RecordPlan plan_resumed(const JobHeader& header, const ResumeMeans& means);

// Brings the job to its end, or with `abandons` back to where it began; what resume() and abandon() throw.
[[nodiscard]] engine::fixed::SortReport run_resumed(const std::string& file, JobStatus status, const planner::RecordPlan& plan,
                                                    bool abandons, const JobContext& environment);

}  // namespace ecosort::demsort_inplace::prepare
