// A file of JSON lines has any bytes and they arrive in any way: either its lines are taken, those that are not blank are sorted
// as a stable sort by comparing does it, and what one key finds is what all keys found; or the first wrong one is reported.
//
// Input: a byte of switches, one for the size of a block, one for the type of the key; the text follows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arriving_rows.h"
#include "base/memory.h"
#include "formats/jsonl/jsonl_format.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/line_run.h"
#include "fuzz_support.h"

namespace ecosort::jsonl {
namespace {

using fuzz::require;

constexpr std::size_t run_bytes = std::size_t{4} << 20U;
constexpr std::size_t long_text_bytes = std::size_t{70} << 10U;  // more than one part for several threads
constexpr std::string_view paths[] = {"a", "[0]", "a[1].b", "a.a"};

struct Trial {
  JsonlTerms terms;
  unsigned threads = 1;
  std::size_t block_bytes = 1;
  std::string text;
};

std::optional<Trial> read_trial(std::string_view input) {
  if (input.size() < 4) return std::nullopt;
  const auto switches = static_cast<unsigned char>(input[0]), type = static_cast<unsigned char>(input[2]);
  Trial trial;
  trial.threads = (switches & 1U) != 0 ? 3 : 1;
  trial.terms.nulls_first = (switches & 4U) != 0;
  for (unsigned i = 0; i < 2; ++i)
    trial.terms.keys.push_back({std::string(paths[(type >> (3 + 2 * i)) % 4U]),
                                static_cast<ValueType>((type + i) % static_cast<unsigned>(ValueType::list)),
                                (switches & 8U) != 0});
  trial.block_bytes = 1 + static_cast<unsigned char>(input[1]) * std::size_t{64};
  trial.text = input.substr(3);
  if (switches >= 0xf0) {  // rarely, because it takes a hundred times as long
    const std::string once = trial.text;
    while (trial.text.size() < long_text_bytes) trial.text += once;
    trial.block_bytes *= 64;
  }
  return trial;
}

// The rest behind the last end is no row.
std::vector<Text> rows_of(Text text) {
  std::vector<Text> rows;
  for (std::size_t end = 0; (end = text.find('\n')) != Text::npos; text.remove_prefix(end + 1))
    rows.push_back(text.substr(0, end));
  return rows;
}

// Reading on the way to one value finds what reading all of the row finds; where no name repeats, the search may end early.
bool is_valid(Text row, const std::vector<Path>& ways) {
  const std::string alone(row);  // so that a read beyond it shows
  std::vector<Text> values(ways.size());
  Repeated repeated;
  if (read_row(alone, ways, values.data(), repeated)) return false;
  for (std::size_t i = 0; i < ways.size(); ++i)
    for (const bool may_repeat : {true, (repeated.paths >> i & 1U) != 0}) {
      const Text found = find_value(alone, ways[i], may_repeat);
      require(found.data() == values[i].data() && found.size() == values[i].size(), "both ways lead to the same value");
    }
  return true;
}

void check_order(const JsonlFormat& format, lines::LineRun& run, std::vector<Text> rows, unsigned threads) {
  lines::sort_index(run, format, threads);
  std::erase_if(rows, is_blank);
  std::ranges::stable_sort(rows, [&](Text a, Text b) { return format.compare(a, b) < 0; });
  require(run.count == rows.size(), "the index has all rows");
  for (std::size_t i = 0; i < run.count; ++i) require(run.line(run.entries()[i]) == rows[i], "the rows are in order");
}

void check_rows(const Trial& trial) {
  static MemoryBudget memory(run_bytes + (std::uint64_t{1} << 20U));
  static lines::LineRun run{.memory = memory.allocate(run_bytes, "run")};
  const std::vector<Text> rows = rows_of(trial.text);
  const JsonlFormat format(trial.terms);
  std::vector<Path> ways;
  for (const std::string_view path : paths) ways.push_back(parse_path(path));
  run.count = 0;
  run.line_bytes = 0;
  run.format = &format;
  run.has_quotes = false;
  const lines::Indexed indexed =
      lines::index_as_it_arrives({trial.text, trial.block_bytes, trial.threads}, format, run, run_bytes);
  const auto wrong = std::ranges::find_if_not(rows, [&](Text row) { return is_blank(row) || is_valid(row, ways); });
  require(indexed.fault.has_value() == (wrong != rows.end()), "a wrong row is reported if there is one");
  require(indexed.lines == static_cast<std::size_t>(wrong - rows.begin()), "all rows in front of it are taken");
  hash::MultisetHash hash, blank;
  for (auto row = rows.begin(); row != wrong; ++row) lines::add_line(is_blank(*row) ? blank : hash, *row);
  require(indexed.blank_lines == blank.count && indexed.dropped == blank, "blank rows are left out");
  require(indexed.hash == hash + blank, "the hash is that of the rows");
  if (!indexed.fault) check_order(format, run, rows, trial.threads);
}

}  // namespace
}  // namespace ecosort::jsonl

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ecosort::jsonl;
  if (const std::optional<Trial> trial = read_trial({reinterpret_cast<const char*>(data), size})) check_rows(*trial);
  return 0;
}
