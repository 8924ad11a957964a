#include "cli/sort_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "cli/option_table.h"
#include "formats/lines/grammar.h"
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
  if (options.request.place.kind == PlaceKind::resumable) return {"--threads", "--io"};
  return {"--threads", "--merge-threads", "--io", "--request-size", "--request-depth", "--run-records", "--compress"};
}

// The words that are not values yet.
struct SortWords {
  std::string memory, verify = "always", request_size, assumed_size;
  std::vector<std::string> keys;
  std::uint64_t threads = 0, merge_threads = 0, request_depth = 0;
  bool is_resumable = false, is_stable = false;
};

void resolve(const SortWords& words, const ParsedWords& parsed, SortOptions& options) {
  Request& request = options.request;
  Means& means = request.means;
  options.records().keys.assign(words.keys.begin(), words.keys.end());
  options.run_words.set(request.compression);
  if (is_standard_output(request.place.output)) request.place.output.assign(1, '-');  // gcc 12 warns of an assignment
  options.reports.output = request.place.output;
  if (words.is_resumable) request.place.kind = PlaceKind::resumable;
  if (!words.memory.empty()) means.memory_bytes = memory_of(words.memory);
  means.threads = checked_threads(parsed, words.threads);
  means.merge_threads = checked_threads(parsed, words.merge_threads, "--merge-threads");
  if (parsed.given.contains("--request-size")) means.request_bytes = checked_request_size(words.request_size);
  if (parsed.given.contains("--request-depth")) means.request_depth = checked_depth(words.request_depth);
  if (parsed.given.contains("--run-records") && means.run_records < planner::least_run_records)
    throw UsageError(fmt::format("--run-records: give at least {}", planner::least_run_records));
  check_record_size(parsed, options.records());
  if (!words.assumed_size.empty())
    options.assumed_bytes = std::max<std::uint64_t>(parse_assumed_bytes(words.assumed_size, "--assume-size"), 1);
  request.verification.reread = lines::is_reread(words.verify);
  (void)progress_mode(options.reports.progress);
  job::check_queue_name(means.io);
}

// The words alone, without a profile.
SortOptions parse_sort_words(const std::string& command, const Words& words) {
  SortOptions options;
  SortWords texts;
  Request& request = options.request;
  OptionTargets targets;
  targets.texts = {{"-o,--output", &request.place.output},
                   {"--memory", &texts.memory},
                   {"--io", &request.means.io},
                   {"--verify", &texts.verify},
                   {"--request-size", &texts.request_size},
                   {"--assume-size", &texts.assumed_size},
                   {"--expect-hash", &request.verification.expected_hash}};
  targets.lists = {{"--key", &texts.keys}, {"--temp", &request.means.temp_directories}};
  targets.switches = {{"--unique", &request.unique},
                      {"--reverse", &options.records().reverse},
                      {"--stable", &texts.is_stable},
                      {"--resumable", &texts.is_resumable},
                      {"--checksum", &request.verification.checksum},
                      {"--json", &options.json},
                      {"--lines", &options.lines},
                      {"--runs", &options.runs},
                      {"--append-rest", &options.append_rest}};
  targets.numbers = {{"--record-size", &options.records().record_size},
                     {"--threads", &texts.threads},
                     {"--request-depth", &texts.request_depth},
                     {"--merge-threads", &texts.merge_threads},
                     {"--run-records", &request.means.run_records}};
  options.run_words.bind(targets);
  bind_surroundings(options.reports, options.profile_words, targets);
  targets.operands = &request.inputs;
  const ParsedWords parsed = parse_words(command_table(command), words, targets);
  options.help = parsed.asks_for_help;
  if (options.help) return options;
  options.given = parsed.given;
  resolve(texts, parsed, options);
  return options;
}

// `teller`: the command that the user typed.
void check_complete(std::string_view teller, const SortOptions& options) {
  const Request& request = options.request;
  if (request.verification.checksum && records::size_of(options.records()) != records::gensort_record_bytes)
    throw UsageError("--checksum is that of the Sort Benchmark's records of 100 bytes; leave it out, or --record-size");
  if (options.given.contains("--expect-hash") && !records::MultisetHash::from_hex(request.verification.expected_hash, 0))
    throw UsageError("--expect-hash: a hash has 32 hexadecimal digits, as `ecosort partition` and --stats tell them");
  if (options.lines) throw UsageError("merge: --lines stands first, and the options of `ecosort lines` behind it");
  if (options.runs) throw UsageError("merge: --runs stands first, and the runs behind it");
  if (options.assumed_bytes != 0) {
    if (!request.inputs.empty()) throw UsageError("--assume-size is for an input that is not there; leave one of them out");
    return;
  }
  if (request.inputs.empty()) {
    const bool may_be_stream = teller == "sort" || teller == "plan sort";
    throw UsageError(
        fmt::format("{}: no input; name one or more files{}", teller, may_be_stream ? ", or - for standard input" : ""));
  }
  if (request.place.output.empty())
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
  Request& request = options.request;
  request.compression.energy = energy_of_goal(options.run_words.goal, request.compression, "none",
                                              request.place.kind == PlaceKind::resumable, options.profile);
  return options;
}

bool is_standard_output(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

void bind_surroundings(RunReports& reports, ProfileWords& profile, OptionTargets& targets) {
  targets.texts.insert({{"--stats", &reports.stats},
                        {"--events", &reports.events},
                        {"--trace", &reports.trace},
                        {"--progress", &reports.progress},
                        {"--profile", &profile.file}});
  targets.switches.insert({{"-q,--quiet", &reports.quiet}, {"--no-profile", &profile.none}});
}

void check_record_size(const ParsedWords& parsed, const Records& records) {
  if (parsed.given.contains("--record-size") && records.record_size == 0)
    throw UsageError(fmt::format("record size 0: a record has 1 to {} bytes", records::max_record_size));
}

std::uint64_t memory_of(const std::string& text) { return std::max<std::uint64_t>(parse_bytes(text, "--memory"), 1); }

unsigned checked_threads(const ParsedWords& parsed, std::uint64_t threads, std::string_view option) {
  if (parsed.given.contains(option) && (threads == 0 || threads > planner::most_threads))
    throw UsageError(fmt::format("{}: give a number from 1 to {}", option, planner::most_threads));
  return static_cast<unsigned>(threads);
}

job::Leeway leeway_of(const SortOptions& options) { return {.runs_are_a_hint = options.profile.used.contains("--run-records")}; }

Request request_of(const SortOptions& options) {
  Request request = options.request;
  const std::uint64_t wanted = request.means.memory_bytes;
  const std::uint64_t bytes = wanted != 0 ? wanted : planner::default_memory_bytes(planner::read_machine());
  if (leeway_of(options).runs_are_a_hint && !options.profile.is_for("--run-records", bytes)) request.means.run_records = 0;
  return request;
}

}  // namespace ecosort::cli
