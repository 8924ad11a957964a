// Forecast keys behind what all keys have in common: URLs and dates begin alike for longer than the twelve bytes that a forecast
// holds, and would foretell nothing.
//
// The depth is the number of leading key bytes in which all records of all runs agree, as far as the runs are known. A run that
// agrees in fewer lowers it; a forecast key made at the greater depth is then moved to the lower one exactly, since the bytes
// between are those of every record seen before. Keys that (prefix, extension) decide stay at depth 0. Coordinator only.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "records/encoder.h"

namespace ecosort::pipeline {

// Twelve key bytes of the first record of a granule: what the prefetcher orders blocks by (forecasting; Knuth 5.4.9, Dementiev
// and Sanders 2003).
struct ForecastKey {
  std::uint64_t prefix = 0;
  std::uint32_t extension = 0;

  friend auto operator<=>(const ForecastKey&, const ForecastKey&) = default;
};

class SharedKey {
 public:
  [[nodiscard]] std::uint64_t depth() const noexcept { return depth_; }

  // Takes in a sorted run by its first and its last record. Returns the depth that held before.
  std::uint64_t take_in(const records::Encoder& encoder, const std::byte* first, const std::byte* last);

  // Takes in runs of which nothing is known: the depth is 0 from now on. Returns the one that held before.
  std::uint64_t take_in_unknown() noexcept;

  [[nodiscard]] ForecastKey key_of(const records::Encoder& encoder, const std::byte* record) const noexcept;

  // The key of the same record at the depth of now, from that at `depth` of before.
  [[nodiscard]] ForecastKey moved(const records::Encoder& encoder, ForecastKey key, std::uint64_t depth) const noexcept;

 private:
  std::uint64_t depth_ = 0;
  bool knows_nothing_ = false;        // of some run
  std::vector<std::byte> reference_;  // a record; all agree with it in `depth_` key bytes
};

}  // namespace ecosort::pipeline
