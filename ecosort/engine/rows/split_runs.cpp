#include "engine/rows/split_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "base/errors.h"
#include "engine/rows/read_rows.h"
#include "formats/all/each_format.h"

namespace ecosort::engine::rows {
namespace {

constexpr std::size_t few_runs = 8;     // whose quantiles say less about all lines: more lines are looked at
constexpr unsigned samples_of_few = 3;  // for each part
constexpr std::uint64_t gallop_step = 2;

std::size_t longest_line(const std::vector<MergeInput>& runs) noexcept {
  std::size_t longest = 0;
  for (const MergeInput& input : runs) longest = std::max(longest, input.run.longest);
  return longest;
}

// At even distances, the quantiles among them.
unsigned samples_per_run(std::size_t runs, unsigned parts) noexcept { return (runs < few_runs ? samples_of_few : 1) * parts - 1; }

std::uint64_t probe_bytes(const planner::LinePlan& plan, std::size_t longest) noexcept {
  return round_up(longest, page_bytes) + plan.block_bytes;
}

}  // namespace

bool SplitRuns::can_split(const planner::LinePlan& plan, const std::vector<MergeInput>& runs) noexcept {
  const bool any_other = std::ranges::any_of(runs, [](const MergeInput& input) {
    return input.run.is_compressed || input.is_plain || (input.run.in_input && input.run.in_input->has_quotes);
  });
  return !any_other && 2 * longest_line(runs) <= plan.block_bytes - run::trailer_bytes;
}

std::uint64_t SplitRuns::kept_bytes(const std::vector<MergeInput>& runs, unsigned parts) {
  return round_up((parts - 1) * longest_line(runs), page_bytes);
}

std::uint64_t SplitRuns::search_bytes(const planner::LinePlan& plan, const std::vector<MergeInput>& runs, unsigned parts) {
  const std::size_t longest = longest_line(runs);
  return runs.size() * probe_bytes(plan, longest) +
         round_up(runs.size() * samples_per_run(runs.size(), parts) * longest, page_bytes) + kept_bytes(runs, parts);
}

SplitRuns::SplitRuns(const RowTools& tools, std::vector<MergeInput>& runs, unsigned parts)
    : tools_(tools), runs_(runs), parts_(parts), samples_(samples_per_run(runs.size(), parts)) {}

void SplitRuns::allocate() {
  const std::size_t longest = longest_line(runs_);
  const std::uint64_t each = probe_bytes(tools_.plan, longest);
  blocks_ = tools_.bench.memory.allocate(runs_.size() * each, "blocks to find splitters");
  sample_lines_ = tools_.bench.memory.allocate(runs_.size() * samples_ * longest, "lines to find splitters");
  kept_ = tools_.bench.memory.allocate(kept_bytes(runs_, parts_), "splitters");
  probes_.resize(runs_.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    Probe& probe = probes_[i];
    probe.run = &runs_[i].run;
    probe.index = i;
    probe.blocks = probe.run->blocks(tools_.plan.block_bytes);
    probe.payload = probe.run->payload(tools_.plan.block_bytes);
    probe.data = blocks_.data() + (i + 1) * each - tools_.plan.block_bytes;
    probe.samples_at = reinterpret_cast<char*>(sample_lines_.data()) + i * samples_ * longest;
  }
}

Task<void> SplitRuns::read(Probe& probe, std::uint64_t block) {
  const run::BlockContents contents = co_await read_rows(tools_.files, tools_.bench.compute, *probe.run, block, probe.data);
  probe.number = block;
  probe.text = Text(reinterpret_cast<const char*>(probe.data), contents.used_bytes);
  probe.first_line = contents.carried_bytes;
}

// Returns the place of a byte of the block in the lines of the run.
std::uint64_t SplitRuns::position(const Probe& probe, std::size_t offset) const noexcept {
  return probe.number * probe.payload + offset;
}

// Returns where the row ends that begins there; npos if that is behind the text.
std::size_t SplitRuns::row_end(Text text, std::size_t begin) const {
  formats::Inside inside;
  const char* const end = tools_.format.find_end(text.data() + begin, text.data() + text.size(), inside);
  return end == nullptr ? Text::npos : static_cast<std::size_t>(end - text.data());
}

// There is room for the longest line of the run. An input that was changed since it was read may have longer ones, and others.
Text SplitRuns::line_at(const Probe& probe, Text text, std::size_t begin) const {
  const std::size_t end = row_end(text, begin);
  if (end == Text::npos || end - begin >= probe.run->longest)
    throw VerificationError("verification failed: a line of a run is longer than its longest one; the output was not written");
  const Text line = text.substr(begin, end - begin);
  check(probe, line);
  return line;
}

// Lines that are compared must be what their format says; those of stored runs are.
void SplitRuns::check(const Probe& probe, Text line) const {
  if (!probe.run->in_input) return;
  formats::with_format(tools_.format, [&](const auto& format) {
    if constexpr (std::decay_t<decltype(format)>::checks_rows) {
      std::vector<formats::KeyCounts> counts;
      if (format.check_row(line, counts))
        throw VerificationError(
            fmt::format("verification failed: {} holds other rows than when it was first read; the output was not written",
                        probe.run->in_input->file->path()));
    }
  });
}

bool SplitRuns::is_before(Text line, std::size_t run, const Place& splitter) const {
  const int order = tools_.format.compare(line, splitter.line);
  return order != 0 ? order < 0 : run < splitter.run;
}

bool SplitRuns::comes_before(const Place& a, const Place& b) const {
  const int order = tools_.format.compare(a.line, b.line);
  if (order != 0) return order < 0;
  return a.run != b.run ? a.run < b.run : a.at < b.at;
}

Task<void> SplitRuns::take_samples(Probe& probe) {
  char* to = probe.samples_at;
  for (unsigned i = 1; i <= samples_; ++i) {
    co_await read(probe, probe.blocks * i / (samples_ + 1));
    const std::size_t begin = probe.first_line;
    if (begin == probe.text.size()) continue;
    const Text line = line_at(probe, probe.text, begin);
    if (!line.empty()) std::memcpy(to, line.data(), line.size());
    probe.samples.push_back({probe.index, position(probe, begin), Text(to, line.size())});
    to += line.size();
  }
}

void SplitRuns::choose_splitters() {
  std::vector<Place> pool;
  std::uint64_t total = 0;
  for (const Probe& probe : probes_) {
    pool.insert(pool.end(), probe.samples.begin(), probe.samples.end());
    total += probe.run->bytes * probe.samples.size();
  }
  std::ranges::sort(pool, [this](const Place& a, const Place& b) { return comes_before(a, b); });
  char* to = reinterpret_cast<char*>(kept_.data());
  std::uint64_t sum = 0;
  for (auto place = pool.begin(); place != pool.end() && splitters_.size() < parts_ - 1; ++place) {
    sum += runs_[place->run].run.bytes;
    while (splitters_.size() < parts_ - 1 && sum * parts_ >= total * (splitters_.size() + 1)) {
      const Text line = place->line;
      if (!line.empty()) std::memcpy(to, line.data(), line.size());
      splitters_.push_back({place->run, place->at, Text(to, line.size())});
      to += line.size();
    }
  }
  if (splitters_.size() < parts_ - 1) throw InternalError("runs of so few lines should not be split");
}

// By halves: of the lines that are complete in the block the first one that is not before the splitter; where they end, if all
// are.
std::size_t SplitRuns::search(const Probe& probe, const Place& splitter, bool& is_complete) const {
  const char terminator = tools_.format.terminator();
  const std::size_t end = probe.text.rfind(terminator) + 1;  // 0: none is complete
  std::size_t low = probe.first_line, high = end;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const std::size_t begin = low + probe.text.substr(low, middle - low).rfind(terminator) + 1;
    const Text line = line_at(probe, probe.text, begin);
    if (is_before(line, probe.index, splitter))
      low = begin + line.size() + 1;
    else
      high = begin;
  }
  is_complete = low < end;
  return low;
}

