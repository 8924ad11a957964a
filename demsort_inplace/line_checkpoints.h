// The last merge of a job of lines: how far the output is durable.
//
//   all blocks written -> output synced -> journal: so many bytes, their hash, and where in each run the lines follow, synced
//
// A checkpoint lies between two lines. Runs stay whole to the end, so that nothing is given up at a checkpoint: what it saves is
// the work. Sums are compared when the output is complete: what the runs hold is what the output holds and what -u dropped.
// In place the runs give up what they need not hold after a checkpoint (given_space.h), so sums are compared before that, too:
// what was taken from the runs is what the output got.
#pragma once

#include "demsort_inplace/given_space.h"
#include "demsort_inplace/lines_bench.h"
#include "engine/rows/merge_lines.h"

namespace ecosort::demsort_inplace {

// VerificationError unless the lines that were taken from the runs, by a merge that hashes them, are those of the output.
void check_taken(const hash::MultisetHash& in, const hash::MultisetHash& out);

// Coordinator only. Bench and sink outlive it.
class LineCheckpoints : public engine::rows::MergeWatcher {
 public:
  // `from`: the last state of the journal. `given`: in place, and outlives this; else null.
  LineCheckpoints(LinesBench& bench, engine::rows::LineSink& sink, State from, GivenRuns* given);

  [[nodiscard]] bool wants_place(std::uint64_t bytes) override;
  [[nodiscard]] Task<void> at(engine::rows::MergePlace place) override;

  // Returns the state where the merge ended, which wrote `bytes` in all.
  [[nodiscard]] State end(const engine::rows::MergedLines& merged, std::uint64_t bytes) const;

 private:
  [[nodiscard]] State state_at(const hash::MultisetHash& out, const hash::MultisetHash& dropped, std::uint64_t bytes) const;

  LinesBench& bench_;
  engine::rows::LineSink& sink_;
  const State from_;
  std::uint64_t saved_bytes_;
  GivenRuns* const given_;
};

}  // namespace ecosort::demsort_inplace
