// `ecosort inplace` and `ecosort plan inplace`.
#include "cli/inplace.h"

#include "base/threads.h"
#include "cli/option_table.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "demsort_inplace/inplace_sort.h"
#include "io/backends.h"
#include "run/run_block.h"

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
  io::PosixStorage storage;
  tell_waits(storage, options.run.reports.quiet);
  ResolvedInPlace resolved = resolve_inplace(options, storage);
  check_job_reports(options.run);
  if (resolved.wanted.input_records == 0) return 0;
  const inplace::SpacePlan& plan = require_space(options, resolved);
  const io::Backend backend = io::make_queue(io::parse_backend(options.io), job_queue_depth);
  print_notice(options.run.reports.quiet, backend.notice);
  check_threads_can_start(plan.engine.wanted.threads + 1, "--threads");
  const inplace::JobHeader header{.job = run::random_job(),
                                  .format = resolved.wanted.format,
                                  .layout = plan.layout,
                                  .memory_bytes = resolved.wanted.memory_bytes,
                                  .threads = options.threads,
                                  .reread = options.verify == "reread"};
  return run_job(options.run, storage, *backend.queue, started_s, [&](const inplace::Environment& environment) {
    return result_of(inplace::start(options.run.file, std::move(resolved.input), header, plan.engine, environment));
  });
}

int plan_inplace(const Words& words) {
  const InPlaceOptions options = parse_inplace_options("plan inplace", words);
  if (options.help) {
    print_out(help_text(command_table("plan inplace")));
    return 0;
  }
  print_notice(options.run.reports.quiet, notice_of(options.profile));
  io::PosixStorage storage;
  const ResolvedInPlace resolved = resolve_inplace(options, storage);
  if (options.json) print_out(inplace_plan_json(options, resolved));  // where it does not fit, too
  if (resolved.wanted.input_records > 0) (void)require_space(options, resolved);
  if (!options.json) print_out(inplace_plan_text(options, resolved));
  return 0;
}

}  // namespace ecosort::cli