// Searches rows with quotes, and rows of several lines, in the middle of which no search can begin: first a look at some of them.
std::size_t SplitRuns::walk(const Probe& probe, const Place& splitter, bool& is_complete) const {
  constexpr std::size_t passed_over = 32;
  std::size_t low = probe.first_line, row = 1;
  for (std::size_t begin = low; begin < probe.text.size(); ++row) {
    const std::size_t end = row_end(probe.text, begin);
    if (end == Text::npos) break;
    const bool is_looked_at = row % passed_over == 0;
    if (is_looked_at && !is_before(probe.text.substr(begin, end - begin), probe.index, splitter)) break;
    begin = end + 1;
    if (is_looked_at) low = begin;
  }
  for (; low < probe.text.size();) {
    const std::size_t end = row_end(probe.text, low);
    is_complete = end != Text::npos;
    if (!is_complete || !is_before(probe.text.substr(low, end - low), probe.index, splitter)) return low;
    low = end + 1;
  }
  is_complete = false;
  return low;
}

// The place of the first line in or behind `block` that is not before the splitter. The next block's first line is not before it,
// if there is one.
Task<std::uint64_t> SplitRuns::find_from(Probe& probe, const Place& splitter, std::uint64_t block) {
  if (probe.number != block) co_await read(probe, block);
  bool is_complete = false;
  const std::size_t low = tools_.format.is_walked() ? walk(probe, splitter, is_complete) : search(probe, splitter, is_complete);
  if (is_complete || block + 1 == probe.blocks) co_return position(probe, low);
  // The line that continues in the next block.
  const Text tail = probe.text.substr(low);
  if (tail.size() > probe.run->longest) (void)line_at(probe, tail, 0);  // refuses it
  std::byte* const moved = probe.data - tail.size();
  std::memmove(moved, tail.data(), tail.size());
  const std::uint64_t begin = position(probe, low);
  co_await read(probe, block + 1);
  const Text line = line_at(probe, Text(reinterpret_cast<const char*>(moved), tail.size() + probe.text.size()), 0);
  co_return is_before(line, probe.index, splitter) ? begin + line.size() + 1 : begin;
}

