#include "demsort_inplace/workbench.h"

#include "demsort_inplace/key_windows.h"

namespace ecosort::demsort_inplace {

Workbench::Workbench(const std::string& path, const JobHeader& job_header, const planner::RecordPlan& engine,
                     const JobContext& environment)
    : JobBench(path, job_header, {engine.wanted.memory_bytes, engine.wanted.threads, engine.read_depth, engine.write_depth},
               environment),
      layout(header.layout),
      plan(engine),
      encoder(header.format) {
  memory.count_elsewhere(plan.table_bytes());
}

Workbench::~Workbench() = default;

std::uint64_t Workbench::durable_run_bytes(std::uint64_t run) const {
  if (run >= done.size()) return 0;
  if (!layout.packs) return layout.run_file_bytes(run, consumed(run));
  if (!layout.keeps_runs && consumed(run) == layout.run_records(run)) return 0;
  const std::uint64_t packed = done[run].packed_bytes;
  return packed == 0 ? layout.plain_run_bytes(run) : layout.head_bytes + packed + layout.table_bytes(run);
}

std::uint64_t Workbench::formation_bytes(std::uint64_t first_run) const {
  std::uint64_t bytes = 0;
  for (std::uint64_t run = first_run; run < layout.runs(); ++run)
    bytes += layout.run_records(run) * layout.record_size + layout.plain_run_bytes(run);
  return bytes;
}

void Workbench::plan_sort(std::uint64_t recheck) {
  const bool is_formed = done.size() == layout.runs(), is_merged = is_complete;
  const std::uint64_t formation = formation_bytes(0), reread = header.reread ? layout.bytes() : 0;
  const std::uint64_t merged = state ? 2 * state->records * layout.record_size : 0;
  const unsigned phases = 2 + (reread > 0 ? 1 : 0);
  progress.plan_job(phases + (recheck > 0 ? 1 : 0), formation + 2 * layout.bytes() + reread + recheck,
                    formation - formation_bytes(done.size()) + merged + (is_merged ? reread : 0));
  progress.skip_phases(is_merged ? phases : is_formed ? 1 : 0);
}

void Workbench::plan_put_back(std::uint64_t recheck, std::uint64_t records_there) {
  progress.plan_job(recheck > 0 ? 2 : 1, 2 * layout.bytes() + recheck, 2 * records_there * layout.record_size);
}

}  // namespace ecosort::demsort_inplace
