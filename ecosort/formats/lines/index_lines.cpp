#include "formats/lines/index_lines.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/prefetch.h"
#include "formats/lines/line_kernels.h"
#include "sort/parallel_parts.h"
#include "sort/range_sort.h"

namespace ecosort::lines {
namespace {

using records::Entry;

constexpr std::size_t compare_limit = 12;  // entries; smaller groups are ordered by comparing
constexpr std::size_t least_part_bytes = std::size_t{32} * 1024;
constexpr std::size_t sort_parts_per_thread = 8;
constexpr std::size_t hashed_at_once = 32;  // lines

struct Part {
  std::size_t begin = 0, end = 0;            // whole lines
  std::size_t first_line = 0, end_line = 0;  // places in the index that its lines may take, counted from the first part's
  std::size_t lines = 0;
  std::size_t entered = 0;  // less than `lines` where some were seen before
  std::size_t longest = 0;
  std::uint64_t dropped_bytes = 0;
  records::MultisetHash hash, dropped;
};

void add(records::MultisetHash& hash, LineHash line) noexcept {
  hash.low += line.low;
  hash.high += line.high;
  ++hash.count;
}

// A line that is not entered, because it came before.
void drop(Part& part, Text line, LineHash hash) noexcept {
  add(part.dropped, hash);
  part.dropped_bytes += line.size() + 1;
}

// Cuts [begin, end), whole lines, into parts that begin with a line.
std::vector<Part> cut(const LineRun& run, std::size_t begin, std::size_t end, std::size_t parts) {
  std::vector<Part> result;
  for (std::size_t i = 0; i < parts && begin < end; ++i) {
    const std::size_t nominal = begin + (end - begin) / (parts - i);
    const char* from = run.bytes() + std::max(nominal, begin + 1) - 1;
    const void* found = std::memchr(from, run.terminator, static_cast<std::size_t>(run.bytes() + end - from));
    const auto part_end = static_cast<std::size_t>(static_cast<const char*>(found) - run.bytes()) + 1;
    result.push_back({.begin = begin, .end = part_end, .hash = {}, .dropped = {}});
    begin = part_end;
  }
  return result;
}

struct HashedLine {
  Text text;
  LineHash hash;
};

// Adds the lines to the part, which has places for them. `seen` may be absent.
void enter(LineRun& run, const LineOrder& order, Part& part, std::span<const HashedLine> lines, DuplicateFilter* seen) {
  Entry* const top = run.top() - run.count - part.first_line;
  for (std::size_t i = 0; seen != nullptr && i < lines.size(); ++i) {
    const char* const alike = seen->alike(lines[i].hash.low, run.bytes());
    prefetch(alike);
    prefetch(alike + 64);
    prefetch(alike + lines[i].text.size());
  }
  for (const auto& [text, hash] : lines) {
    add(part.hash, hash);
    part.longest = std::max(part.longest, text.size() + 1);
    if (seen != nullptr && seen->has_or_note(hash.low, text, run.bytes())) {
      drop(part, text, hash);
    } else {
      const records::KeyWindow window = order.window(text);
      *(top - 1 - part.entered) = {window.prefix, window.extension, static_cast<std::uint32_t>(text.data() - run.bytes())};
      ++part.entered;
    }
  }
  part.lines += lines.size();
}

// Ends early where the places of the part do; the last ones stay empty where lines were seen before. Lines are hashed some at a
// time, so that what is known of each comes from memory while the others are hashed.
void enter_lines(LineRun& run, const LineOrder& order, Part& part, DuplicateFilter* known) {
  const LineKernels& kernels = line_kernels();
  const std::size_t places = part.end_line - part.first_line;
  std::uint32_t ends[split_bytes + 8];
  HashedLine lines[hashed_at_once];
  std::size_t begin = part.begin;
  for (std::size_t at = part.begin; at < part.end && part.entered < places; at += split_bytes) {
    DuplicateFilter* const seen = known != nullptr && known->is_worth_it() ? known : nullptr;
    const std::size_t found = kernels.split(run.bytes() + at, std::min(split_bytes, part.end - at), run.terminator, ends);
    for (std::size_t i = 0; i < found && part.entered < places;) {
      const std::size_t count = std::min({found - i, hashed_at_once, places - part.entered});
      for (std::size_t j = 0; j < count; ++j) {
        const Text text(run.bytes() + begin, at + ends[i + j] - begin);
        lines[j] = {text, kernels.hash(text.data(), text.size())};
        if (seen != nullptr) __builtin_prefetch(seen->place_of(lines[j].hash.low), 1);
        begin += text.size() + 1;
      }
      enter(run, order, part, {lines, count}, seen);
      i += count;
    }
  }
  part.end = begin;
}

// Arrays that belong together while ties are ordered.
struct Ties {
  const LineRun& run;
  const LineOrder& order;
  Entry* entries;
  Entry* scratch;

