// A bound by counting, where more records are wanted than the memory holds (`--limit`): stored runs leave samples, and when those
// up to one of them count as many records as are wanted, no record that comes later and is behind that one is needed.
//
//   run 0   | ......... a ......... c |      each sample counts the records up to it, behind the sample before
//   run 1   | .... b ........ d ..... |      a, b, c, d in order: once a, b and c count enough, d goes, and c is the bound
//
// The bound is off by no more than the records between two samples of each run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ecosort::engine {

// Bound: a record of the order, with is_before(const Bound&). One thread at a time.
template <class Bound>
class CountedBound {
 public:
  explicit CountedBound(std::uint64_t wanted) : wanted_(wanted) {}

  // `records` of a run come no later than this one of it, and behind the sample before.
  void add(std::shared_ptr<const Bound> record, std::uint64_t records) {
    counted_ += records;
    samples_.push_back({std::move(record), records});
    std::ranges::push_heap(samples_, comes_first);
    while (counted_ - samples_.front().records >= wanted_ && samples_.size() > 1) {
      counted_ -= samples_.front().records;
      std::ranges::pop_heap(samples_, comes_first);
      samples_.pop_back();
    }
    if (samples_.size() > most_samples) thin_out();
  }

  // Returns the bound; null while too few records were counted.
  [[nodiscard]] std::shared_ptr<const Bound> bound() const {
    return samples_.empty() || counted_ < wanted_ ? nullptr : samples_.front().record;
  }

 private:
  static constexpr std::size_t most_samples = std::size_t{1} << 14U;  // 3 MB where a record takes 100 bytes

  struct Sample {
    std::shared_ptr<const Bound> record;
    std::uint64_t records = 0;
  };
  static bool comes_first(const Sample& a, const Sample& b) { return a.record->is_before(*b.record); }

  // Every second sample counts for the one behind it, too. What is in order backwards is a heap.
  void thin_out() {
    std::ranges::sort(samples_, [](const Sample& a, const Sample& b) { return comes_first(b, a); });
    std::vector<Sample> left;
    for (std::size_t i = 0; i < samples_.size(); i += 2) {
      left.push_back(samples_[i]);
      if (i + 1 < samples_.size()) left.back().records += samples_[i + 1].records;
    }
    samples_ = std::move(left);
  }

  std::uint64_t wanted_;
  std::uint64_t counted_ = 0;
  std::vector<Sample> samples_;  // a heap, the last one of the order in front
};

}  // namespace ecosort::engine
