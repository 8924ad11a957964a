// `ecosort inplace` and `ecosort plan inplace`.
#include "cli/inplace.h"

#include <utility>

#include "cli/option_table.h"
#include "cli/resumable.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/write_signals.h"
#include "job/session.h"

namespace ecosort::cli {

int run_inplace(const Words& words) {
  const double started_s = engine::monotonic_seconds();
  const InPlaceOptions options = parse_inplace_options("inplace", words);
  if (options.help) {
    print_out(help_text(command_table("inplace")));
    return 0;
  }
  ignore_write_signals();
  print_notice(options.run.reports.quiet, notice_of(options.profile));
  job::Session session;
  tell_waits(session, options.run.reports.quiet);
  inplace::PreparedRecords prepared = inplace::prepare_records(options.request, options.assumed_bytes, session.storage());
  check_job_reports(options.run);
  if (prepared.is_empty()) return 0;
  return run_records_job(options.run, options.request, std::move(prepared), session, started_s);
}

int plan_inplace(const Words& words) {
  const InPlaceOptions options = parse_inplace_options("plan inplace", words);
  if (options.help) {
    print_out(help_text(command_table("plan inplace")));
    return 0;
  }
  print_notice(options.run.reports.quiet, notice_of(options.profile));
  job::Session session;
  const inplace::PreparedRecords prepared = inplace::prepare_records(options.request, options.assumed_bytes, session.storage());
  if (options.json) print_out(inplace_plan_json(options, prepared));  // where it does not fit, too
  if (!prepared.is_empty()) inplace::require_space(options.request, prepared);
  if (!options.json) print_out(inplace_plan_text(options, prepared));
  return 0;
}

}  // namespace ecosort::cli
