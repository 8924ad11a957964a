// A merge of the runs that resumable and in-place jobs leave: they say themselves what they hold (run/description.h), and are
// only read. Everything is checked and opened, nothing is created (promise P9).
#pragma once

#include <optional>

#include "job/prepare_merge.h"
#include "job/prepare_records.h"
#include "job/prepare_rows.h"

namespace ecosort::job {

// One of the two.
struct PreparedRuns {
  std::optional<engine::fixed::MergeFilesJob> records;
  std::optional<PreparedLines> rows;
};

// Says what of the inputs of a job is in no run yet. One of the two.
struct RestOfJob {
  std::uint64_t job = 0;  // its number
  std::vector<engine::fixed::Input> records;
  std::optional<engine::rows::RowsRest> rows;
};

// The inputs of `request` are run files, in any order; what it says of formats and keys does not count. UsageError for what is no
// run, for runs that do not go together, and for a job some runs of which are missing; DamagedRun for a description that is
// damaged.
// `rests`: what goes out behind the runs, unsorted, of jobs that have not all of their input in runs.
[[nodiscard]] PreparedRuns prepare_runs(const Request& request, std::vector<RestOfJob> rests, io::PosixStorage& storage);

}  // namespace ecosort::job
