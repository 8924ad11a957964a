#include "cli/node_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/closest_word.h"
#include "base/errors.h"
#include "cli/option_table.h"
#include "cli/report_files.h"
#include "formats/lines/key_words.h"
#include "formats/lines/line_order.h"
#include "job/plan_rows.h"
#include "job/prepare_records.h"
#include "job/prepare_rows.h"
#include "job/request_json.h"
#include "job/row_formats.h"

namespace ecosort::cli {
namespace {

constexpr auto& formats = format_names;

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
    throw UsageError(fmt::format("{}: '{}' is no format{}; say first what the rows are: {}", command, word,
                                 did_you_mean(word, {formats.begin(), formats.end()}), names_of_formats()));
  return static_cast<ecosort::Format>(found - formats.begin());
}

bool asks_for_help(const Words& words) {
  return !words.empty() && (words.front() == "--help" || std::ranges::find(words, "--help") != words.end());
}

// Renames what the words of GNU sort call otherwise.
Words in_gnu_words(Words words) {
  for (std::string& word : words) {
    if (word == "-q") word = "--quiet";
    if (word == "--threads" || word.starts_with("--threads="))
      word.replace(0, std::string_view("--threads").size(), "--parallel");
  }
  return words;
}

// Reads the words of the command that sorts the format. What a profile says holds for whole sorts.
CommandLine read_words_of_format(std::string_view command, ecosort::Format format, const Words& words) {
  using enum ecosort::Format;
  CommandLine line = format == records ? read_sort_words("sort", words, command)
                     : format == lines ? read_command_line("lines", in_gnu_words(words))
                                       : read_table_words(name_of(format), words);
  line.request = job::request_of(line.document);
  if (format == lines && !line.has("--output")) line.request.place.output.clear();
  return line;
}

[[noreturn]] void refuse(std::string_view command, std::string_view what) {
  throw UsageError(
      fmt::format("{}: {} means nothing here: one range of one file is read, and no row is left out", command, what));
}

// A range has what says its rows and how any two of them compare, one input, one output, and means.
void check_member(std::string_view command, const CommandTable& table, const std::string& member) {
  constexpr std::array<std::string_view, 8> known{"schema",        "inputs",   "place.output",           "means.memory_bytes",
                                                  "means.threads", "means.io", "means.memory_is_a_wish", "compression.output"};
  if (std::ranges::find(known, member) != known.end()) return;
  const OptionRow* const row = row_that_sets(table, member);
  if (row != nullptr && row->concern == Concern::rows) return;
  refuse(command, row == nullptr ? std::string_view(member) : spellings(*row).front());
}

void check_members(std::string_view command, const CommandLine& line) {
  const std::string_view format = name_of(line.request.format());
  const CommandTable& table = command_table(command_of_format(format));
  for (const std::string_view name : line.document.names()) {
    const Json& part = *line.document.find(name);
    if (!part.is_object()) check_member(command, table, std::string(name));
    if (!part.is_object()) continue;
    for (const std::string_view member : part.names())
      if (fmt::format("{}.{}", name, member) != "compression.decompress")
        check_member(command, table, fmt::format("{}.{}", name == format ? "rows" : name, member));
  }
  if (line.request.format() == ecosort::Format::lines && line.request.compression.decompress)
    throw UsageError(fmt::format("{}: compressed lines have no places; decompress the file first", command));
}

// Options that set no member of a request.
void check_others(std::string_view command, const CommandLine& line) {
  for (const GivenOption& given : line.given.options) {
    const std::string_view name = last_spelling(given.row->name);
    if (given.row->sets.member.empty() && find_row(command_table(command), name) == nullptr && name != "--stable")
      refuse(command, spellings(*given.row).front());
  }
}

}  // namespace

namespace {

// The operand is a request; it says what the shared options would.
void read_asked(std::string_view command, const Words& words, NodeWords& node) {
  node.line = read_command_line(command, words);
  for (const GivenOption& given : node.line.given.options)
    if (!is_own(*given.row) && given.row->concern != Concern::report)
      throw UsageError(fmt::format("{}: the request says what {} would; leave it out", command, given.row->name));
  if (!take_request(node.line).empty()) throw UsageError(fmt::format("{}: give the request without options of a run", command));
  node.own = node.line.given;
}

void read_typed(std::string_view command, const Words& words, NodeWords& node) {
  const ecosort::Format format = format_of(command, words.front());
  const CommandTable& table = command_table(command);
  Words own, others;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const OptionRow* const option = find_own(table, words[i]);
    (option == nullptr ? others : own).push_back(words[i]);
    const bool takes_next = option != nullptr && !option->argument.empty() && words[i] == option->name;
    if (takes_next && i + 1 < words.size()) own.push_back(words[++i]);
  }
  node.own = split_words(table, own);
  node.line = read_words_of_format(command, format, others);
  GivenWords all = node.line.given;
  std::ranges::copy(node.own.options, std::back_inserter(all.options));
  check_named_reports(all);
  check_others(command, node.line);
}

}  // namespace

NodeWords read_node_words(std::string_view command, const Words& words) {
  NodeWords node;
  node.own.asks_for_help = asks_for_help(words) || words == Words{"-h"};
  if (node.own.asks_for_help) return node;
  if (words.empty()) throw UsageError(fmt::format("{}: say first what the rows are: {}", command, names_of_formats()));
  if (words.front() == "request")
    read_asked(command, {words.begin() + 1, words.end()}, node);
  else
    read_typed(command, words, node);
  check_conflicts(command_table(command), node.own.options);
  check_members(command, node.line);
  return node;
}

job::FileRange NodeWords::range() const {
  job::FileRange range;
  range.from = own.number("--from");
  if (own.has("--to")) range.to = own.number("--to");
  return range;
}

job::RowTerms row_terms_of(std::string_view command, const CommandLine& line) {
  Request request = line.request;
  if (const Lines* const lines = std::get_if<Lines>(&request.rows)) {
    const bool uses_chance = lines::uses_chance(lines::order_terms(*lines, false));
    if (uses_chance && lines->random_source.empty())
      throw UsageError(fmt::format("{}: -R orders the rows of every range alike only with --random-source FILE", command));
    job::choose_salt(request);
  }
  if (request.place.output.empty()) throw UsageError(fmt::format("{}: no output; name it with -o", command));
  const unsigned threads = std::min(request.means.threads, planner::most_threads);
  return {.format = job::row_format_of(request),
          .input = request.inputs.empty() ? "" : request.inputs.front(),
          .memory_bytes = job::row_memory_of(request.means),
          .threads = threads == 0 ? planner::read_machine().cpus : threads};
}

void check_one_input(std::string_view command, const std::vector<std::string>& inputs) {
  if (inputs.size() != 1 || inputs.front() == "-")
    throw UsageError(fmt::format("{}: name one file; the others have numbers and runs of their own (--source)", command));
}

}  // namespace ecosort::cli
