#include "demsort_inplace/prepare/resume.h"

#include <utility>

#include "demsort_inplace/prepare/ground.h"
#include "demsort_inplace/records_job.h"
#include "demsort_inplace/space_plan.h"
#include "planner/machine.h"

namespace ecosort::demsort_inplace::prepare {

planner::RecordPlan plan_resumed(const JobHeader& header, const ResumeMeans& means) {
  check_limits(header.layout, header.is_in_place());
  const unsigned asked = means.threads != 0 ? means.threads : header.threads;
  return engine_plan(header, means.memory_bytes != 0 ? means.memory_bytes : header.memory_bytes,
                     asked != 0 ? asked : planner::read_machine().cpus);
}

engine::fixed::SortReport run_resumed(const std::string& file, JobStatus status, const planner::RecordPlan& plan, bool abandons,
                                      const JobContext& environment) {
  return abandons ? abandon(file, std::move(status), plan, environment) : resume(file, std::move(status), plan, environment);
}

}  // namespace ecosort::demsort_inplace::prepare
