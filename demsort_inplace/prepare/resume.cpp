#include "demsort_inplace/prepare/resume.h"

#include <utility>

#include "demsort_inplace/prepare/ground.h"
#include "demsort_inplace/records_job.h"
#include "demsort_inplace/space_plan.h"
#include "plan/machine.h"

namespace ecosort::inplace {

planner::Plan plan_resumed(const JobHeader& header, const ResumeMeans& means) {
  check_limits(header.layout, header.is_in_place());
  const unsigned asked = means.threads != 0 ? means.threads : header.threads;
  return engine_plan(header, means.memory_bytes != 0 ? means.memory_bytes : header.memory_bytes,
                     asked != 0 ? asked : planner::read_machine().cpus);
}

engine::SortReport run_resumed(const std::string& file, JobStatus status, const planner::Plan& plan, bool abandons,
                               const Environment& environment) {
  return abandons ? abandon(file, std::move(status), plan, environment) : resume(file, std::move(status), plan, environment);
}

}  // namespace ecosort::inplace
