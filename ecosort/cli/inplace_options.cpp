// What `inplace`, `resume` and `plan inplace` are asked for, resolved against the machine and the file.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/errors.h"
#include "base/size_text.h"
#include "cli/inplace.h"
#include "cli/option_binding.h"
#include "cli/report_files.h"
#include "cli/resumable_ground.h"
#include "cli/sort_options.h"
#include "demsort_inplace/job_directory.h"
#include "demsort_inplace/preflight.h"
#include "job/benchmark_records.h"

namespace ecosort::cli {

namespace {

// Options of `sort` that `plan inplace` knows of, but that mean nothing in place.
void check_not_given(const ParsedWords& parsed) {
  for (const std::string_view name : {"-o,--output", "--temp", "--trace", "--request-size", "--request-depth", "--resumable",
                                      "--merge-threads", "--run-records", "--checksum", "--assume-ratio", "--goal"})
    if (parsed.given.contains(name)) throw UsageError(fmt::format("{} means nothing in place", name.substr(name.rfind(',') + 1)));
  if (parsed.given.contains("--compress"))
    throw UsageError(
        "--compress cannot be had in place: runs lie in the space of the records, each at its place, and take all of it; use "
        "ecosort sort --compress where there is space for an output");
  if (parsed.given.contains("--unique"))
    throw UsageError(
        "--unique cannot be had in place: after a crash no one could tell a dropped record from a lost one; use ecosort sort "
        "--unique, or drop duplicates from the sorted file");
}

std::uint64_t whole_records(const std::string& name, std::uint64_t bytes, std::uint64_t record_size) {
  if (const std::uint64_t rest = bytes % record_size; rest != 0)
    throw UsageError(fmt::format("'{}' has {} bytes, which is no multiple of the record size {}: {}", name, bytes, record_size,
                                 left_over_text(rest)));
  return bytes / record_size;
}

// What is no value of a job, or not yet.
struct OtherWords {
  std::vector<std::string> files, temp;
  std::string output, trace, request_size, compress, assumed_ratio, goal;
  bool unique = false, stable = false, resumable = false, checksum = false;
  std::uint64_t threads = 0, request_depth = 0, merge_threads = 0, run_records = 0;
};

OptionTargets targets_of(InPlaceOptions& options, OtherWords& others) {
  return {.texts = {{"--memory", &options.memory},
                    {"--io", &options.io},
                    {"--stats", &options.run.reports.stats},
                    {"--events", &options.run.reports.events},
                    {"--progress", &options.run.reports.progress},
                    {"--assume-size", &options.assume_size},
                    {"--space", &options.space},
                    {"--trust-owner", &options.trust_owner},
                    {"-o,--output", &others.output},
                    {"--verify", &options.verify},
                    {"--trace", &others.trace},
                    {"--profile", &options.profile_words.file},
                    {"--compress", &others.compress},
                    {"--assume-ratio", &others.assumed_ratio},
                    {"--goal", &others.goal},
                    {"--request-size", &others.request_size}},
          .lists = {{"--key", &options.keys}, {"--temp", &others.temp}},
          .switches = {{"--unique", &others.unique},
                       {"--reverse", &options.reverse},
                       {"--stable", &others.stable},
                       {"--resumable", &others.resumable},
                       {"--checksum", &others.checksum},
                       {"-q,--quiet", &options.run.reports.quiet},
                       {"--json", &options.json},
                       {"--status", &options.status},
                       {"--abandon", &options.abandon},
                       {"--trust-drive", &options.trust_drive},
                       {"--no-profile", &options.profile_words.none}},
          .numbers = {{"--record-size", &options.record_size},
                      {"--threads", &others.threads},
                      {"--request-depth", &others.request_depth},
                      {"--merge-threads", &others.merge_threads},
                      {"--run-records", &others.run_records}},
          .operands = &others.files};
}

// The words alone, without a profile.
InPlaceOptions parse_plainly(const std::string& command, const Words& words) {
  InPlaceOptions options;
  OtherWords others;
  const ParsedWords parsed = parse_words(command_table(command), words, targets_of(options, others));
  options.help = parsed.asks_for_help;
  if (options.help) return options;
  check_not_given(parsed);
  options.given = parsed.given;
  options.threads = checked_threads(parsed, others.threads);
  const std::vector<std::string>& files = others.files;
  (void)progress_mode(options.run.reports.progress);
  (void)io::parse_backend(options.io);
  check_verify(options.verify);
  const bool is_assumed = !options.assume_size.empty();
  if (is_assumed && !files.empty()) throw UsageError("--assume-size is for a file that is not there; leave one of them out");
  if (!is_assumed && files.size() != 1) throw UsageError(fmt::format("{}: name one file", command));
  if (options.status && options.abandon) throw UsageError("resume: give either --status or --abandon");
  if (!is_assumed) options.run.file = files.front();
  return options;
}

}  // namespace

void check_job_reports(const JobRun& run) {
  check_report_files({run.reports.stats, run.reports.events, ""}, std::vector<engine::Input>(), run.file);
}

void check_limits(const inplace::Layout& layout, bool is_in_place) {
  rlimit limit{};
  const std::uint64_t runs = layout.runs(),
                      largest = std::max(layout.input_file_bytes(layout.records), is_in_place ? layout.extra_bytes() : 0);
  check_file_size_limit(largest);
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (const std::uint64_t need = runs + 64; need > limit.rlim_cur)
    throw UsageError(fmt::format("{} runs need {} open files, {} are allowed (ulimit -n); more memory makes fewer runs", runs,
                                 need, limit.rlim_cur));
}

InPlaceOptions parse_inplace_options(const std::string& command, const Words& words) {
  InPlaceOptions asked = parse_plainly(command, words);
  if (asked.help || command == "resume") return asked;
  const std::vector<std::string_view> applicable{"--threads", "--io"};
  return with_profile(std::move(asked), applicable, words, [&](const Words& all) { return parse_plainly(command, all); });
}

ResolvedInPlace resolve_inplace(const InPlaceOptions& options, io::PosixStorage& storage) {
  ResolvedInPlace resolved;
  planner::Wanted& wanted = resolved.wanted;
  wanted.format =
      records::make_record_format(options.record_size, options.keys, options.reverse);  // a bad key before a missing file
  resolved.machine = planner::read_machine();
  wanted.memory_bytes =
      options.memory.empty() ? planner::default_memory_bytes(resolved.machine) : parse_bytes(options.memory, "--memory");
  wanted.threads = options.threads != 0 ? options.threads : resolved.machine.cpus;
  wanted.input_alignment = page_bytes;
  resolved.free_bytes = no_space_limit;
  if (options.assume_size.empty()) {
    if (storage.exists(inplace::JobPaths(options.run.file).directory))
      throw UsageError(
          fmt::format("'{0}.ecosort' holds a job that was interrupted; continue with: ecosort resume {0}", options.run.file));
    resolved.input = inplace::open_fit_file(options.run.file, storage);
    if (is_format_assumed(options.given)) job::require_benchmark_records(*resolved.input);
    wanted.input_records = whole_records(options.run.file, resolved.input->facts().size_bytes, options.record_size);
    wanted.input_alignment = std::max<std::uint64_t>(
        {page_bytes, resolved.input->alignment(), inplace::block_bytes(inplace::JobPaths(options.run.file).parent)});
    resolved.held_bytes = inplace::held_bytes(inplace::JobPaths(options.run.file).parent);
  } else {
    wanted.input_records = parse_bytes(options.assume_size, "--assume-size") / options.record_size;
  }
  if (wanted.input_records == 0) return resolved;
  const inplace::Ground ground{inplace::Mode::in_place, resolved.held_bytes};
  const auto choose = [&](std::uint64_t wanted_bytes) {
    if (options.assume_size.empty())
      resolved.free_bytes = storage.settled_free_bytes(inplace::JobPaths(options.run.file).parent, wanted_bytes);
    if (!options.space.empty()) resolved.free_bytes = std::min(resolved.free_bytes, parse_bytes(options.space, "--space"));
    resolved.choice = inplace::choose_space(wanted, resolved.free_bytes, ground);
  };
  choose(0);
  if (!resolved.choice.best && resolved.choice.least) choose(resolved.choice.least->need_bytes());
  if (!resolved.choice.least) {
    const std::uint64_t least = inplace::least_memory_bytes(wanted);
    throw NotEnoughMemory(fmt::format("--memory {} is too little for this file: at least {} is needed",
                                      format_bytes(wanted.memory_bytes), format_bytes(least)),
                          wanted.memory_bytes, least);
  }
  if (resolved.choice.best) check_limits(resolved.choice.best->layout, true);
  return resolved;
}

const inplace::SpacePlan& require_space(const InPlaceOptions& options, const ResolvedInPlace& resolved) {
  const inplace::SpaceChoice& choice = resolved.choice;
  if (choice.best) {
    if (resolved.input)
      inplace::check_quota(*resolved.input, options.run.file, choice.best->need_bytes(), choice.best->layout.all_run_bytes());
    return *choice.best;
  }
  const std::uint64_t need = choice.least->need_bytes();
  planner::Wanted richer = resolved.wanted;
  richer.memory_bytes *= 4;
  const std::uint64_t with_more =
      inplace::choose_space(richer, 0, {inplace::Mode::in_place, resolved.held_bytes}).least->need_bytes();
  const std::string help = with_more < need - need / 20
                               ? fmt::format("make room there, or give more memory: with --memory {}KiB {} would do",
                                             richer.memory_bytes >> 10U, format_bytes(with_more))
                               : "make room there, or use ecosort sort with --temp and -o on another drive";
  const std::string where = options.space.empty() ? fmt::format("not enough free space in '{}' to sort '{}' in place",
                                                                inplace::JobPaths(options.run.file).parent, options.run.file)
                                                  : fmt::format("--space {} is too little to sort in place", options.space);
  throw NotEnoughSpace(fmt::format("{}: {} ({} bytes) needed, {} ({} bytes) free; {}", where, format_bytes(need), need,
                                   format_bytes(resolved.free_bytes), resolved.free_bytes, help),
                       NotEnoughSpace::For::job, resolved.free_bytes, need, {inplace::JobPaths(options.run.file).parent});
}

}  // namespace ecosort::cli