  [[nodiscard]] Text line(std::size_t i) const noexcept { return run.line(entries[i]); }
};

struct Group {
  std::size_t begin, end;
  unsigned level;
  std::size_t depth;  // bytes of the level's key in which all agree

  [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};

void insert_sorted(const Ties& ties, std::size_t begin, std::size_t end, unsigned level) {
  for (std::size_t i = begin + 1; i < end; ++i) {
    const Entry moving = ties.entries[i];
    const Text text = ties.run.line(moving);
    std::size_t hole = i;
    for (; hole > begin && ties.order.compare(text, ties.line(hole - 1), level) < 0; --hole)
      ties.entries[hole] = ties.entries[hole - 1];
    ties.entries[hole] = moving;
  }
}

// Stable, for keys that only the comparison orders.
void merge_sorted(const Ties& ties, std::size_t begin, std::size_t end, unsigned level) {
  if (end - begin <= compare_limit) return insert_sorted(ties, begin, end, level);
  const std::size_t middle = begin + (end - begin) / 2;
  merge_sorted(ties, begin, middle, level);
  merge_sorted(ties, middle, end, level);
  std::copy(ties.entries + begin, ties.entries + middle, ties.scratch + begin);
  std::size_t left = begin, right = middle, to = begin;
  while (left < middle && right < end) {
    const bool take_right = ties.order.compare(ties.line(right), ties.run.line(ties.scratch[left]), level) < 0;
    ties.entries[to++] = take_right ? ties.entries[right++] : ties.scratch[left++];
  }
  std::copy(ties.scratch + left, ties.scratch + middle, ties.entries + to);
}

bool are_equal(const Ties& ties, const Group& group) {
  const Text first = ties.line(group.begin);
  for (std::size_t i = group.begin + 1; i < group.end; ++i)
    if (ties.line(i) != first) return false;
  return true;
}

std::size_t common_depth(const Ties& ties, const Group& group) {
  const Text first = ties.line(group.begin);
  std::size_t common = ties.order.common_bytes(first, ties.line(group.begin + 1), group.level, group.depth);
  for (std::size_t i = group.begin + 2; i < group.end && common > group.depth; ++i)
    common = std::min(common, ties.order.common_bytes(first, ties.line(i), group.level, group.depth));
  return common;
}

void order_group(const Ties& ties, Group group, records::BucketWorkspace& workspace);

// The groups of equal windows in a range sorted by the windows at (level, depth).
void order_ties(const Ties& ties, const Group& range, records::BucketWorkspace& workspace) {
  for (std::size_t begin = range.begin; begin < range.end;) {
    std::size_t end = begin + 1;
    while (end < range.end && records::key_equal(ties.entries[begin], ties.entries[end])) ++end;
    if (end - begin > 1) {
      const records::KeyWindow window{ties.entries[begin].prefix, ties.entries[begin].extension};
      Group group{begin, end, range.level, range.depth};
      if (!ties.order.has_deeper_window(window, range.level)) {
        merge_sorted(ties, begin, end, range.level);
      } else if (ties.order.is_cut(window, range.level)) {
        group.depth += LineOrder::window_bytes;
        order_group(ties, group, workspace);
      } else if (range.level + 1 < ties.order.levels()) {
        group.level += 1;
        group.depth = 0;
        order_group(ties, group, workspace);
      }
    }
    begin = end;
  }
}

// The group gets new windows from where its keys may differ, is sorted by them, and gets its old window back.
void order_group(const Ties& ties, Group group, records::BucketWorkspace& workspace) {
  if (group.size() <= compare_limit) return insert_sorted(ties, group.begin, group.end, group.level);
  if (are_equal(ties, group)) return;
  const Entry before = ties.entries[group.begin];
  group.depth = common_depth(ties, group);
  for (std::size_t i = group.begin; i < group.end; ++i) {
    const records::KeyWindow window = ties.order.window(ties.line(i), group.level, group.depth);
    ties.entries[i].prefix = window.prefix;
    ties.entries[i].extension = window.extension;
  }
  records::sort_range(ties.entries + group.begin, ties.scratch + group.begin, group.size(), records::Target::same_array,
                      workspace, 1);
  order_ties(ties, group, workspace);
  for (std::size_t i = group.begin; i < group.end; ++i) {
    ties.entries[i].prefix = before.prefix;
    ties.entries[i].extension = before.extension;
  }
}

std::size_t group_border(const Entry* entries, std::size_t n, std::size_t at) {
  if (at == 0 || at == n) return at;
  return static_cast<std::size_t>(std::upper_bound(entries + at, entries + n, entries[at - 1], records::key_less) - entries);
}

// Places as there were lines in as many bytes before, and a quarter more: the bytes need not be read twice. False if that is too
// many, or nothing is known yet.
bool suppose_places(const LineRun& run, std::vector<Part>& parts, std::size_t most) {
  constexpr std::size_t least_lines = 1000, some_more = 64;
  if (run.count < least_lines) return false;
  const std::uint64_t average = std::max<std::uint64_t>(run.line_bytes / run.count, 1);
  std::size_t places = 0;
  for (Part& part : parts) {
    part.first_line = places;
    places += (part.end - part.begin) / average * 5 / 4 + some_more;
    part.end_line = places;
  }
  return places <= most;
}

void count_places(const LineRun& run, std::vector<Part>& parts, std::size_t most, unsigned threads) {
  std::vector<std::size_t> lines(parts.size(), most);
  if (parts.size() > 1) {
    records::for_each_part(threads, parts.size(), [&](std::size_t i) {
      lines[i] = line_kernels().count(run.bytes() + parts[i].begin, parts[i].end - parts[i].begin, run.terminator);
    });
  }
  std::size_t places = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].first_line = places;
    places = std::min(places + lines[i], most);
    parts[i].end_line = places;
  }
}

void enter_parts(LineRun& run, const LineOrder& order, std::vector<Part>& parts, unsigned threads,
                 std::vector<DuplicateFilter>& seen) {
  records::for_each_part(threads, parts.size(),
                         [&](std::size_t i) { enter_lines(run, order, parts[i], i < seen.size() ? &seen[i] : nullptr); });
}

// Leaves out of the later parts what the first set knows, and notes the rest there: after some time it knows the lines of all
// threads, and a line that each of them has met is sorted once.
void drop_known_elsewhere(const LineRun& run, std::vector<Part>& parts, DuplicateFilter& all) {
  const LineKernels& kernels = line_kernels();
  for (std::size_t i = 1; i < parts.size() && all.is_worth_it(); ++i) {
    Part& part = parts[i];
    Entry* const top = run.top() - run.count - part.first_line;
    std::size_t kept = 0;
    for (std::size_t j = 0; j < part.entered; ++j) {
      const Entry entry = *(top - 1 - j);
      const Text text = run.line(entry);
      const LineHash hash = kernels.hash(text.data(), text.size());
      if (all.has_or_note(hash.low, text, run.bytes())) {
        drop(part, text, hash);
      } else {
        *(top - 1 - kept++) = entry;
      }
    }
    part.entered = kept;
  }
}

// Takes the parts up to the first one that had too few places, and moves their entries together.
void close_gaps(LineRun& run, const std::vector<Part>& parts, Indexed& result) {
  Entry* const top = run.top() - run.count;
  std::size_t entered = 0;
  for (const Part& part : parts) {
    if (part.begin != result.end) break;
    const std::size_t gap = part.first_line - entered;
    if (gap > 0) std::copy_backward(top - part.first_line - part.entered, top - part.first_line, top - entered);
    entered += part.entered;
    result.lines += part.lines;
    result.end = part.end;
    result.longest = std::max(result.longest, part.longest);
    result.hash += part.hash;
    result.dropped += part.dropped;
    result.dropped_bytes += part.dropped_bytes;
  }
  run.count += entered;
  result.entered += entered;
}

}  // namespace

