// The first phase of a job of records: what is left of the inputs becomes durable runs.
//
//   in place   run i written -> run i durable -> both sums equal -> journal: run i, durable -> input cut off before piece i
//   beside     run i written -> run i durable -> both sums equal -> runs 0 ... i-1 in the journal -> journal: run i, durable
//
// The next piece is read and sorted meanwhile. In place it is not written before the input has given up its space; beside the
// inputs, which are only read, the space of all runs is reserved beforehand.
#pragma once

#include "demsort_inplace/workbench.h"
#include "engine/fixed/form_runs.h"

namespace ecosort::demsort_inplace {

// Coordinator only. The bench outlives it, and so do the files of its inputs, and in place its spare file.
class KeepRuns : public engine::fixed::RunKeeper {
 public:
  explicit KeepRuns(Workbench& bench);

  Task<void> before_store(std::size_t part) override;
  Task<void> after_store(std::size_t part, engine::fixed::Tally read, engine::fixed::Tally written) override;

 private:
  void check_inputs() const;
  void check_run(std::size_t run, const engine::fixed::Tally& read, const engine::fixed::Tally& written) const;
  Task<void> make_durable(std::size_t run, const engine::fixed::Tally& tally);

  Workbench& bench_;
  const bool is_in_place_;
  const std::size_t first_;  // run of the first part
  Signal kept_;
  io::FileState input_state_ = {};  // in place: after the last cut
};

// Forms the runs that the journal does not know yet, from `bench.inputs`. Coordinator only.
[[nodiscard]] Task<void> form_runs(Workbench& bench);

// Before the merge: reserves all of the output that the runs leave room for, beyond what was. Runs that turned out to be smaller
// than they were promised leave more.
[[nodiscard]] Task<void> reserve_output_room(Workbench& bench);

}  // namespace ecosort::demsort_inplace
