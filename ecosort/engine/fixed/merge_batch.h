// One batch of a merge: the next `count` records of all runs, split exactly among the compute threads, with the checks that
// belong to them. Pure computation on resident data; runs inside the thread pool.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/fixed/output_check.h"
#include "engine/fixed/run_view.h"
#include "formats/records/encoder.h"
#include "run/record_runs.h"

namespace ecosort::engine::fixed {

// Says where the records of a batch go.
//   output: contiguous at `data`; hashed and checked for order while they are in the cache
//   run   : run blocks at `data`, the first `filled` records of which are there already; a run block that becomes full is sealed
//           as run block `first_run_block` + i of run `run` in `store`, unless somebody else does that (run_writer.h)
struct BatchTarget {
  std::byte* data = nullptr;
  const run::RecordRuns* store = nullptr;  // null: output
  std::size_t run = 0;
  std::uint64_t first_run_block = 0;
  std::uint64_t filled = 0;  // records
  bool seals = true;
};

struct BatchResult {
  std::vector<std::uint64_t> consumed;  // per run: the first record not merged yet
  Checked checked;                      // the merged records; output only: runs are sealed instead
};

// Merges the `count` smallest records of `ranges` with up to `threads` threads.
[[nodiscard]] BatchResult merge_batch(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, std::uint64_t count,
                                      const records::Encoder& encoder, const BatchTarget& target, unsigned threads);

}  // namespace ecosort::engine::fixed
