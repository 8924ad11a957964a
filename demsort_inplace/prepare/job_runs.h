// The runs of a job that was interrupted, for a caller that only reads them: all that hold its records, none of which was given
// up yet; and the rest of its input, which is in no run yet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demsort_inplace/job_status.h"
#include "job/prepare_runs.h"

namespace ecosort::demsort_inplace::prepare {

// There is a rest that could be taken, too.
struct NotAllInRuns : JobRefused {
  using JobRefused::JobRefused;
};

struct JobRuns {
  std::vector<std::string> paths;      // in the order of their records in the input
  std::optional<job::RestOfJob> rest;  // open; nothing: all is in the runs
  io::FilePtr directory;               // locked: while it is open no one continues with the job
};

// Returns the runs of the job of `file`. Changes nothing. UsageError and JobRefused where there is none, where another process
// works on it, where some records are in no run any more, or not all are in runs yet, unless `takes_rest`; InputChanged where the
// rest is not what it was.
[[nodiscard]] JobRuns runs_of_job(const std::string& file, bool takes_rest, io::NamedStorage& storage, io::Queue& queue);

}  // namespace ecosort::demsort_inplace::prepare
