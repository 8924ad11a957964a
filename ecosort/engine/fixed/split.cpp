#include "engine/fixed/split.h"

#include <parallel/base.h>
// after it: the selection uses its macros
#include <parallel/multiseq_selection.h>

#include <algorithm>
#include <compare>
#include <deque>
#include <functional>
#include <iterator>
#include <utility>

#include "engine/fixed/output_check.h"

namespace ecosort::engine::fixed {

namespace {

// The selection compares these: a record with the eight key bytes behind those that all have in common.
struct Sample {
  std::uint64_t word = 0;
  const std::byte* record = nullptr;
};

// The selection keeps pointers to what an iterator yields, so that samples need an address: they live here until it ends.
struct Samples {
  const records::Encoder& encoder;
  std::uint64_t skip;
  std::deque<Sample> taken;

  [[nodiscard]] std::uint64_t word_of(const std::byte* record) const noexcept {
    return skip == 0 ? encoder.prefix(record) : encoder.window(record, skip).prefix;
  }
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
    return samples_->taken.emplace_back(Sample{samples_->word_of(record), record});
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

// Returns how many elements of each sorted sequence belong to the `rank` smallest; ties go to the earlier sequence.
template <class Iterator, class Less>
std::vector<std::uint64_t> select(const std::vector<std::pair<Iterator, Iterator>>& sequences, std::uint64_t rank, Less less) {
  std::vector<std::uint64_t> taken(sequences.size());
  if (rank == 0) return taken;
  std::vector<std::pair<Iterator, Iterator>> filled;  // the selection wants no empty sequences
  std::vector<std::size_t> owner;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto [begin, end] = sequences[i];
    const auto length = static_cast<std::uint64_t>(end - begin);
    total += length;
    if (length == 0) continue;
    // No sequence gives more than `rank` elements.
    filled.emplace_back(begin, begin + static_cast<std::int64_t>(std::min(length, rank)));
    owner.push_back(i);
    taken[i] = length;
  }
  if (rank == total) return taken;
  std::vector<Iterator> offsets(filled.size());
  using Value = typename std::iterator_traits<Iterator>::value_type;
  __gnu_parallel::multiseq_partition(filled.begin(), filled.end(), static_cast<std::int64_t>(rank), offsets.begin(),
                                     std::function<bool(const Value&, const Value&)>(less));
  for (std::size_t i = 0; i < filled.size(); ++i) taken[owner[i]] = static_cast<std::uint64_t>(offsets[i] - filled[i].first);
  return taken;
}

// The first number in range for which `after` holds; it holds for all later ones.
template <class IsAfter>
std::uint64_t partition_point(RunRange range, IsAfter after) {
  while (range.begin < range.end) {
    const std::uint64_t middle = range.begin + (range.end - range.begin) / 2;
    if (after(middle))
      range.end = middle;
    else
      range.begin = middle + 1;
  }
  return range.begin;
}

}  // namespace

KeyBounds key_bounds(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, const records::Encoder& encoder) {
  KeyBounds bounds;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].begin >= ranges[i].end) continue;
    const std::byte* const first = views[i].record(ranges[i].begin);
    const std::byte* const last = views[i].record(ranges[i].end - 1);
    if (bounds.first == nullptr || compare_pair(first, bounds.first, encoder) < 0) bounds.first = first;
    if (bounds.last == nullptr || compare_pair(bounds.last, last, encoder) < 0) bounds.last = last;
  }
  return bounds;
}

std::vector<std::uint64_t> split_at_rank(const std::vector<RunView>& views, const std::vector<RunRange>& ranges,
                                         std::uint64_t rank, const records::Encoder& encoder) {
  Samples samples{encoder, key_bounds(views, ranges, encoder).common_bytes(encoder), {}};
  std::vector<std::pair<RecordIterator, RecordIterator>> sequences;
  for (std::size_t i = 0; i < views.size(); ++i)
    sequences.emplace_back(RecordIterator(views[i], samples, ranges[i].begin), RecordIterator(views[i], samples, ranges[i].end));
  std::vector<std::uint64_t> cuts = select(sequences, rank, [&encoder](const Sample& a, const Sample& b) {
    if (a.word != b.word) return a.word < b.word;
    return !encoder.prefix_decides() && encoder.compare(a.record, b.record) < 0;
  });
  for (std::size_t i = 0; i < views.size(); ++i) cuts[i] += ranges[i].begin;
  return cuts;
}

std::vector<std::uint64_t> split_at_rank(const std::vector<SortedIndex>& runs, std::uint64_t rank,
                                         const records::Encoder& encoder, const records::RecordTable& table) {
  std::vector<std::pair<sorting::Entry*, sorting::Entry*>> sequences;
  for (const SortedIndex& run : runs) sequences.emplace_back(run.data(), run.data() + run.size());
  return select(sequences, rank, [&](const sorting::Entry& a, const sorting::Entry& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    if (a.extension != b.extension) return a.extension < b.extension;
    return !encoder.decides() && encoder.compare(table.at(a.index), table.at(b.index)) < 0;
  });
}

bool is_after(const std::byte* record, std::uint32_t run, const Bound& bound, const records::Encoder& encoder) {
  const int order = compare_pair(record, bound.record, encoder);
  return order > 0 || (order == 0 && run > bound.run);
}

std::uint64_t first_after(const RunView& view, RunRange range, std::uint32_t run, const Bound& bound,
                          const records::Encoder& encoder) {
  if (!bound.any) return range.end;
  return partition_point(range, [&](std::uint64_t number) { return is_after(view.record(number), run, bound, encoder); });
}

std::uint64_t first_not_before(const RunView& view, RunRange range, std::uint32_t run, const run::ForecastKey& key,
                               std::uint32_t later_run, const records::Encoder& encoder, const run::SharedKey& shared) {
  const bool decides = encoder.key_length() <= shared.depth() + records::Encoder::window_bytes;
  return partition_point(range, [&](std::uint64_t number) {
    const std::strong_ordering order = shared.compare(encoder, view.record(number), key);
    return std::is_gt(order) || (std::is_eq(order) && (!decides || run > later_run));
  });
}

}  // namespace ecosort::engine::fixed
