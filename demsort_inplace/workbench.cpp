#include "demsort_inplace/workbench.h"

#include <algorithm>

namespace ecosort::inplace {

Workbench::Workbench(const std::string& path, const JobHeader& job_header, const planner::Plan& engine,
                     const Environment& environment)
    : JobBench(path, job_header, {engine.wanted.memory_bytes, engine.wanted.threads, engine.read_depth, engine.write_depth},
               environment),
      layout(header.layout),
      plan(engine),
      encoder(header.format) {}

std::uint64_t Workbench::durable_run_bytes(std::uint64_t run) const {
  if (run >= done.size()) return 0;
  if (!layout.packs) return layout.run_file_bytes(run, consumed(run));
  if (!layout.keeps_runs && consumed(run) == layout.run_records(run)) return 0;
  const std::uint64_t packed = done[run].packed_bytes;
  return packed == 0 ? layout.plain_run_bytes(run) : layout.head_bytes + packed + layout.table_bytes(run);
}

void Workbench::begin(const char* name, engine::Phase phase, std::uint64_t bytes) {
  log.begin(name, reactor.traffic());
  const std::uint64_t share = begin_of_job(phase, bytes);
  progress.begin(phase, bytes, share);
}

// Where the job stands by then, whoever did what is done; returns what this phase reads and writes.
std::uint64_t Workbench::begin_of_job(engine::Phase phase, std::uint64_t bytes) {
  std::uint64_t formation = layout.bytes();
  for (std::uint64_t run = 0; run < layout.runs(); ++run) formation += layout.plain_run_bytes(run);
  const std::uint64_t merge = 2 * layout.bytes();
  const std::uint64_t all = formation + merge + (header.reread ? layout.bytes() : 0);
  const unsigned phases = header.reread ? 3 : 2;
  switch (phase) {
    case engine::Phase::run_formation:
      progress.plan_job(phases, all, formation - std::min(formation, bytes));
      progress.skip_phases(0);
      return bytes;
    case engine::Phase::merge:
      progress.plan_job(phases, all, formation + merge - std::min(merge, 2 * bytes));
      progress.skip_phases(1);
      return 2 * bytes;
    case engine::Phase::reread:
      progress.plan_job(phases, all, formation + merge);
      progress.skip_phases(2);
      return bytes;
    case engine::Phase::put_back:
      progress.plan_job(1, 2 * bytes);
      return 2 * bytes;
    default:
      return 0;
  }
}

}  // namespace ecosort::inplace
