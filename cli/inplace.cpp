// `ecosort inplace` and `ecosort plan inplace`.
#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "cli/jobs.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/sorts.h"
#include "job/session.h"

namespace ecosort::cli {

CommandLine read_inplace_words(std::string_view command, const Words& words) {
  CommandLine line = read_command_line(command, words);
  if (line.asks_for_help()) return line;
  const bool is_assumed = line.assumed_bytes() != 0;
  if (is_assumed && !line.request.inputs.empty())
    throw UsageError("--assume-size is for a file that is not there; leave one of them out");
  if (!is_assumed && line.request.inputs.size() != 1) throw UsageError(fmt::format("{}: name one file", command));
  take_profile(line);
  return line;
}

int sort_in_place(const CommandLine& line, double started_s) {
  const Request& request = line.request;
  const JobRun run{.file = request.inputs.front(), .reports = line.reports, .is_in_place = true};
  job::Session session;
  tell_waits(session, line.reports);
  demsort_inplace::prepare::PreparedRecordsJob prepared =
      demsort_inplace::prepare::prepare_records(request, 0, session.storage());
  check_job_reports(run, {});
  if (prepared.is_empty()) return 0;
  return run_records_job(run, request, std::move(prepared), session, started_s);
}

int plan_in_place(const CommandLine& line) {
  line.reports.print(notice_of(line.profile));
  job::Session session;
  const demsort_inplace::prepare::PreparedRecordsJob prepared =
      demsort_inplace::prepare::prepare_records(line.request, line.assumed_bytes(), session.storage());
  const bool is_json = line.has("--json");
  if (is_json) print_out(inplace_plan_json(line, prepared));  // where it does not fit, too
  if (!prepared.is_empty()) demsort_inplace::prepare::require_space(line.request, prepared);
  if (!is_json) print_out(inplace_plan_text(line, prepared));
  return 0;
}

}  // namespace ecosort::cli
