#include "cli/table_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "cli/compression_options.h"
#include "cli/option_binding.h"
#include "cli/option_table.h"
#include "cli/progress_line.h"
#include "cli/sort_options.h"
#include "formats/lines/grammar.h"
#include "job/format_names.h"
#include "job/places.h"
#include "job/session.h"

namespace ecosort::cli {
namespace {

// The words that are not values yet.
struct TableWords {
  std::vector<std::string> keys;
  std::string output, delimiter, quote, nulls, memory, verify = "always", assumed_size;
  std::uint64_t threads = 0;
  bool no_header = false, allows_missing = false, merges = false, is_resumable = false;
  CompressionWords compression{.decompress = "auto", .output = "auto", .level = ""};
};

char one_byte(const std::string& option, const std::string& word) {
  if (word.size() == 1) return word.front();
  throw UsageError(fmt::format("{}: '{}' is not one byte", option, word));
}

char delimiter_of(const std::string& word) { return word == "tab" || word == "\\t" ? '\t' : one_byte("--delimiter", word); }

bool are_nulls_first(const std::string& word) {
  if (word != "first" && word != "last") throw UsageError(fmt::format("--nulls: '{}' is neither 'first' nor 'last'", word));
  return word == "first";
}

void resolve_csv(const TableWords& words, Csv& csv) {
  if (!words.delimiter.empty()) csv.delimiter = delimiter_of(words.delimiter);
  if (words.quote == "none")
    csv.quote.reset();
  else if (!words.quote.empty())
    csv.quote = one_byte("--quote", words.quote);
  csv.header = !words.no_header;
}

void resolve(const TableWords& words, const ParsedWords& parsed, TableOptions& options) {
  Request& request = options.request;
  Means& means = request.means;
  request.place.output = is_standard_output(words.output) ? std::string(1, '-') : words.output;
  if (words.is_resumable) request.place.kind = PlaceKind::resumable;
  if (words.merges) request.input_order = InputOrder::sorted;
  if (auto* const csv = std::get_if<Csv>(&request.rows)) resolve_csv(words, *csv);
  if (auto* const json = std::get_if<JsonLines>(&request.rows)) json->allow_missing = words.allows_missing;
  options.values().keys.assign(words.keys.begin(), words.keys.end());
  if (!words.nulls.empty()) options.values().nulls_first = are_nulls_first(words.nulls);
  if (!words.memory.empty()) means.memory_bytes = memory_of(words.memory);
  means.threads = checked_threads(parsed, words.threads);
  if (!words.assumed_size.empty()) {
    options.assumed_bytes = parse_assumed_bytes(words.assumed_size, "--assume-size");
    if (options.assumed_bytes == 0) throw UsageError("--assume-size: give at least one byte");
  }
  request.verification.reread = lines::is_reread(words.verify);
  request.compression = words.compression.terms();
  options.goal = words.compression.runs.goal;
  job::check_queue_name(means.io);
  (void)progress_mode(options.reports.progress);
}

[[noreturn]] void refuse(const TableOptions& options, std::string_view why) {
  throw UsageError(fmt::format("{}: {}", job::name_of(options.request.format()), why));
}

void check_keys(const TableOptions& options) {
  if (!options.values().keys.empty()) return;
  refuse(options, options.is_csv() ? "no key; name a column with --by NAME[:TYPE][:desc]"
                                   : "no key; name a value with --by PATH[:TYPE][:desc]");
}

void check_complete(const TableOptions& options) {
  const Request& request = options.request;
  if (request.inputs.empty()) refuse(options, "no input; name one or more files, or - for standard input");
  if (options.check) {
    if (request.input_order != InputOrder::any) refuse(options, "--check sorts nothing, and goes without --merge");
    if (!request.place.output.empty()) refuse(options, "--check writes nothing, and goes without -o");
    if (request.inputs.size() > 1) refuse(options, "--check takes one input");
    return;
  }
  if (request.place.output.empty()) refuse(options, "no output; name it with -o FILE, or -o - for standard output");
}

void check_plan(const TableOptions& options) {
  const bool is_resumable = options.request.place.kind == PlaceKind::resumable;
  if (options.check) refuse(options, "--check sorts nothing, so there is nothing to plan");
  if (options.json && !is_resumable) refuse(options, "--json is for --resumable; the bounds are told as text");
  if (options.assumed_bytes == 0) return check_complete(options);
  if (is_resumable) refuse(options, "--assume-size goes without --resumable");
  if (!options.request.inputs.empty()) refuse(options, "--assume-size is for rows that are not there; leave one of them out");
}

// The words alone, without a profile.
TableOptions parse_table_words(Format format, std::string_view command, const Words& words) {
  TableOptions options;
  Request& request = options.request;
  if (format == Format::csv)
    request.rows = Csv{};
  else
    request.rows = JsonLines{};
  TableWords texts;
  OptionTargets targets;
  targets.texts = {{"-o,--output", &texts.output},
                   {"--delimiter", &texts.delimiter},
                   {"--quote", &texts.quote},
                   {"--nulls", &texts.nulls},
                   {"--memory", &texts.memory},
                   {"--io", &request.means.io},
                   {"--verify", &texts.verify},
                   {"--date-format", &options.values().date_format},
                   {"--assume-size", &texts.assumed_size}};
  targets.lists = {{"--by", &texts.keys}, {"--temp", &request.means.temp_directories}};
  targets.switches = {{"--no-header", &texts.no_header},
                      {"--strict", &options.values().strict},
                      {"--allow-missing", &texts.allows_missing},
                      {"--unique", &request.unique},
                      {"--merge", &texts.merges},
                      {"--check", &options.check},
                      {"--resumable", &texts.is_resumable},
                      {"--json", &options.json}};
  targets.numbers = {{"--threads", &texts.threads}};
  texts.compression.bind(targets);
  bind_surroundings(options.reports, options.profile_words, targets);
  targets.operands = &request.inputs;
  const ParsedWords parsed = parse_words(command_table(command), words, targets);
  options.help = parsed.asks_for_help;
  if (options.help) return options;
  options.given = parsed.given;
  resolve(texts, parsed, options);
  return options;
}

}  // namespace

TableOptions parse_table_options(Format format, std::string_view command, const Words& words) {
  TableOptions asked = parse_table_words(format, command, words);
  if (asked.help) return asked;
  check_keys(asked);
  command.starts_with("plan ") ? check_plan(asked) : check_complete(asked);
  TableOptions options = with_profile(std::move(asked), {"--threads", "--io"}, words,
                                      [&](const Words& all) { return parse_table_words(format, command, all); });
  Compression& compression = options.request.compression;
  compression.energy =
      energy_of_goal(options.goal, compression, "auto", options.request.place.kind == PlaceKind::resumable, options.profile);
  return options;
}

}  // namespace ecosort::cli
