// A file of CSV has any bytes and they arrive in any way: either its rows, joined, are the file, all of them have the same number
// of fields and they are sorted as a stable sort by comparing does it; or the first wrong one is reported, which is one.
//
// Input: a byte of switches, one for the size of a block, one for the type of the key and, above it, the dialect; the text
// follows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arriving_rows.h"
#include "base/errors.h"
#include "base/memory.h"
#include "formats/csv/check_row.h"
#include "formats/csv/csv_format.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/line_run.h"
#include "fuzz_support.h"

namespace ecosort::csv {
namespace {

using fuzz::require;

constexpr std::size_t run_bytes = std::size_t{4} << 20U;
constexpr std::size_t long_text_bytes = std::size_t{70} << 10U;  // more than one part for several threads

struct Trial {
  CsvTerms terms;
  unsigned threads = 1;
  std::size_t block_bytes = 1;
  std::string text;
};

std::optional<Trial> read_trial(std::string_view input) {
  if (input.size() < 4) return std::nullopt;
  const auto switches = static_cast<unsigned char>(input[0]);
  Trial trial;
  trial.threads = (switches & 1U) != 0 ? 3 : 1;
  if ((switches & 2U) != 0) trial.terms.dialect.quote.reset();
  constexpr unsigned types = static_cast<unsigned>(ValueType::list);
  const auto chosen = static_cast<unsigned char>(input[2]);
  if (chosen / types % 2 != 0) trial.terms.dialect.escape = '\\';
  if (chosen / types / 2 % 2 != 0) trial.terms.dialect.delimiter = Delimiter(",,");
  trial.terms.nulls_first = (switches & 4U) != 0;
  trial.terms.has_header = false;
  trial.terms.keys.push_back({"1", static_cast<ValueType>(chosen % types), (switches & 8U) != 0});
  trial.block_bytes = 1 + static_cast<unsigned char>(input[1]) * std::size_t{64};
  trial.text = input.substr(3);
  if (switches >= 0xf0) {  // rarely, because it takes a hundred times as long
    const std::string once = trial.text;
    while (trial.text.size() < long_text_bytes) trial.text += once;
    trial.block_bytes *= 64;
  }
  return trial;
}

// Rows as a plain state machine finds them; the rest behind the last end is no row.
std::vector<Text> rows_of(Text text, Dialect dialect) {
  std::vector<Text> rows;
  std::size_t begin = 0;
  bool is_inside = false, is_escaped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::exchange(is_escaped, false)) continue;
    is_escaped = text[i] == dialect.escape;
    if (text[i] == dialect.quote) is_inside = !is_inside;
    if (text[i] != '\n' || is_inside) continue;
    rows.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return rows;
}

// Returns the text from a row of it on.
Text from(Text row, Text text) { return text.substr(static_cast<std::size_t>(row.data() - text.data())); }

bool is_regular(Text row, const CsvFormat& format) {
  std::vector<std::uint32_t> borders;
  return !format.look_at(row, borders);
}

void check_order(const CsvFormat& format, lines::LineRun& run, std::vector<Text> rows, unsigned threads) {
  lines::sort_index(run, format, threads);
  std::ranges::stable_sort(rows, [&](Text a, Text b) { return format.compare(a, b) < 0; });
  require(run.count == rows.size(), "the index has all rows");
  for (std::size_t i = 0; i < run.count; ++i) require(run.line(run.entries()[i]) == rows[i], "the rows are in order");
}

void check_rows(const Trial& trial) {
  static MemoryBudget memory(run_bytes + (std::uint64_t{1} << 20U));
  static lines::LineRun run{.memory = memory.allocate(run_bytes, "run")};
  const std::vector<Text> rows = rows_of(trial.text, trial.terms.dialect);
  if (rows.empty()) return;
  CsvFormat format(trial.terms);
  format.begin_input();
  try {
    (void)format.take_first_row("in", rows.front());
  } catch (const UsageError&) {
    return;
  }
  run.count = 0;
  run.line_bytes = 0;
  run.format = &format;
  run.has_quotes = false;
  const lines::Indexed indexed =
      lines::index_as_it_arrives({trial.text, trial.block_bytes, trial.threads}, format, run, run_bytes);
  const auto wrong = std::ranges::find_if_not(rows, [&](Text row) { return is_regular(row, format); });
  // Lines with nothing in them that end the file are no rows.
  const bool ends_blank = wrong != rows.end() && format.is_blank_end(from(*wrong, trial.text));
  require(indexed.fault.has_value() == (wrong != rows.end() && !ends_blank), "a wrong row is reported if there is one");
  require(indexed.lines == static_cast<std::size_t>(wrong - rows.begin()), "all rows in front of it are taken");
  std::uint64_t ends = 0;
  hash::MultisetHash hash;
  for (auto row = rows.begin(); row != wrong; ++row) {
    ends += static_cast<std::uint64_t>(std::ranges::count(*row, '\n'));
    lines::add_line(hash, *row);
  }
  require(indexed.ends_inside == ends, "lines within rows are counted");
  require(indexed.hash == hash, "the hash is that of the rows");
  if (!indexed.fault) check_order(format, run, {rows.begin(), wrong}, trial.threads);
}

}  // namespace
}  // namespace ecosort::csv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ecosort::csv;
  if (const std::optional<Trial> trial = read_trial({reinterpret_cast<const char*>(data), size})) check_rows(*trial);
  return 0;
}
