#include "cli/node_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/closest_word.h"
#include "base/errors.h"
#include "cli/option_table.h"
#include "cli/progress_line.h"
#include "cli/rows_command.h"
#include "cli/table_options.h"
#include "formats/lines/grammar.h"
#include "formats/lines/line_order.h"
#include "job/format_names.h"
#include "job/prepare_records.h"
#include "job/prepare_rows.h"

namespace ecosort::cli {
namespace {

constexpr auto& formats = job::format_names;

bool is_bound(const OptionTargets& targets, std::string_view name) {
  return targets.texts.contains(name) || targets.lists.contains(name) || targets.switches.contains(name) ||
         targets.numbers.contains(name);
}

// Of the command's own options.
CommandTable own_table(std::string_view command, const OptionTargets& targets) {
  CommandTable table = command_table(command);
  std::erase_if(table.options, [&](const OptionRow& row) { return !is_bound(targets, row.name); });
  return table;
}

// The option that a word is, perhaps with its argument behind `=`.
const OptionRow* find_option(const CommandTable& table, std::string_view word) {
  const auto row = std::ranges::find_if(table.options, [&](const OptionRow& option) {
    const bool may_have_value = !option.argument.empty();
    return word == option.name || (may_have_value && word.starts_with(option.name) && word[option.name.size()] == '=');
  });
  return row == table.options.end() ? nullptr : &*row;
}

ecosort::Format format_of(std::string_view command, const std::string& word) {
  const auto found = std::ranges::find(formats, word);
  if (found == formats.end())
    throw UsageError(fmt::format("{}: '{}' is no format{}; say first what the rows are: records, lines, csv or jsonl", command,
                                 word, did_you_mean(word, {formats.begin(), formats.end()})));
  return static_cast<ecosort::Format>(found - formats.begin());
}

bool asks_for_help(const Words& words) {
  return !words.empty() && (words.front() == "--help" || std::ranges::find(words, "--help") != words.end());
}

}  // namespace

NodeWords split_node_words(std::string_view command, const Words& words, const OptionTargets& targets) {
  NodeWords split;
  split.asks_for_help = asks_for_help(words) || words == Words{"-h"};
  if (split.asks_for_help) return split;
  if (words.empty()) throw UsageError(fmt::format("{}: say first what the rows are: records, lines, csv or jsonl", command));
  split.format = format_of(command, words.front());
  const CommandTable table = own_table(command, targets);
  Words own;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const OptionRow* const option = find_option(table, words[i]);
    (option == nullptr ? split.others : own).push_back(words[i]);
    const bool takes_next = option != nullptr && !option->argument.empty() && words[i] == option->name;
    if (takes_next && i + 1 < words.size()) own.push_back(words[++i]);
  }
  std::vector<std::string> none;
  OptionTargets bound = targets;
  bound.operands = &none;
  split.parsed = parse_words(table, own, bound);
  return split;
}

SortOptions parse_record_words(std::string_view command, const Words& words) {
  static constexpr std::array<std::string_view, 12> possible{"-o,--output", "--record-size", "--key",      "--reverse",
                                                             "--stable",    "--memory",      "--threads",  "--io",
                                                             "--progress",  "--events",      "-q,--quiet", "--no-profile"};
  Words all = words;
  all.emplace_back("--no-profile");
  SortOptions options = parse_sort_options("sort", all, command);
  for (const std::string_view given : options.given)
    if (std::ranges::find(possible, given) == possible.end())
      throw UsageError(fmt::format("{}: {} is an option of sort that means nothing here", command,
                                   given.substr(given.find(',') == std::string_view::npos ? 0 : given.find(',') + 1)));
  return options;
}

