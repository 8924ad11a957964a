#include "pipeline/split.h"

#include <parallel/base.h>
// after it: the selection uses its macros
#include <parallel/multiseq_selection.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <utility>

namespace ecosort::pipeline {

namespace {

// What the selection compares: a record with its prefix.
struct Sample {
  std::uint64_t prefix = 0;
  const std::byte* record = nullptr;
};

// The selection keeps pointers to what an iterator yields, so that samples need an address: they live here until it ends.
struct Samples {
  const records::Encoder& encoder;
  std::deque<Sample> taken;
};

// Random access over the records of a range; only as much of an iterator as the selection uses.
class RecordIterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Sample;
  using difference_type = std::int64_t;
  using pointer = Sample*;
  using reference = Sample&;

  RecordIterator() = default;
  RecordIterator(const RunView& view, Samples& samples, std::uint64_t number)
      : view_(&view), samples_(&samples), number_(static_cast<difference_type>(number)) {}

  reference operator*() const { return (*this)[0]; }
  reference operator[](difference_type n) const {
    const std::byte* record = view_->record(static_cast<std::uint64_t>(number_ + n));
    return samples_->taken.emplace_back(Sample{samples_->encoder.prefix(record), record});
  }
  RecordIterator& operator+=(difference_type n) {
    number_ += n;
    return *this;
  }
  RecordIterator& operator++() { return *this += 1; }
  friend RecordIterator operator+(RecordIterator it, difference_type n) { return it += n; }
  friend difference_type operator-(const RecordIterator& a, const RecordIterator& b) { return a.number_ - b.number_; }
  friend bool operator==(const RecordIterator& a, const RecordIterator& b) { return a.number_ == b.number_; }
  friend bool operator<(const RecordIterator& a, const RecordIterator& b) { return a.number_ < b.number_; }

 private:
  const RunView* view_ = nullptr;
  Samples* samples_ = nullptr;
  difference_type number_ = 0;
};

// The first number in range for which `is_after` holds; it holds for all later ones.
template <class IsAfter>
std::uint64_t partition_point(RunRange range, IsAfter is_after) {
  while (range.begin < range.end) {
    const std::uint64_t middle = range.begin + (range.end - range.begin) / 2;
    if (is_after(middle))
      range.end = middle;
    else
      range.begin = middle + 1;
  }
  return range.begin;
}

}  // namespace

std::vector<std::uint64_t> split_at_rank(const std::vector<RunView>& views, const std::vector<RunRange>& ranges,
                                         std::uint64_t rank, const records::Encoder& encoder) {
  using Pair = std::pair<RecordIterator, RecordIterator>;
  Samples samples{encoder, {}};
  std::vector<Pair> sequences;
  std::vector<std::size_t> owner;  // the selection wants no empty sequences
  std::vector<std::uint64_t> cuts(views.size());
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < views.size(); ++i) {
    cuts[i] = ranges[i].begin;
    total += ranges[i].end - ranges[i].begin;
    if (ranges[i].begin == ranges[i].end) continue;
    // No range gives more than `rank` records.
    const std::uint64_t end = std::min(ranges[i].end, ranges[i].begin + rank);
    sequences.emplace_back(RecordIterator(views[i], samples, ranges[i].begin), RecordIterator(views[i], samples, end));
    owner.push_back(i);
  }
  if (rank == 0) return cuts;
  if (rank == total) {
    for (std::size_t i = 0; i < views.size(); ++i) cuts[i] = ranges[i].end;
    return cuts;
  }
  const auto less = [&encoder](const Sample& a, const Sample& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    return !encoder.prefix_decides() && encoder.compare(a.record, b.record) < 0;
  };
  std::vector<RecordIterator> offsets(sequences.size());
  __gnu_parallel::multiseq_partition(sequences.begin(), sequences.end(), static_cast<std::int64_t>(rank), offsets.begin(),
                                     std::function<bool(const Sample&, const Sample&)>(less));
  for (std::size_t i = 0; i < sequences.size(); ++i)
    cuts[owner[i]] += static_cast<std::uint64_t>(offsets[i] - sequences[i].first);
  return cuts;
}

std::uint64_t first_after(const RunView& view, RunRange range, std::uint32_t run, const Bound& bound,
                          const records::Encoder& encoder) {
  if (!bound.any) return range.end;
  return partition_point(range, [&](std::uint64_t number) {
    const int order = encoder.compare(view.record(number), bound.record);
    return order > 0 || (order == 0 && run > bound.run);
  });
}

std::uint64_t first_not_before(const RunView& view, RunRange range, std::uint32_t run, std::uint64_t prefix,
                               std::uint32_t extension, std::uint32_t later_run, const records::Encoder& encoder) {
  return partition_point(range, [&](std::uint64_t number) {
    const std::byte* record = view.record(number);
    const std::pair key(encoder.prefix(record), encoder.extension(record));
    const std::pair limit(prefix, extension);
    return key > limit || (key == limit && (!encoder.decides() || run > later_run));
  });
}

}  // namespace ecosort::pipeline
