// The last merge of a job of lines: how far the output is durable.
//
//   all blocks written -> output synced -> journal: so many bytes, their hash, and where in each run the lines follow, synced
//
// A checkpoint lies between two lines. Runs stay whole to the end, so that nothing is given up at a checkpoint: what it saves is
// the work. Sums are compared when the output is complete: what the runs hold is what the output holds and what -u dropped.
#pragma once

#include "demsort_inplace/lines_bench.h"
#include "engine/rows/merge_lines.h"

namespace ecosort::inplace {

// Coordinator only. Bench and sink outlive it.
class LineCheckpoints : public lines::MergeWatcher {
 public:
  // `from`: the last state of the journal.
  LineCheckpoints(LinesBench& bench, lines::LineSink& sink, State from);

  [[nodiscard]] bool wants_place(std::uint64_t bytes) override;
  [[nodiscard]] Task<void> at(lines::MergePlace place) override;

  // Where the merge ended, which wrote `bytes` in all.
  [[nodiscard]] State end(const lines::MergedLines& merged, std::uint64_t bytes) const;

 private:
  [[nodiscard]] State state_at(const records::MultisetHash& out, const records::MultisetHash& dropped, std::uint64_t bytes) const;

  LinesBench& bench_;
  lines::LineSink& sink_;
  const State from_;
  std::uint64_t saved_bytes_;
};

}  // namespace ecosort::inplace
