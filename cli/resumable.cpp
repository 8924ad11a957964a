#include <utility>

#include "base/errors.h"
#include "base/threads.h"
#include "cli/jobs.h"
#include "cli/report_files.h"
#include "cli/rows_command.h"
#include "cli/run_job.h"
#include "cli/say.h"

namespace ecosort::cli {

namespace {

inplace::PreparedResumable prepare_resumable(const CommandLine& line, io::PosixStorage& storage) {
  check_resumable(line);
  const std::uint64_t assumed_records = line.assumed_bytes() / records::size_of(line.records());
  inplace::PreparedResumable prepared = inplace::prepare_resumable(line.request, storage, assumed_records);
  check_report_files(line.reports.files(), prepared.inputs, line.request.place.output);
  return prepared;
}

}  // namespace

std::optional<int> run_resumable(const CommandLine& line, job::Session& session, double started_s) {
  inplace::PreparedResumable prepared = prepare_resumable(line, session.storage());
  if (prepared.wanted.input_records == 0) return std::nullopt;
  const inplace::SpacePlan& plan = inplace::require_space(prepared);
  open_queue(session, line.request.means.io, job_queue_depth, line.reports.quiet);
  check_threads_can_start(plan.engine.wanted.threads + 1, "--threads");
  const std::string output = prepared.output;
  tell_job_place(output, line.reports.quiet);
  if (prepared.wanted.assumed_ratio > 0 && plan.layout.assumed_ratio == 0)
    print_notice(line.reports.quiet, "--assume-ratio saves no space here: runs give theirs to the output, which needs all of it");
  const JobRun run{output, line.reports};
  return run_job(run, session, started_s, [&](const inplace::Environment& environment) {
    return result_of(inplace::run_resumable(line.request, std::move(prepared), environment));
  });
}

bool plan_resumable(const CommandLine& line, io::PosixStorage& storage) {
  const inplace::PreparedResumable prepared = prepare_resumable(line, storage);
  if (prepared.wanted.input_records == 0) return false;
  if (line.has("--json")) print_out(resumable_plan_json(line, prepared));  // where it does not fit, too
  (void)inplace::require_space(prepared);
  if (!line.has("--json")) print_out(resumable_plan_text(line, prepared));
  return true;
}

}  // namespace ecosort::cli
