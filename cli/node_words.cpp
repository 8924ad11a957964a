#include "cli/node_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/closest_word.h"
#include "base/errors.h"
#include "cli/option_table.h"
#include "formats/lines/key_words.h"
#include "formats/lines/line_order.h"
#include "job/format_names.h"
#include "job/prepare_records.h"
#include "job/prepare_rows.h"

namespace ecosort::cli {
namespace {

constexpr auto& formats = job::format_names;

// An option of the command itself; those that `sort` has, too, go to the command of the format. A switch and an option
// with a value are not the same one.
bool is_own(const OptionRow& row) {
  const OptionRow* const of_sort = find_row(command_table("sort"), last_spelling(row.name));
  return of_sort == nullptr || of_sort->argument.empty() != row.argument.empty();
}

// The own option that a word is, perhaps with its argument behind `=`.
const OptionRow* find_own(const CommandTable& table, std::string_view word) {
  const auto row = std::ranges::find_if(table.options, [&](const OptionRow& option) {
    const bool may_have_value = !option.argument.empty();
    return is_own(option) &&
           (word == option.name || (may_have_value && word.starts_with(option.name) && word[option.name.size()] == '='));
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

NodeWords split_node_words(std::string_view command, const Words& words) {
  NodeWords split;
  split.own.asks_for_help = asks_for_help(words) || words == Words{"-h"};
  if (split.own.asks_for_help) return split;
  if (words.empty()) throw UsageError(fmt::format("{}: say first what the rows are: records, lines, csv or jsonl", command));
  split.format = format_of(command, words.front());
  const CommandTable& table = command_table(command);
  Words own;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const OptionRow* const option = find_own(table, words[i]);
    (option == nullptr ? split.others : own).push_back(words[i]);
    const bool takes_next = option != nullptr && !option->argument.empty() && words[i] == option->name;
    if (takes_next && i + 1 < words.size()) own.push_back(words[++i]);
  }
  split.own = split_words(table, own);
  check_conflicts(table, split.own.options);
  return split;
}

job::FileRange NodeWords::range() const {
  job::FileRange range;
  range.from = own.number("--from");
  if (own.has("--to")) range.to = own.number("--to");
  return range;
}

CommandLine parse_record_words(std::string_view command, const Words& words) {
  Words all = words;
  all.emplace_back("--no-profile");
  CommandLine line = read_sort_words("sort", all, command);
  for (const GivenOption& given : line.given.options) {
    const std::string_view name = last_spelling(given.row->name);
    if (find_row(command_table(command), name) == nullptr && name != "--stable" && name != "--no-profile")
      throw UsageError(fmt::format("{}: {} is an option of sort that means nothing here", command, name));
  }
  return line;
}

namespace {

// Options of the commands that sort rows, by their first spellings; a range of a file is no sort.
constexpr std::string_view meaningless =
    "-u,--unique,-m,--merge,-c,-C,--check,--debug,--resumable,--inplace,--as-is,-T,--temp,--header,--stats,--verify,--trace,--"
    "unique-by,--unique-rows,--count,--count-name,--repeated,--singles,--keep,--files0-from,--compress-program,--compress-output,"
    "--batch-size,--assume-"
    "ratio";

void refuse_meaningless(std::string_view command, const CommandLine& line) {
  const std::vector<std::string_view> names = split(meaningless, ',');
  for (const GivenOption& given : line.given.options) {
    const std::string_view name = spellings(*given.row).front();
    const bool is_known = find_row(command_table(command), last_spelling(name)) != nullptr;
    if (std::ranges::find(names, name) != names.end() && !is_known)
      throw UsageError(
          fmt::format("{}: {} means nothing here: one range of one file is read, and no row is left out", command, name));
  }
}

// Renames what the words of GNU sort call otherwise.
Words in_gnu_words(const Words& words) {
  Words all = words;
  for (std::string& word : all) {
    if (word == "-q") word = "--quiet";
    if (word == "--threads" || word.starts_with("--threads="))
      word.replace(0, std::string_view("--threads").size(), "--parallel");
  }
  return all;
}

// Returns what both kinds of words make, once it was looked at.
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
  CommandLine line = read_command_line("lines", in_gnu_words(words));
  refuse_meaningless(command, line);
  if (line.has("--decompress"))
    throw UsageError(fmt::format("{}: compressed lines have no places; decompress the file first", command));
  const bool uses_chance = lines::uses_chance(lines::order_terms(line.lines(), false));
  if (uses_chance && line.lines().random_source.empty())
    throw UsageError(fmt::format("{}: -R orders the rows of every range alike only with --random-source FILE", command));
  job::choose_salt(line.request);
  RowWordsOptions rows = row_words_of(line.request, line.reports);
  rows.output = line.word("--output");
  return rows;
}

RowWordsOptions parse_table_words(std::string_view command, ecosort::Format format, const Words& words) {
  const CommandLine line = read_table_words(job::name_of(format), words);
  refuse_meaningless(command, line);
  return row_words_of(line.request, line.reports);
}

}  // namespace

job::RowTerms RowWordsOptions::terms() { return {std::move(format), inputs.front(), memory_bytes, threads}; }

RowWordsOptions parse_row_words(std::string_view command, const NodeWords& words) {
  RowWordsOptions rows = words.format == ecosort::Format::lines ? parse_line_words(command, words.others)
                                                                : parse_table_words(command, words.format, words.others);
  if (rows.output.empty()) throw UsageError(fmt::format("{}: no output; name it with -o", command));
  if (rows.threads == 0) rows.threads = planner::read_machine().cpus;
  return rows;
}

void check_one_input(std::string_view command, const std::vector<std::string>& inputs) {
  if (inputs.size() != 1 || inputs.front() == "-")
    throw UsageError(fmt::format("{}: name one file; the others have numbers and runs of their own (--source)", command));
}

}  // namespace ecosort::cli
