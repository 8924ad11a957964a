// Runs of jobs that are to be merged: opened, and looked at for whether they go together and are all there.
#pragma once

#include <string>
#include <vector>

#include "engine/fixed/read_ahead.h"
#include "io/posix_storage.h"
#include "run/description.h"

namespace ecosort::job {

struct KeptRun {
  std::string name;
  engine::fixed::Input input;  // with its description

  [[nodiscard]] const run::Description& description() const { return *input.run; }
};

struct KeptRunSet {
  std::vector<KeptRun> runs;     // those with equal keys in this order: as the jobs were named, and as each job has them
  std::vector<KeptRun> headers;  // of what stays on top: no more than one for each job
};

// Runs of these jobs, by their numbers, may be missing: what these would hold is in their inputs.
using UnfinishedJobs = std::vector<std::uint64_t>;

// UsageError and DamagedRun as prepare_runs() has them.
[[nodiscard]] KeptRunSet open_kept_runs(const std::vector<std::string>& names, const UnfinishedJobs& unfinished,
                                        io::Storage& storage);

// Reads what a header run holds, which has at most `most_bytes`. DamagedRun.
[[nodiscard]] std::string read_header(const KeptRun& run, std::uint64_t most_bytes);

}  // namespace ecosort::job