// The first line of block `low` is before the splitter, if low > 0; that of block `high` is not, if there is such a block.
Task<std::uint64_t> SplitRuns::find(Probe& probe, unsigned part) {
  const Place& splitter = splitters_[part];
  if (splitter.run == probe.index) co_return splitter.at;
  std::uint64_t low = 0, high = probe.blocks;
  for (const Place& sample : probe.samples) {
    const std::uint64_t block = sample.at / probe.payload;
    if (is_before(sample.line, probe.index, splitter))
      low = std::max(low, block);
    else
      high = std::min(high, block);
  }
  const bool upwards = low >= probe.blocks * (part + 1) / parts_;
  bool is_galloping = true;
  for (std::uint64_t step = 1; high > low + 1; step *= gallop_step) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::uint64_t block = middle;
    if (is_galloping) block = upwards ? std::min(low + step, middle) : high - std::min(step, high - middle);
    co_await read(probe, block);
    const std::size_t begin = probe.first_line;
    const bool goes_up = begin < probe.text.size() && is_before(line_at(probe, probe.text, begin), probe.index, splitter);
    (goes_up ? low : high) = block;
    is_galloping = is_galloping && goes_up == upwards;
  }
  co_return co_await find_from(probe, splitter, low);
}

Task<void> SplitRuns::cut(Probe& probe) {
  for (unsigned part = 0; part + 1 < parts_; ++part) {
    const std::uint64_t at = co_await find(probe, part);
    probe.at.push_back(at);
  }
}

void SplitRuns::set_ranges() {
  ranges_.assign(parts_, {});
  for (Probe& probe : probes_) {
    probe.at.push_back(probe.run->end());
    std::uint64_t begin = probe.run->begin();
    for (unsigned part = 0; part < parts_; ++part) {
      const std::uint64_t end = probe.at[part];
      if (end < begin) throw VerificationError("verification failed: a run is not in order; the output was not written");
      ranges_[part].push_back({begin, end});
      begin = end;
    }
  }
}

Task<void> SplitRuns::split() {
  allocate();
  TaskGroup tasks(tools_.bench.reactor.scope());
  for (Probe& probe : probes_) tasks.spawn(take_samples(probe));
  co_await tasks.join();
  choose_splitters();
  for (Probe& probe : probes_) tasks.spawn(cut(probe));
  co_await tasks.join();
  set_ranges();
  probes_.clear();
  blocks_ = Buffer();
  sample_lines_ = Buffer();
}

std::uint64_t SplitRuns::bytes(unsigned part) const {
  return std::accumulate(ranges_[part].begin(), ranges_[part].end(), std::uint64_t{0},
                         [](std::uint64_t sum, const ByteRange& range) { return sum + range.size(); });
}

}  // namespace ecosort::engine::rows
