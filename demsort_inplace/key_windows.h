// Reads the keys that runs keep (kept_keys.h) piece by piece, for a merge whose memory has no room for all of them.
//
// A key that is wrong would let the merge go too far before the run block itself is loaded, and a checkpoint could make that
// durable. So each piece has a checksum in memory, of when the table was written or was found whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "demsort_inplace/workbench.h"

namespace ecosort::demsort_inplace {

// Coordinator only.
class KeyWindows final : public run::KeySource {
 public:
  // `piece`: so many keys are read at a time.
  KeyWindows(Workbench& bench, std::uint64_t piece)
      : bench_(bench),
        piece_(piece),
        reads_(bench.reactor.scope(), most_reads),
        budget_(most_reads * most_units * bench.layout.unit) {}

  // The run of this number in the store keeps such keys, as they lie on the drive; the first of them are none of the store's.
  void keep(std::size_t number, std::uint64_t run, std::span<const std::byte> keys, std::uint64_t before);

  [[nodiscard]] Task<std::vector<run::ForecastKey>> read(std::size_t number, std::uint64_t first, std::uint64_t count) override;

 private:
  static constexpr std::size_t most_reads = 64, most_units = 2;  // of each, as the plan says (planner/equal_runs.cpp)

  struct Kept {
    std::uint64_t run = 0;
    std::uint64_t begin = 0;          // of the first key, in its file
    std::vector<std::uint32_t> sums;  // of the pieces; counted memory
  };

  Workbench& bench_;
  const std::uint64_t piece_;
  Semaphore reads_;
  MemoryBudget budget_;  // counted with the tables of the forecast
  std::vector<Kept> runs_;
};

}  // namespace ecosort::demsort_inplace
