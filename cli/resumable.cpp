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

demsort_inplace::prepare::PreparedRecordsJob prepare_job(const CommandLine& line, io::PosixStorage& storage) {
  check_job(line);
  demsort_inplace::prepare::PreparedRecordsJob prepared =
      demsort_inplace::prepare::prepare_records(line.request, line.assumed_bytes(), storage);
  check_report_files(line.reports.files(), prepared.inputs, job::written_files(line.request));
  return prepared;
}

// Before it begins: where the records are after an interruption, and what will not be as it was asked for.
void tell_place(const Request& request, const demsort_inplace::prepare::PreparedRecordsJob& prepared, const RunReports& reports) {
  if (request.place.kind == PlaceKind::in_place)
    return reports.print(demsort_inplace::give_back_beyond_end(prepared.first_input()));
  tell_job_place(prepared.file, reports);
  if (prepared.wanted.assumed_ratio > 0 && prepared.choice.best->layout.assumed_ratio == 0)
    reports.print("--assume-ratio saves no space here: runs give theirs to the output, which needs all of it");
}

}  // namespace

int run_records_job(const JobRun& run, const Request& request, demsort_inplace::prepare::PreparedRecordsJob prepared,
                    job::Session& session, double started_s) {
  const demsort_inplace::SpacePlan& plan = demsort_inplace::prepare::require_space(request, prepared);
  open_queue(session, request.means.io, job_queue_depth, run.reports);
  check_threads_can_start(plan.engine.wanted.threads + 1, "--threads");
  tell_place(request, prepared, run.reports);
  return run_job(run, session, started_s, [&](const demsort_inplace::JobContext& environment) {
    return result_of(demsort_inplace::prepare::run_prepared(request, std::move(prepared), environment));
  });
}

std::optional<int> run_resumable(const CommandLine& line, job::Session& session, double started_s) {
  demsort_inplace::prepare::PreparedRecordsJob prepared = prepare_job(line, session.storage());
  if (prepared.is_empty()) return std::nullopt;
  const JobRun run{prepared.file, line.reports};
  return run_records_job(run, line.request, std::move(prepared), session, started_s);
}

bool plan_resumable(const CommandLine& line, io::PosixStorage& storage) {
  const demsort_inplace::prepare::PreparedRecordsJob prepared = prepare_job(line, storage);
  if (prepared.is_empty()) return false;
  const bool is_json = line.has("--json");
  if (is_json) print_out(resumable_plan_json(line, prepared));  // where it does not fit, too
  demsort_inplace::prepare::require_space(line.request, prepared);
  if (!is_json) print_out(resumable_plan_text(line, prepared));
  return true;
}

}  // namespace ecosort::cli
