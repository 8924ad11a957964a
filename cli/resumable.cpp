#include "cli/resumable.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/threads.h"
#include "cli/report_files.h"
#include "cli/run_job.h"
#include "cli/say.h"

namespace ecosort::cli {

namespace {

void check_resumable_options(const SortOptions& options) {
  if (options.output == "-" || options.output.empty())
    throw UsageError("--resumable needs an output with a name, for its job directory; name it with -o FILE");
  if (std::ranges::find(options.inputs, "-") != options.inputs.end())
    throw UsageError("--resumable: standard input cannot be read again after a crash; name the input");
  if (!options.temp.empty())
    throw UsageError(
        "--resumable keeps its runs beside the output, in OUTPUT.ecosort; leave --temp out, or name an output there");
  if (options.unique)
    throw UsageError(
        "--unique goes without --resumable: after a crash no one could tell a dropped record from a lost one; drop duplicates "
        "from "
        "the sorted file");
  if (options.checksum) throw UsageError("--checksum goes without --resumable; `ecosort check` tells the checksum of the output");
  if (!options.trace.empty()) throw UsageError("--trace goes without --resumable");
  const planner::Requests usual;
  if (options.requests.bytes != usual.bytes || options.requests.depth != usual.depth)
    throw UsageError("--request-size and --request-depth go without --resumable");
  if (options.merge_threads != 0 || options.run_records != 0)
    throw UsageError("--merge-threads and --run-records go without --resumable");
}

inplace::PreparedResumable prepare_resumable(const SortOptions& options, io::PosixStorage& storage) {
  check_resumable_options(options);
  const std::uint64_t assumed =
      options.assume_size.empty() ? 0 : parse_assumed_bytes(options.assume_size, "--assume-size") / options.record_size;
  inplace::PreparedResumable prepared = inplace::prepare_resumable(spec_of(options), tuning_of(options), storage, assumed);
  check_report_files({options.stats, options.events, ""}, prepared.inputs, options.output);
  return prepared;
}

}  // namespace

std::optional<int> run_resumable(const SortOptions& options, job::Session& session, double started_s) {
  inplace::PreparedResumable prepared = prepare_resumable(options, session.storage());
  if (prepared.wanted.input_records == 0) return std::nullopt;
  const inplace::SpacePlan& plan = inplace::require_space(prepared);
  open_queue(session, options.io, job_queue_depth, options.quiet);
  check_threads_can_start(plan.engine.wanted.threads + 1, "--threads");
  const std::string output = prepared.output;
  tell_job_place(output, options.quiet);
  if (prepared.wanted.assumed_ratio > 0 && plan.layout.assumed_ratio == 0)
    print_notice(options.quiet, "--assume-ratio saves no space here: runs give theirs to the output, which needs all of it");
  const JobRun run{output, {options.stats, options.events, options.progress, options.quiet}};
  return run_job(run, session, started_s, [&](const inplace::Environment& environment) {
    return result_of(inplace::run_resumable(spec_of(options), std::move(prepared), environment));
  });
}

bool plan_resumable(const SortOptions& options, io::PosixStorage& storage) {
  const inplace::PreparedResumable prepared = prepare_resumable(options, storage);
  if (prepared.wanted.input_records == 0) return false;
  if (options.json) print_out(resumable_plan_json(options, prepared));  // where it does not fit, too
  (void)inplace::require_space(prepared);
  if (!options.json) print_out(resumable_plan_text(options, prepared));
  return true;
}

}  // namespace ecosort::cli
