// An input has any bytes and they arrive in any way: the lines of the index, joined, are the input; sorted they are what a stable
// sort makes of them, and -u leaves one of each. -c finds the line that a plain look finds.
//
// Input: a byte of switches, one for the size of a block, one for the most lines taken at a time; the text follows.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "engine/rows/check_lines.h"
#include "formats/lines/duplicate_filter.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/line_order.h"
#include "formats/lines/line_run.h"
#include "fuzz_support.h"

namespace ecosort::lines {
namespace {

using fuzz::require;

constexpr std::size_t run_bytes = std::size_t{4} << 20U;
constexpr std::size_t long_text_bytes = std::size_t{70} << 10U;  // more than one part for several threads
constexpr std::size_t seen_bytes = 4096;

struct Trial {
  char terminator = '\n';
  bool unique = false;
  bool is_file_whole = true;  // the text's last line has its end
  unsigned threads = 1;
  std::size_t block_bytes = 1, most_lines = 1;
  std::string text;
};

std::optional<Trial> read_trial(std::string_view input) {
  if (input.size() < 4) return std::nullopt;
  const auto switches = static_cast<unsigned char>(input[0]);
  Trial trial;
  trial.terminator = (switches & 1U) != 0 ? '\0' : '\n';
  trial.unique = (switches & 2U) != 0;
  trial.threads = (switches & 4U) != 0 ? 2 : 1;
  trial.block_bytes = 1 + static_cast<unsigned char>(input[1]) * std::size_t{16};
  trial.most_lines = 1 + static_cast<unsigned char>(input[2]) * std::size_t{64};
  trial.text = input.substr(3);
  if (switches >= 0xfc) {  // rarely, because it takes a hundred times as long
    const std::string once = trial.text;
    while (trial.text.size() < long_text_bytes) trial.text += once;
    trial.block_bytes *= 64;
    trial.most_lines = run_bytes;
  }
  trial.is_file_whole = trial.text.back() == trial.terminator;
  return trial;
}

// Indexes as runs are filled: block after block, and only whole lines are taken.
Indexed index_as_it_arrives(const Trial& trial, const LineOrder& order, LineRun& run, std::vector<DuplicateFilter>& seen) {
  Indexed all;
  for (std::size_t present = 0; present < trial.text.size();) {
    const std::size_t count = std::min(trial.block_bytes, trial.text.size() - present);
    std::memcpy(run.bytes() + present, trial.text.data() + present, count);
    present += count;
    while (true) {
      const Indexed some = index_lines(run, order, all.end, present, trial.most_lines, trial.threads, seen);
      require(some.entered <= trial.most_lines, "no more lines are entered than allowed");
      if (some.lines == 0) break;
      all.lines += some.lines;
      all.entered += some.entered;
      all.end = some.end;
      all.hash += some.hash;
      all.dropped += some.dropped;
      all.longest = std::max(all.longest, some.longest);
    }
  }
  return all;
}

void check_index(const Trial& trial, const LineOrder& order) {
  static MemoryBudget memory(run_bytes + seen_bytes * 2 + (std::uint64_t{1} << 20U));
  static const Buffer seen_memory = memory.allocate(seen_bytes * 2, "seen lines");
  static LineRun run{.memory = memory.allocate(run_bytes, "run")};
  run.count = 0;
  run.terminator = trial.terminator;
  std::vector<DuplicateFilter> seen;
  for (unsigned i = 0; trial.unique && i < trial.threads; ++i)
    seen.emplace_back(seen_memory.data() + i * seen_bytes, seen_bytes).forget();

  const std::vector<Text> lines = fuzz::split(trial.text, trial.terminator);
  const Indexed indexed = index_as_it_arrives(trial, order, run, seen);
  hash::MultisetHash hash;
  std::size_t longest = 0;
  for (const Text line : lines) {
    add_line(hash, line);
    longest = std::max(longest, line.size() + 1);
  }
  require(indexed.lines == lines.size() && indexed.end == trial.text.size(), "all lines are taken");
  require(indexed.hash == hash, "the hash is that of the lines");
  require(indexed.longest == longest, "the longest line is known");
  require(run.count == indexed.entered, "the index has as many entries as were made");

  sort_index(run, order, trial.threads);
  std::vector<Text> expected = lines;
  std::stable_sort(expected.begin(), expected.end(), [&](Text a, Text b) { return order.compare(a, b) < 0; });
  if (trial.unique) {
    hash::MultisetHash dropped = indexed.dropped;
    drop_equal(run, order, {.most = 1}, dropped);
    const auto rest = std::ranges::unique(expected, [&](Text a, Text b) { return order.compare(a, b) == 0; });
    expected.erase(rest.begin(), rest.end());
    for (const Text line : expected) add_line(dropped, line);
    require(dropped == hash, "what is dropped and what is kept are the lines");
  }
  require(run.count == expected.size(), "the index has all lines");
  std::vector<std::pair<std::size_t, Text>> places;
  for (std::size_t i = 0; i < run.count; ++i) {
    const Text line = run.line(run.entries()[i]);
    require(line == expected[i], "the lines are in order");
    places.emplace_back(run.entries()[i].index, line);
  }
  if (trial.unique) return;
  std::ranges::sort(places);
  std::string joined;
  for (const auto& [at, line] : places) joined.append(line) += trial.terminator;
  require(joined == trial.text, "the lines, joined, are the input");
}

void check_disorder(const Trial& trial, LineOrder& order) {
  static const int file = ::memfd_create("lines", MFD_CLOEXEC);
  static const std::string name = fmt::format("/proc/self/fd/{}", file);
  const std::size_t size = trial.text.size() - (trial.is_file_whole ? 0 : 1);
  require(::ftruncate(file, 0) == 0 && ::pwrite(file, trial.text.data(), size, 0) == static_cast<ssize_t>(size),
          "a file is written");
  const std::vector<Text> lines = fuzz::split(trial.text, trial.terminator);
  std::size_t expected = 1;
  while (expected < lines.size() && order.compare(lines[expected - 1], lines[expected]) < (trial.unique ? 0 : 1)) ++expected;
  const auto found = engine::rows::check_order({name, 4 * run_bytes}, order, {.unique = trial.unique}).first;
  require(found.has_value() == (expected < lines.size()), "-c finds disorder where there is some");
  require(!found || (found->line_number == expected + 1 && found->line == lines[expected]),
          "-c finds the first line out of order");
}

}  // namespace
}  // namespace ecosort::lines

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ecosort::lines;
  std::optional<Trial> trial = read_trial({reinterpret_cast<const char*>(data), size});
  if (!trial) return 0;
  if (!trial->is_file_whole) trial->text += trial->terminator;
  LineOrderTerms terms;
  terms.last_resort = !trial->unique;
  LineOrder order(terms, trial->terminator);
  check_index(*trial, order);
  check_disorder(*trial, order);
  return 0;
}
