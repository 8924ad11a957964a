#include "formats/lines/gather_lines.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "formats/lines/index_lines.h"
#include "sorting/range_sort.h"

namespace ecosort::lines {
namespace {

constexpr std::size_t short_average = 24, middle_average = 60;  // bytes of a line, with its end

bool are_below(std::size_t average, const LineRun& run) { return run.line_bytes < average * run.count; }

}  // namespace

GatherLines::GatherLines(const LineRun& run, const formats::RowFormat& order, Checks checks, std::size_t first, std::size_t end)
    : run_(run),
      order_(order),
      checks_(checks),
      gather_(run.has_quotes                   ? order.quoted_gather()
              : are_below(short_average, run)  ? line_kernels().gather_short
              : are_below(middle_average, run) ? line_kernels().gather_middle
                                               : line_kernels().gather),
      next_(first),
      end_(end),
      hash_(line_kernels()) {}

void GatherLines::check(Text line) {
  hash_.add(line);
  if (next_ == 0 || checks_ == Checks::hashed) return;
  const sorting::Entry& before = run_.entries()[next_ - 1];
  const sorting::Entry& entry = run_.entries()[next_];
  if (sorting::key_less(before, entry)) return;
  unsigned level = 0;
  int order = 1;
  if (sorting::key_equal(before, entry))
    order = tie_is_decided(order_, {entry.prefix, entry.extension}, level) ? 0 : order_.compare(run_.line(before), line, level);
  if (order < 0 || (order == 0 && checks_ == Checks::ordered)) return;
  throw VerificationError("verification failed: the sorted lines would not be in order; the output was not written");
}

// The next line goes out.
void GatherLines::take(Text line) {
  if (checks_ != Checks::none) check(line);
  longest_ = std::max(longest_, line.size() + 1);
  ++next_;
}

// Some whole lines; returns their bytes. None where the next one may not fit.
std::size_t GatherLines::copy_lines(char* to, std::size_t room) {
  const sorting::Entry* const entries = run_.entries();
  std::uint32_t sizes[gathered_lines];
  const std::size_t lines = gather_({.text = run_.bytes(),
                                     .next = entries + next_,
                                     .end = entries + end_,
                                     .to = to,
                                     .room = room,
                                     .terminator = run_.terminator,
                                     .quote = order_.quote().value_or('"')},
                                    sizes);
  std::size_t copied = 0;
  for (std::size_t i = 0; i < lines; ++i) {
    take(Text(to + copied, sizes[i] - 1));
    copied += sizes[i];
  }
  return copied;
}

// Copies as much of the next line as there is room for.
std::size_t GatherLines::copy_part(char* to, std::size_t room) {
  const Text line = run_.line(run_.entries()[next_]);
  take(line);
  const std::size_t size = line.size() + 1, part = std::min(size, room);
  std::memcpy(to, line.data(), part);
  rest_ = Text(line.data() + part, size - part);
  return part;
}

GatherLines::Filled GatherLines::fill(char* to, std::size_t capacity) {
  const std::size_t carried = std::min(rest_.size(), capacity);
  if (carried > 0) std::memcpy(to, rest_.data(), carried);
  rest_.remove_prefix(carried);
  std::size_t filled = carried;
  while (filled < capacity && next_ < end_) {
    const std::size_t copied = copy_lines(to + filled, capacity - filled);
    filled += copied > 0 ? copied : copy_part(to + filled, capacity - filled);
  }
  hash_.settle();
  return {filled, carried};
}

}  // namespace ecosort::lines
