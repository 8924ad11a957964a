// The first phase of a resumable sort: runs become durable, one after the other, while later ones are written already.
//
//   run i written -> run i durable -> both sums equal -> runs 0 ... i-1 in the journal -> journal says so, durable
//
// The inputs are only read. What is in the journal is not done again, so each run costs one sync of its own and one record.
#pragma once

#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/workbench.h"
#include "engine/fixed/form_runs.h"

namespace ecosort::inplace {

// Before the merge: reserves all of the output that the runs leave room for, beyond what was. Runs that turned out to be smaller
// than they were promised leave more.
[[nodiscard]] Task<void> reserve_output_room(Workbench& bench);

// Coordinator only. The bench outlives it. The space of all runs is reserved beforehand.
class KeepRuns : public engine::RunKeeper {
 public:
  explicit KeepRuns(Workbench& bench);

  Task<void> before_store(std::size_t part) override;
  Task<void> after_store(std::size_t part, engine::Tally read, engine::Tally written) override;

 private:
  Workbench& bench_;
  const std::size_t first_;  // run of the first part
  Signal kept_;
};

}  // namespace ecosort::inplace
