#include "lines/gather_lines.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "lines/index_lines.h"
#include "records/range_sort.h"

namespace ecosort::lines {
namespace {

constexpr std::size_t prefetch_distance = 16;  // lines
constexpr std::size_t short_average = 24;      // bytes of a line, with its end

}  // namespace

GatherLines::GatherLines(const LineRun& run, const LineOrder& order, Checks checks)
    : run_(run),
      order_(order),
      kernels_(line_kernels()),
      checks_(checks),
      are_short_(run.line_bytes < short_average * run.count),
      prefetch_bytes_(are_short_ ? short_copy_step : copy_step),
      hash_(kernels_) {}

void GatherLines::check(Text line) {
  hash_.add(line);
  if (next_ == 0) return;
  const records::Entry& before = run_.entries()[next_ - 1];
  const records::Entry& entry = run_.entries()[next_];
  if (records::key_less(before, entry)) return;
  unsigned level = 0;
  int order = 1;
  if (records::key_equal(before, entry))
    order = tie_is_decided(order_, {entry.prefix, entry.extension}, level) ? 0 : order_.compare(run_.line(before), line, level);
  if (order < 0 || (order == 0 && checks_ == Checks::ordered)) return;
  throw VerificationError("verification failed: the sorted lines would not be in order; the output was not written");
}

std::size_t GatherLines::fill(char* to, std::size_t capacity) {
  const records::Entry* const entries = run_.entries();
  std::size_t filled = std::min(rest_.size(), capacity);
  if (filled > 0) std::memcpy(to, rest_.data(), filled);
  rest_.remove_prefix(filled);
  const auto copy = are_short_ ? kernels_.copy_short_line : kernels_.copy_line;
  for (; filled < capacity && next_ < run_.count; ++next_) {
    // Not in a function of its own: GCC 12 takes one that only prefetches for one without effect, and drops its calls.
    if (next_ + prefetch_distance < run_.count) {
      const char* const ahead = run_.bytes() + entries[next_ + prefetch_distance].index;
      for (std::size_t i = 0; i < prefetch_bytes_; i += 64) __builtin_prefetch(ahead + i);
      __builtin_prefetch(ahead + prefetch_bytes_ - 1);
    }
    const char* const line = run_.bytes() + entries[next_].index;
    std::size_t size = copy(to + filled, capacity - filled, line, run_.terminator);
    if (size > 0) [[likely]] {
      if (checks_ != Checks::none) check(Text(to + filled, size - 1));
      filled += size;
    } else {
      const Text text = run_.line(entries[next_]);
      if (checks_ != Checks::none) check(text);
      size = text.size() + 1;
      const std::size_t part = std::min(size, capacity - filled);
      std::memcpy(to + filled, line, part);
      filled += part;
      rest_ = Text(line + part, size - part);
    }
    longest_ = std::max(longest_, size);
  }
  hash_.settle();
  return filled;
}

}  // namespace ecosort::lines
