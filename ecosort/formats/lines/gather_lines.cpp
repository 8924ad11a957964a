#include "formats/lines/gather_lines.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "base/prefetch.h"
#include "formats/lines/index_lines.h"
#include "sorting/range_sort.h"

namespace ecosort::lines {
namespace {

constexpr std::size_t short_average = 24, middle_average = 60;  // bytes of a line, with its end

bool are_below(std::size_t average, const LineRun& run) { return run.line_bytes < average * run.count; }

}  // namespace

hash::MultisetHash hash_of_first(const LineRun& run, const formats::RowFormat& order, std::size_t lines) {
  constexpr std::size_t ahead = 16;  // lines
  const std::size_t hashed_end = order.hashed_end();
  hash::MultisetHash hash;
  for (std::size_t i = 0; i < lines; ++i) {
    prefetch(run.bytes() + run.entries()[std::min(i + ahead, lines - 1)].index);
    const Text line = run.line(run.entries()[i]);
    add_line(hash, {line.data(), line.size() + hashed_end});
  }
  return hash;
}

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
      hashed_end_(order.hashed_end()),
      hash_(line_kernels()) {}

void GatherLines::add_heads(formats::KeyCuts& cuts) {
  cuts_ = &cuts;
  head_bytes_ = sizeof head_;
  gather_ = run_.has_quotes                   ? nullptr
            : are_below(middle_average, run_) ? line_kernels().gather_middle_with_heads
                                              : line_kernels().gather_with_heads;
}

void GatherLines::check(Text line) {
  hash_.add({line.data(), line.size() + hashed_end_});
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
  longest_ = std::max(longest_, head_bytes_ + line.size() + 1);
  ++next_;
}

// Returns the line in front of which the next cut is. `filled`: bytes of the present block.
std::size_t GatherLines::stop_at_cut(std::size_t filled) {
  if (cuts_ == nullptr) return end_;
  const sorting::Entry* const entries = run_.entries();
  for (; next_cut_ <= formats::key_parts && next_ == cut_at_; ++next_cut_) {
    (*cuts_)[next_cut_] = {next_, bytes_ + filled + rest_of_head_.size() + rest_.size()};
    cut_at_ = end_;
    if (next_cut_ + 1 >= formats::key_parts) continue;
    const auto is_in_part = [least = formats::least_prefix(next_cut_ + 1)](const sorting::Entry& entry) {
      return entry.prefix < least;
    };
    cut_at_ = static_cast<std::size_t>(std::partition_point(entries + next_, entries + end_, is_in_part) - entries);
  }
  return cut_at_;
}

// Lines that the format walks, one by one.
std::size_t GatherLines::copy_walked(char* to, std::size_t room, std::size_t stop) {
  constexpr std::size_t ahead = 16;  // lines
  const sorting::Entry* const entries = run_.entries();
  std::size_t copied = 0;
  while (next_ < stop) {
    prefetch(run_.bytes() + entries[std::min(next_ + ahead, end_ - 1)].index);
    const sorting::Entry& entry = entries[next_];
    const Text line = run_.line(entry);
    const std::size_t size = line.size() + 1;
    if (copied + head_bytes_ + size > room) break;
    const sorting::Entry head{entry.prefix, entry.extension, static_cast<std::uint32_t>(size)};
    std::memcpy(to + copied, &head, head_bytes_);
    char* const at = to + copied + head_bytes_;
    std::memcpy(at, line.data(), size);
    take({at, size - 1});
    copied += head_bytes_ + size;
  }
  return copied;
}

// Some whole lines in front of `stop`; returns their bytes. None where the next one may not fit.
std::size_t GatherLines::copy_lines(char* to, std::size_t room, std::size_t stop) {
  if (gather_ == nullptr) return copy_walked(to, room, stop);
  const sorting::Entry* const entries = run_.entries();
  std::uint32_t sizes[gathered_lines];
  const std::size_t lines = gather_({.text = run_.bytes(),
                                     .next = entries + next_,
                                     .end = entries + stop,
                                     .to = to,
                                     .room = room,
                                     .terminator = run_.terminator,
                                     .quote = order_.quote().value_or('"')},
                                    sizes);
  std::size_t copied = 0;
  for (std::size_t i = 0; i < lines; ++i) {
    take(Text(to + copied + head_bytes_, sizes[i] - 1 - head_bytes_));
    copied += sizes[i];
  }
  return copied;
}

// The next line goes out, as far as there is room for it.
void GatherLines::begin_line() {
  const sorting::Entry& entry = run_.entries()[next_];
  const Text line = run_.line(entry);
  take(line);
  rest_ = Text(line.data(), line.size() + 1);
  if (cuts_ == nullptr) return;
  head_ = {entry.prefix, entry.extension, static_cast<std::uint32_t>(rest_.size())};
  rest_of_head_ = Text(reinterpret_cast<const char*>(&head_), sizeof head_);
}

std::size_t GatherLines::copy_rest(char* to, std::size_t room) {
  std::size_t copied = 0;
  for (Text* const rest : {&rest_of_head_, &rest_}) {
    const std::size_t part = std::min(rest->size(), room - copied);
    if (part > 0) std::memcpy(to + copied, rest->data(), part);
    rest->remove_prefix(part);
    copied += part;
  }
  return copied;
}

GatherLines::Filled GatherLines::fill(char* to, std::size_t capacity) {
  const std::size_t carried = copy_rest(to, capacity);
  std::size_t filled = carried;
  while (filled < capacity && next_ < end_) {
    const std::size_t stop = stop_at_cut(filled);
    std::size_t copied = copy_lines(to + filled, capacity - filled, stop);
    if (copied == 0) {
      begin_line();
      copied = copy_rest(to + filled, capacity - filled);
    }
    filled += copied;
  }
  if (next_ == end_) (void)stop_at_cut(filled);
  bytes_ += filled;
  hash_.settle();
  return {filled, carried};
}

}  // namespace ecosort::lines
