// Forecast keys behind what all keys have in common: URLs and dates begin alike for longer than the twelve bytes that a forecast
// holds, and would predict nothing.
//
// The depth is the number of leading key bytes in which all records of all runs agree, as far as the runs are known. A run that
// agrees in fewer lowers it; a forecast key made at the greater depth is then moved to the lower one exactly, since the bytes
// between are those of every record seen before. Where the twelve bytes tie, the place among the key sample decides
// (key sample.h). Keys that (prefix, extension) decide stay at depth 0 and without a place.
//
// Changed by the coordinator while runs are formed; read by any thread once they are.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/records/encoder.h"
#include "run/key_sample.h"

namespace ecosort::run {

// Twelve key bytes of the first record of a run block, and its place among the key sample: what the prefetcher orders blocks by
// (forecasting; Knuth 5.4.9, Dementiev and Sanders 2003).
//
//   key(a) < key(b)  implies  forecast(a) <= forecast(b)
struct ForecastKey {
  std::uint64_t prefix = 0;
  std::uint32_t extension = 0;
  std::uint32_t place = 0;

  friend auto operator<=>(const ForecastKey&, const ForecastKey&) = default;
};

class SharedKey {
 public:
  [[nodiscard]] std::uint64_t depth() const noexcept { return depth_; }

  // Returns how many records of the next run to show to take_in().
  [[nodiscard]] std::uint64_t sample_size(const records::Encoder& encoder) const noexcept;

  // Takes in a sorted run by records of it in their order: the first, the last and those between that were asked for, evenly
  // spaced. Returns the depth that held before.
  std::uint64_t take_in(const records::Encoder& encoder, std::span<const std::byte* const> sample);

  // Takes in runs of which nothing is known: the depth is 0 from now on. Returns the one that held before.
  std::uint64_t take_in_unknown() noexcept;

  [[nodiscard]] ForecastKey key_of(const records::Encoder& encoder, const std::byte* record) const noexcept;

  // key_of(record) <=> key; looks at key sample only where the twelve bytes tie, and at two at most.
  [[nodiscard]] std::strong_ordering compare(const records::Encoder& encoder, const std::byte* record,
                                             const ForecastKey& key) const noexcept;

  // The key of the same record at the depth of now, from that at `depth` of before.
  [[nodiscard]] ForecastKey moved(const records::Encoder& encoder, ForecastKey key, std::uint64_t depth) const noexcept {
    return moved(encoder, key, depth, depth_);
  }
  // Returns the key as it would be where nothing is known of any run: at depth 0, and without a place.
  [[nodiscard]] ForecastKey unshared(const records::Encoder& encoder, ForecastKey key) const noexcept {
    ForecastKey result = depth_ == 0 ? key : moved(encoder, key, depth_, 0);
    result.place = 0;
    return result;
  }

 private:
  [[nodiscard]] ForecastKey moved(const records::Encoder& encoder, ForecastKey key, std::uint64_t from,
                                  std::uint64_t to) const noexcept;
  [[nodiscard]] records::KeyWindow window_of(const records::Encoder& encoder, const std::byte* record) const noexcept;

  std::uint64_t depth_ = 0;
  bool knows_nothing_ = false;        // of some run
  std::vector<std::byte> reference_;  // a record; all agree with it in `depth_` key bytes
  KeySample key_sample_;
};

}  // namespace ecosort::run
