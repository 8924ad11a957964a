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
#include "job/places.h"
#include "job/session.h"

namespace ecosort::cli {
namespace {

// The words that are not values yet.
struct TableWords {
  std::string output, delimiter, quote, nulls, memory, io = "auto", verify = "always", assumed_size;
  std::uint64_t threads = 0;
  bool no_header = false;
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

void resolve(const TableWords& words, const ParsedWords& parsed, TableOptions& options) {
  SortSpec& spec = options.spec;
  spec.output = is_standard_output(words.output) ? std::string(1, '-') : words.output;
  if (!words.delimiter.empty()) spec.csv.delimiter = delimiter_of(words.delimiter);
  if (words.quote == "none")
    spec.csv.quote.reset();
  else if (!words.quote.empty())
    spec.csv.quote = one_byte("--quote", words.quote);
  spec.csv.header = !words.no_header;
  if (!words.nulls.empty()) spec.table.nulls_first = are_nulls_first(words.nulls);
  if (!words.memory.empty()) spec.memory_bytes = std::max<std::uint64_t>(parse_bytes(words.memory, "--memory"), 1);
  spec.threads = checked_threads(parsed, words.threads);
  if (!words.assumed_size.empty()) {
    options.assumed_bytes = parse_assumed_bytes(words.assumed_size, "--assume-size");
    if (options.assumed_bytes == 0) throw UsageError("--assume-size: give at least one byte");
  }
  spec.io = words.io;
  check_verify(words.verify);
  spec.reread = words.verify == "reread";
  spec.compression = words.compression.terms();
  options.goal = words.compression.runs.goal;
  job::check_queue_name(spec.io);
  (void)progress_mode(options.progress);
}

[[noreturn]] void refuse(const TableOptions& options, std::string_view why) {
  throw UsageError(fmt::format("{}: {}", word_of(options.spec.format), why));
}

void check_keys(const TableOptions& options) {
  if (!options.spec.table.keys.empty()) return;
  refuse(options, options.spec.format == Format::csv ? "no key; name a column with --by NAME[:TYPE][:desc]"
                                                     : "no key; name a value with --by PATH[:TYPE][:desc]");
}

void check_complete(const TableOptions& options) {
  const SortSpec& spec = options.spec;
  if (spec.inputs.empty()) refuse(options, "no input; name one or more files, or - for standard input");
  if (options.check) {
    if (spec.table.merge) refuse(options, "--check sorts nothing, and goes without --merge");
    if (!spec.output.empty()) refuse(options, "--check writes nothing, and goes without -o");
    if (spec.inputs.size() > 1) refuse(options, "--check takes one input");
    return;
  }
  if (spec.output.empty()) refuse(options, "no output; name it with -o FILE, or -o - for standard output");
}

void check_plan(const TableOptions& options) {
  if (options.check) refuse(options, "--check sorts nothing, so there is nothing to plan");
  if (options.json && !options.resumable) refuse(options, "--json is for --resumable; the bounds are told as text");
  if (options.assumed_bytes == 0) return check_complete(options);
  if (options.resumable) refuse(options, "--assume-size goes without --resumable");
  if (!options.spec.inputs.empty()) refuse(options, "--assume-size is for rows that are not there; leave one of them out");
}

// The words alone, without a profile.
TableOptions parse_table_words(Format format, std::string_view command, const Words& words) {
  TableOptions options;
  options.spec.format = format;
  TableWords texts;
  OptionTargets targets;
  targets.texts = {{"-o,--output", &texts.output},
                   {"--delimiter", &texts.delimiter},
                   {"--quote", &texts.quote},
                   {"--nulls", &texts.nulls},
                   {"--memory", &texts.memory},
                   {"--io", &texts.io},
                   {"--verify", &texts.verify},
                   {"--stats", &options.stats},
                   {"--events", &options.events},
                   {"--trace", &options.trace},
                   {"--profile", &options.profile_words.file},
                   {"--progress", &options.progress},
                   {"--date-format", &options.spec.table.date_format},
                   {"--assume-size", &texts.assumed_size}};
  targets.lists = {{"--by", &options.spec.table.keys}, {"--temp", &options.spec.temp_directories}};
  targets.switches = {{"--no-header", &texts.no_header},
                      {"--strict", &options.spec.table.strict},
                      {"--allow-missing", &options.spec.table.allow_missing},
                      {"--unique", &options.spec.unique},
                      {"--merge", &options.spec.table.merge},
                      {"--check", &options.check},
                      {"-q,--quiet", &options.quiet},
                      {"--resumable", &options.resumable},
                      {"--json", &options.json},
                      {"--no-profile", &options.profile_words.none}};
  targets.numbers = {{"--threads", &texts.threads}};
  texts.compression.bind(targets);
  targets.operands = &options.spec.inputs;
  const ParsedWords parsed = parse_words(command_table(command), words, targets);
  options.help = parsed.asks_for_help;
  if (options.help) return options;
  options.given = parsed.given;
  resolve(texts, parsed, options);
  return options;
}

}  // namespace

std::string_view word_of(Format format) noexcept { return format == Format::csv ? "csv" : "jsonl"; }

TableOptions parse_table_options(Format format, std::string_view command, const Words& words) {
  TableOptions asked = parse_table_words(format, command, words);
  if (asked.help) return asked;
  check_keys(asked);
  command.starts_with("plan ") ? check_plan(asked) : check_complete(asked);
  TableOptions options = with_profile(std::move(asked), {"--threads", "--io"}, words,
                                      [&](const Words& all) { return parse_table_words(format, command, all); });
  CompressionTerms& compression = options.spec.compression;
  compression.energy = energy_of_goal(options.goal, compression, "auto", options.resumable, options.profile);
  return options;
}

}  // namespace ecosort::cli
