#include "cli/resumable.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "base/threads.h"
#include "cli/compression_options.h"
#include "cli/inplace.h"
#include "cli/report_files.h"
#include "cli/resumable_ground.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "demsort_inplace/preflight.h"
#include "demsort_inplace/resumable_sort.h"
#include "io/backends.h"
#include "io/direct_io.h"
#include "job/places.h"
#include "run/run_block.h"

namespace ecosort::cli {

namespace {

void check_options(const SortOptions& options) {
  if (options.output == "-")
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

// Files are cut, read and written in units that suit all of them.
std::uint64_t unit_in(const std::string& directory, const ResolvedResumable& resolved, io::PosixStorage& storage) {
  const bool gives_back = resolved.ground.mode != inplace::Mode::keeping_runs;
  return std::max<std::uint64_t>(
      {direct_unit(directory, storage), resolved.wanted.input_alignment, gives_back ? inplace::block_bytes(directory) : 1});
}

void choose_layout(ResolvedResumable& resolved, io::PosixStorage& storage) {
  const std::string directory = inplace::JobPaths(resolved.output).parent;
  resolved.ground.mode = mode_in(directory);
  resolved.wanted.input_alignment = unit_in(directory, resolved, storage);
  resolved.ground.held_bytes = inplace::held_bytes(directory);
  const auto choose = [&](std::uint64_t wanted_bytes) {
    resolved.free_bytes = storage.settled_free_bytes(directory, wanted_bytes);
    resolved.choice = inplace::choose_space(resolved.wanted, resolved.free_bytes, resolved.ground);
  };
  choose(0);
  if (!resolved.choice.best && resolved.choice.least) choose(resolved.choice.least->need_bytes());
}

void check_layout(const ResolvedResumable& resolved) {
  const planner::Wanted& wanted = resolved.wanted;
  if (!resolved.choice.least) {
    const std::uint64_t least = inplace::least_memory_bytes(wanted);
    throw NotEnoughMemory(
        fmt::format("--memory {} is too little for a resumable sort of this input, which merges all runs at once: at least {} is "
                    "needed",
                    format_bytes(wanted.memory_bytes), format_bytes(least)),
        wanted.memory_bytes, least);
  }
  job::check_memory_exists(wanted.memory_bytes, resolved.choice.any().engine.peak_memory_bytes, resolved.machine);
  if (resolved.choice.best) check_limits(resolved.choice.best->layout, false);
}

}  // namespace

ResolvedResumable resolve_resumable(const SortOptions& options, io::PosixStorage& storage) {
  check_options(options);
  (void)records::make_record_format(options.record_size, options.keys);  // a bad key is reported before a missing file
  ResolvedResumable resolved;
  resolved.machine = planner::read_machine();
  const SortSpec spec = spec_of(options);
  resolved.inputs = job::open_records(spec, tuning_of(options), storage);
  for (const engine::Input& input : resolved.inputs) check_regular(*input.file);
  job::check_output(options.output, resolved.inputs, storage);
  check_report_files({options.stats, options.events, ""}, resolved.inputs, options.output);
  resolved.output = io::resolve_output(options.output).path;
  check_no_job(resolved.output, storage);
  resolved.wanted = job::wanted_of(spec, tuning_of(options), resolved.inputs, resolved.machine);
  if (resolved.wanted.input_records == 0) return resolved;
  check_outlives_crash(inplace::JobPaths(resolved.output).parent);
  choose_layout(resolved, storage);
  if (!resolved.choice.least && resolved.wanted.compression.is_auto) {
    resolved.wanted.compression = {};
    choose_layout(resolved, storage);
  }
  check_layout(resolved);
  return resolved;
}

const inplace::SpacePlan& require_space(const ResolvedResumable& resolved) {
  if (!resolved.choice.best)
    refuse_space(inplace::JobPaths(resolved.output).parent, resolved.choice.least->need_bytes(), resolved.free_bytes);
  return *resolved.choice.best;
}

std::optional<int> run_resumable(const SortOptions& options, io::PosixStorage& storage, double started_s) {
  ResolvedResumable resolved = resolve_resumable(options, storage);
  if (resolved.wanted.input_records == 0) return std::nullopt;
  const inplace::SpacePlan& plan = require_space(resolved);
  const io::Backend backend = io::make_queue(io::parse_backend(options.io), job_queue_depth);
  print_notice(options.quiet, backend.notice);
  check_threads_can_start(plan.engine.wanted.threads + 1, "--threads");
  const inplace::JobHeader header{.job = run::random_job(),
                                  .format = resolved.wanted.format,
                                  .layout = plan.layout,
                                  .memory_bytes = resolved.wanted.memory_bytes,
                                  .threads = options.threads,
                                  .kind = inplace::JobHeader::Kind::resumable_sort,
                                  .inputs = inplace::identities(resolved.inputs),
                                  .reread = options.verify == "reread",
                                  .compression = {resolved.wanted.compression.is_auto, plan.engine.packing.wanted.terms}};
  print_notice(options.quiet, fmt::format("runs and journal are in '{}'; after an interruption: ecosort resume {}",
                                          inplace::JobPaths(resolved.output).directory, resolved.output));
  print_notice(options.quiet, journal_notice(resolved.output));
  if (resolved.wanted.assumed_ratio > 0 && plan.layout.assumed_ratio == 0)
    print_notice(options.quiet, "--assume-ratio saves no space here: runs give theirs to the output, which needs all of it");
  const JobRun run{resolved.output, {options.stats, options.events, options.progress, options.quiet}};
  return run_job(run, storage, *backend.queue, started_s, [&](const inplace::Environment& environment) {
    return result_of(inplace::start_resumable(resolved.output, std::move(resolved.inputs), header, plan.engine, environment));
  });
}

bool plan_resumable(const SortOptions& options, io::PosixStorage& storage) {
  const ResolvedResumable resolved = resolve_resumable(options, storage);
  if (resolved.wanted.input_records == 0) return false;
  if (options.json) print_out(resumable_plan_json(options, resolved));  // where it does not fit, too
  (void)require_space(resolved);
  if (!options.json) print_out(resumable_plan_text(options, resolved));
  return true;
}

}  // namespace ecosort::cli
