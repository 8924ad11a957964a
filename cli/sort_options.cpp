#include "cli/sort_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "cli/option_table.h"
#include "job/session.h"
#include "sortbenchmark/gensort.h"

namespace ecosort::cli {

namespace {

std::uint64_t checked_request_size(const std::string& text) {
  const std::uint64_t bytes = parse_bytes(text, "--request-size");
  if (bytes % page_bytes == 0 && bytes >= planner::least_request_bytes && bytes <= planner::most_request_bytes) return bytes;
  throw UsageError(fmt::format("--request-size {}: give a multiple of 4KiB from {} to {}", text,
                               format_bytes(planner::least_request_bytes), format_bytes(planner::most_request_bytes)));
}

unsigned checked_depth(std::uint64_t depth) {
  if (depth > 0 && depth <= planner::most_depth) return static_cast<unsigned>(depth);
  throw UsageError(fmt::format("--request-depth: give a number from 1 to {}", planner::most_depth));
}

// What a profile may set; a resumable sort lays out runs and requests by itself.
std::vector<std::string_view> applicable_settings(const std::string& command, const SortOptions& options) {
  if (command == "merge") return {"--threads", "--io", "--compress"};
  if (options.resumable) return {"--threads", "--io"};
  return {"--threads", "--merge-threads", "--io", "--request-size", "--request-depth", "--run-records", "--compress"};
}

// The words alone, without a profile.
SortOptions parse_sort_words(const std::string& command, const Words& words) {
  SortOptions options;
  std::uint64_t threads = 0, merge_threads = 0, request_depth = 0;
  std::string request_size, space;
  OptionTargets targets;
  targets.texts = {{"-o,--output", &options.output},
                   {"--memory", &options.memory},
                   {"--io", &options.io},
                   {"--verify", &options.verify},
                   {"--stats", &options.stats},
                   {"--events", &options.events},
                   {"--trace", &options.trace},
                   {"--progress", &options.progress},
                   {"--request-size", &request_size},
                   {"--assume-size", &options.assume_size},
                   {"--space", &space},
                   {"--expect-hash", &options.expected_hash},
                   {"--profile", &options.profile_words.file}};
  targets.lists = {{"--key", &options.keys}, {"--temp", &options.temp}};
  targets.switches = {{"--unique", &options.unique},     {"--reverse", &options.reverse},
                      {"--stable", &options.stable},     {"--resumable", &options.resumable},
                      {"--checksum", &options.checksum}, {"-q,--quiet", &options.quiet},
                      {"--json", &options.json},         {"--lines", &options.lines},
                      {"--runs", &options.runs},         {"--no-profile", &options.profile_words.none}};
  targets.numbers = {{"--record-size", &options.record_size},
                     {"--threads", &threads},
                     {"--request-depth", &request_depth},
                     {"--merge-threads", &merge_threads},
                     {"--run-records", &options.run_records}};
  options.run_words.bind(targets);
  targets.operands = &options.inputs;
  const ParsedWords parsed = parse_words(command_table(command), words, targets);
  options.help = parsed.asks_for_help;
  if (options.help) return options;
  options.given = parsed.given;
  options.run_words.set(options.compression);
  if (is_standard_output(options.output)) options.output.assign(1, '-');  // gcc 12 warns of an assignment
  options.threads = checked_threads(parsed, threads);
  options.merge_threads = checked_threads(parsed, merge_threads, "--merge-threads");
  if (parsed.given.contains("--request-size"))
    options.requests.bytes = options.requests.output_bytes = checked_request_size(request_size);
  if (parsed.given.contains("--request-depth")) options.requests.depth = checked_depth(request_depth);
  if (parsed.given.contains("--run-records") && options.run_records < planner::least_run_records)
    throw UsageError(fmt::format("--run-records: give at least {}", planner::least_run_records));
  if (!space.empty()) throw UsageError("--space goes with: ecosort plan inplace");
  (void)progress_mode(options.progress);
  job::check_queue_name(options.io);
  return options;
}

// `teller`: the command that the user typed.
void check_complete(std::string_view teller, const SortOptions& options) {
  check_verify(options.verify);
  if (options.checksum && options.record_size != records::gensort_record_bytes)
    throw UsageError("--checksum is that of the Sort Benchmark's records of 100 bytes; leave it out, or --record-size");
  if (options.given.contains("--expect-hash") && !records::MultisetHash::from_hex(options.expected_hash, 0))
    throw UsageError("--expect-hash: a hash has 32 hexadecimal digits, as `ecosort partition` and --stats tell them");
  if (options.lines) throw UsageError("merge: --lines stands first, and the options of `ecosort lines` behind it");
  if (options.runs) throw UsageError("merge: --runs stands first, and the runs behind it");
  if (!options.assume_size.empty()) {
    if (!options.inputs.empty()) throw UsageError("--assume-size is for an input that is not there; leave one of them out");
    (void)parse_assumed_bytes(options.assume_size, "--assume-size");
    return;
  }
  if (options.inputs.empty()) {
    const bool may_be_stream = teller == "sort" || teller == "plan sort";
    throw UsageError(
        fmt::format("{}: no input; name one or more files{}", teller, may_be_stream ? ", or - for standard input" : ""));
  }
  if (options.output.empty())
    throw UsageError(fmt::format(
        "{}: no output; name {}", teller,
        teller == "partition" ? "a directory for the slices with -o DIR" : "it with -o FILE, or -o - for standard output"));
}

}  // namespace

SortOptions parse_sort_options(const std::string& command, const Words& words, std::string_view teller) {
  SortOptions asked = parse_sort_words(command, words);
  if (asked.help) return asked;
  check_complete(teller.empty() ? command : teller, asked);
  const std::vector<std::string_view> applicable = applicable_settings(command, asked);
  SortOptions options =
      with_profile(std::move(asked), applicable, words, [&](const Words& all) { return parse_sort_words(command, all); });
  options.compression.energy =
      energy_of_goal(options.run_words.goal, options.compression, "none", options.resumable, options.profile);
  return options;
}

bool is_standard_output(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

void check_verify(const std::string& verify) {
  if (verify != "always" && verify != "reread")
    throw UsageError(fmt::format("--verify: '{}' is neither 'always' nor 'reread'; verification cannot be turned off", verify));
}

unsigned checked_threads(const ParsedWords& parsed, std::uint64_t threads, std::string_view option) {
  if (parsed.given.contains(option) && (threads == 0 || threads > planner::most_threads))
    throw UsageError(fmt::format("{}: give a number from 1 to {}", option, planner::most_threads));
  return static_cast<unsigned>(threads);
}

bool is_format_assumed(const std::set<std::string_view>& given) {
  return !given.contains("--record-size") && !given.contains("--key");
}

SortSpec spec_of(const SortOptions& options) {
  SortSpec spec;
  spec.inputs = options.inputs;
  spec.output = options.output;
  spec.record_size = options.record_size;
  spec.keys = options.keys;
  spec.reverse = options.reverse;
  spec.unique = options.unique;
  if (!options.memory.empty()) spec.memory_bytes = std::max<std::uint64_t>(parse_bytes(options.memory, "--memory"), 1);
  spec.threads = options.threads;
  spec.temp_directories = options.temp;
  spec.io = options.io;
  spec.reread = options.verify == "reread";
  spec.compression = options.compression;
  return spec;
}

// The runs that a search found best are for the memory that it had; for other memory the planner chooses.
job::Tuning tuning_of(const SortOptions& options) {
  job::Tuning tuning{.merge_threads = options.merge_threads,
                     .run_records = options.run_records,
                     .runs_are_a_hint = options.profile.used.contains("--run-records"),
                     .requests = options.requests,
                     .checksum = options.checksum,
                     .expected_hash = options.expected_hash,
                     .format_is_assumed = is_format_assumed(options.given)};
  const std::uint64_t memory_bytes = spec_of(options).memory_bytes;
  const std::uint64_t bytes = memory_bytes != 0 ? memory_bytes : planner::default_memory_bytes(planner::read_machine());
  if (tuning.runs_are_a_hint && !options.profile.is_for("--run-records", bytes)) tuning.run_records = 0;
  return tuning;
}

}  // namespace ecosort::cli