void add_line(records::MultisetHash& hash, Text line) noexcept { add(hash, line_kernels().hash(line.data(), line.size())); }

Indexed index_lines(LineRun& run, const LineOrder& order, std::size_t begin, std::size_t end, std::size_t most, unsigned threads,
                    std::vector<DuplicateFilter>& seen) {
  Indexed result;
  result.end = begin;
  const void* last = end > begin ? memrchr(run.bytes() + begin, run.terminator, end - begin) : nullptr;
  if (last == nullptr) return result;
  end = static_cast<std::size_t>(static_cast<const char*>(last) - run.bytes()) + 1;
  bool may_suppose = true;
  for (std::size_t before = SIZE_MAX; result.end < end && result.lines < most && result.lines != before; may_suppose = false) {
    before = result.lines;
    const std::size_t wanted = std::clamp<std::size_t>((end - result.end) / least_part_bytes, 1, threads);
    std::vector<Part> parts = cut(run, result.end, end, wanted);
    if (!may_suppose || !suppose_places(run, parts, most)) count_places(run, parts, most - result.lines, threads);
    enter_parts(run, order, parts, threads, seen);
    if (!seen.empty()) drop_known_elsewhere(run, parts, seen.front());
    close_gaps(run, parts, result);
    if (result.end < end)
      for (DuplicateFilter& lines : seen)
        lines.forget();  // of parts that were not taken: their lines would be dropped the next time
  }
  return result;
}

