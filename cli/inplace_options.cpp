// What `inplace`, `resume` and `plan inplace` are asked for, resolved against the machine and the file.
#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "base/size_text.h"
#include "cli/inplace.h"
#include "cli/option_binding.h"
#include "cli/report_files.h"
#include "cli/sort_options.h"
#include "formats/lines/grammar.h"
#include "job/session.h"

namespace ecosort::cli {

namespace {

// What is no value of a job, or not yet.
struct OtherWords {
  std::vector<std::string> files, keys;
  std::string memory, verify = "always", assumed_size, space;
  bool stable = false;
  std::uint64_t threads = 0;
};

OptionTargets targets_of(InPlaceOptions& options, OtherWords& others) {
  return {.texts = {{"--memory", &others.memory},
                    {"--io", &options.request.means.io},
                    {"--assume-size", &others.assumed_size},
                    {"--space", &others.space},
                    {"--trust-owner", &options.trust_owner},
                    {"--verify", &others.verify}},
          .lists = {{"--key", &others.keys}},
          .switches = {{"--reverse", &options.records().reverse},
                       {"--stable", &others.stable},
                       {"--json", &options.json},
                       {"--status", &options.status},
                       {"--abandon", &options.abandon},
                       {"--trust-drive", &options.trust_drive},
                       {"--as-is", &options.request.place.as_is}},
          .numbers = {{"--record-size", &options.records().record_size}, {"--threads", &others.threads}},
          .operands = &others.files};
}

void resolve(const OtherWords& words, const ParsedWords& parsed, InPlaceOptions& options) {
  Request& request = options.request;
  request.place.kind = PlaceKind::in_place;
  options.records().keys.assign(words.keys.begin(), words.keys.end());
  request.means.threads = checked_threads(parsed, words.threads);
  if (!words.memory.empty()) request.means.memory_bytes = memory_of(words.memory);
  if (!words.space.empty()) request.place.space_bytes = parse_bytes(words.space, "--space");
  check_record_size(parsed, options.records());
  request.verification.reread = lines::is_reread(words.verify);
  (void)progress_mode(options.run.reports.progress);
  job::check_queue_name(request.means.io);
}

// The words alone, without a profile.
InPlaceOptions parse_inplace_words(const std::string& command, const Words& words) {
  InPlaceOptions options;
  OtherWords others;
  OptionTargets targets = targets_of(options, others);
  bind_surroundings(options.run.reports, options.profile_words, targets);
  const ParsedWords parsed = parse_words(command_table(command), words, targets);
  options.help = parsed.asks_for_help;
  if (options.help) return options;
  options.given = parsed.given;
  resolve(others, parsed, options);
  const bool is_assumed = !others.assumed_size.empty();
  if (is_assumed && !others.files.empty())
    throw UsageError("--assume-size is for a file that is not there; leave one of them out");
  if (!is_assumed && others.files.size() != 1) throw UsageError(fmt::format("{}: name one file", command));
  if (options.status && options.abandon) throw UsageError("resume: give either --status or --abandon");
  if (is_assumed) options.assumed_bytes = std::max<std::uint64_t>(parse_assumed_bytes(others.assumed_size, "--assume-size"), 1);
  options.request.inputs = others.files;
  if (!is_assumed) options.run.file = others.files.front();
  return options;
}

}  // namespace

void check_job_reports(const JobRun& run) {
  check_report_files({run.reports.stats, run.reports.events, ""}, std::vector<engine::Input>(), run.file);
}

InPlaceOptions parse_inplace_options(const std::string& command, const Words& words) {
  InPlaceOptions asked = parse_inplace_words(command, words);
  if (asked.help || command == "resume") return asked;
  const std::vector<std::string_view> applicable{"--threads", "--io"};
  return with_profile(std::move(asked), applicable, words, [&](const Words& all) { return parse_inplace_words(command, all); });
}

}  // namespace ecosort::cli