namespace {

[[noreturn]] void refuse_word(std::string_view command, std::string_view what) {
  throw UsageError(
      fmt::format("{}: {} means nothing here: one range of one file is read, and no row is left out", command, what));
}

void check_line_words(std::string_view command, const lines::LinesOptions& options) {
  const Request& request = options.request;
  if (request.unique) refuse_word(command, "-u");
  if (request.input_order != InputOrder::any) refuse_word(command, "-m");
  if (options.check != lines::Check::no) refuse_word(command, "-c");
  if (options.debug) refuse_word(command, "--debug");
  if (request.place.kind == PlaceKind::resumable) refuse_word(command, "--resumable");
  if (request.place.kind == PlaceKind::in_place) refuse_word(command, "--inplace");
  if (request.place.as_is) refuse_word(command, "--as-is");
  if (options.lines().header_lines > 0) refuse_word(command, "--header");
  if (!options.files0_from.empty()) refuse_word(command, "--files0-from");
  if (!request.compression.program.empty()) refuse_word(command, "--compress-program");
  if (request.compression.decompress || request.compression.output != "none") refuse_word(command, "compression");
  if (!options.stats.empty()) refuse_word(command, "--stats");
  if (request.verification.reread) refuse_word(command, "--verify");
  if (!request.means.temp_directories.empty()) refuse_word(command, "-T");
  if (options.uses_chance() && options.lines().random_source.empty())
    throw UsageError(fmt::format("{}: -R orders the rows of every range alike only with --random-source FILE", command));
}

// What is called otherwise in the words of GNU sort.
Words in_gnu_words(const Words& words) {
  Words all = words;
  for (std::string& word : all) {
    if (word == "-q") word = "--quiet";
    if (word == "--threads" || word.starts_with("--threads="))
      word.replace(0, std::string_view("--threads").size(), "--parallel");
  }
  return all;
}

// What both kinds of words make, once it was looked at.
RowWordsOptions row_words_of(const Request& request, RunReports reports) {
  RowWordsOptions rows;
  rows.format = job::row_format_of(request);
  rows.inputs = request.inputs;
  rows.output = request.place.output;
  rows.io = request.means.io;
  rows.reports = std::move(reports);
  rows.memory_bytes = job::row_memory_of(request.means);
  rows.threads = std::min(request.means.threads, planner::most_threads);
  return rows;
}

RowWordsOptions parse_line_words(std::string_view command, const Words& words) {
  lines::LinesOptions options = lines::parse_lines_words(in_gnu_words(words));
  check_line_words(command, options);
  job::choose_salt(options.request);
  RowWordsOptions rows = row_words_of(options.request, reports_of(options));
  rows.output = options.output;
  return rows;
}

RowWordsOptions parse_table_words(std::string_view command, ecosort::Format format, const Words& words) {
  const TableOptions options = parse_table_options(format, job::name_of(format), words);
  const Request& request = options.request;
  if (request.unique) refuse_word(command, "--unique");
  if (request.input_order != InputOrder::any) refuse_word(command, "--merge");
  if (options.check) refuse_word(command, "--check");
  if (request.verification.reread) refuse_word(command, "--verify=reread");
  if (!options.reports.stats.empty()) refuse_word(command, "--stats");
  if (!request.means.temp_directories.empty()) refuse_word(command, "--temp");
  if (request.compression.output != "auto") refuse_word(command, "--compress-output");
  return row_words_of(request, options.reports);
}

}  // namespace

job::RowTerms RowWordsOptions::terms() { return {std::move(format), inputs.front(), memory_bytes, threads}; }

RowWordsOptions parse_row_words(std::string_view command, const NodeWords& words) {
  RowWordsOptions rows = words.format == ecosort::Format::lines ? parse_line_words(command, words.others)
                                                                : parse_table_words(command, words.format, words.others);
  if (rows.output.empty()) throw UsageError(fmt::format("{}: no output; name it with -o", command));
  (void)progress_mode(rows.reports.progress);
  if (rows.threads == 0) rows.threads = planner::read_machine().cpus;
  return rows;
}

void check_one_input(std::string_view command, const std::vector<std::string>& inputs) {
  if (inputs.size() != 1 || inputs.front() == "-")
    throw UsageError(fmt::format("{}: name one file; the others have numbers and runs of their own (--source)", command));
}

job::ByteRange RangeWords::range(const ParsedWords& parsed) const {
  job::ByteRange range;
  range.from = from;
  if (parsed.given.contains("--to")) range.to = to;
  return range;
}

}  // namespace ecosort::cli