void sort_index(LineRun& run, const LineOrder& order, unsigned threads) {
  Entry* const entries = run.entries();
  std::reverse(entries, entries + run.count);
  const Ties ties{run, order, entries, run.scratch()};
  {
    records::BucketWorkspace workspace;
    records::sort_range(entries, ties.scratch, run.count, records::Target::same_array, workspace, threads);
  }
  const std::size_t parts = threads <= 1 ? 1 : sort_parts_per_thread * threads;
  std::vector<std::size_t> borders(parts + 1);
  for (std::size_t i = 0; i <= parts; ++i)
    borders[i] = group_border(entries, run.count, records::part_begin(run.count, parts, i));
  records::for_each_part(threads, parts, [&](std::size_t i) {
    records::BucketWorkspace workspace;
    order_ties(ties, {borders[i], std::max(borders[i], borders[i + 1]), 0, 0}, workspace);
  });
}

bool tie_is_decided(const LineOrder& order, records::KeyWindow window, unsigned& level) noexcept {
  level = order.is_cut(window, 0) ? 0 : 1;
  return level == order.levels();
}

void drop_equal(LineRun& run, const LineOrder& order, records::MultisetHash& dropped) {
  Entry* const entries = run.entries();
  const std::size_t count = run.count;
  std::size_t kept = 0;
  for (std::size_t i = 1; i < count; ++i) {
    unsigned level = 0;
    const bool is_equal = records::key_equal(entries[kept], entries[i]) &&
                          (tie_is_decided(order, {entries[i].prefix, entries[i].extension}, level) ||
                           order.compare(run.line(entries[kept]), run.line(entries[i]), level) == 0);
    if (is_equal)
      add_line(dropped, run.line(entries[i]));
    else
      entries[++kept] = entries[i];
  }
  if (count == 0) return;
  std::move_backward(entries, entries + kept + 1, entries + count);
  run.count = kept + 1;
}

}  // namespace ecosort::lines
