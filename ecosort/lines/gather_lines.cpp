#include "lines/gather_lines.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "lines/index_lines.h"
#include "records/range_sort.h"

namespace ecosort::lines {
namespace {

constexpr std::size_t prefetch_distance = 16;  // lines
constexpr std::size_t prefetch_bytes = 192;    // of each

}  // namespace

void GatherLines::check(Text line) {
  add_line(hash_, line);
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
  while (filled < capacity && next_ < run_.count) {
    if (next_ + prefetch_distance < run_.count) {
      const char* ahead = run_.bytes() + entries[next_ + prefetch_distance].index;
      for (std::size_t i = 0; i < prefetch_bytes; i += 64) __builtin_prefetch(ahead + i);
    }
    const Text line = run_.line(entries[next_]);
    if (checks_ != Checks::none) check(line);
    longest_ = std::max(longest_, line.size() + 1);
    const std::size_t size = line.size() + 1, part = std::min(size, capacity - filled);
    std::memcpy(to + filled, line.data(), part);
    filled += part;
    rest_ = Text(line.data() + part, size - part);
    ++next_;
  }
  return filled;
}

}  // namespace ecosort::lines
