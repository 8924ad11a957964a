// `ecosort lines` with any options gives an order, or one line about what is wrong. And every order is one: it contradicts itself
// nowhere, its windows agree with it, and what --debug marks lies in the line.
//
// Input: words, each ended by a newline; an empty one ends them; lines follow.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/request_words.h"
#include "cli/tables/tables.h"
#include "formats/lines/debug_marks.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/key_words.h"
#include "formats/lines/line_order.h"
#include "fuzz_support.h"

namespace ecosort::lines {
namespace {

using fuzz::require;

constexpr std::size_t most_lines = 10;  // every three of them are compared

int order_of(const records::KeyWindow& a, const records::KeyWindow& b) {
  if (a.prefix != b.prefix) return a.prefix < b.prefix ? -1 : 1;
  return (a.extension > b.extension) - (a.extension < b.extension);
}

void check_windows(const LineOrder& order, Text a, Text b, int relation) {
  const records::KeyWindow window = order.window(a);
  if (const int windows = order_of(window, order.window(b)); windows != 0)
    return require((windows < 0) == (relation < 0) && relation != 0, "windows order as the comparison does");
  unsigned level = 0;
  if (tie_is_decided(order, window, level))
    require(relation == 0, "a tie of windows that decides is a tie");
  else
    require(order.compare(a, b, level) == relation, "a tie of windows continues at its level");
}

void check_pair(const LineOrder& order, bool has_last_resort, Text a, Text b) {
  const int relation = order.compare(a, b);
  require(relation == -order.compare(b, a), "the comparison is antisymmetric");
  require(a != b || relation == 0, "a line equals itself");
  require(!has_last_resort || relation != 0 || a == b, "the last resort tells lines apart");
  check_windows(order, a, b, relation);
}

void check_marks(const LineOrder& order, Text line) {
  for (unsigned level = 0; level < order.levels(); ++level) {
    require(order.key_begin(line, level) <= line.size() && order.key_end(line, level) <= line.size(), "a key lies in its line");
  }
  std::string marked;
  append_marked(line, order, marked);
  require(static_cast<std::size_t>(std::ranges::count(marked, '\n')) ==
              1 + order.levels() + static_cast<std::size_t>(std::ranges::count(line, '\n')),
          "one line of marks for each level");
}

void check_order(const LineOrderTerms& terms, std::vector<Text> lines) {
  const LineOrder order(terms);
  if (lines.size() > most_lines) lines.resize(most_lines);
  for (const Text a : lines) {
    check_marks(order, a);
    for (const Text b : lines) check_pair(order, terms.last_resort, a, b);
  }
  std::stable_sort(lines.begin(), lines.end(), [&](Text a, Text b) { return order.compare(a, b) < 0; });
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (std::size_t j = i; j < lines.size(); ++j)
      require(order.compare(lines[i], lines[j]) <= 0, "the comparison is transitive");
}

void check_words(std::string_view input) {
  std::vector<std::string> words;
  while (!input.empty()) {
    const std::size_t end = input.find('\n');
    const std::string_view word = input.substr(0, end);
    input.remove_prefix(end == std::string_view::npos ? input.size() : end + 1);
    if (word.empty()) break;
    words.emplace_back(word.substr(0, word.find('\0')));
  }
  try {
    static const cli::CommandTable table = cli::lines_table();
    const cli::RequestWords read = cli::read_request_words(table, words, cli::posix_rules_of_environment());
    if (read.given.asks_for_help || read.given.asks_for_version) return;
    const auto& lines = std::get<Lines>(read.request.rows);
    check_order(order_terms(lines, read.request.unique), fuzz::split(input, lines.terminator));
  } catch (const UsageError& error) {
    const std::string_view line = error.what();
    require(!line.empty() && line.find('\n') == std::string_view::npos, "one line says what is wrong");
  }
}

}  // namespace
}  // namespace ecosort::lines

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ecosort::lines::check_words({reinterpret_cast<const char*>(data), size});
  return 0;
}
