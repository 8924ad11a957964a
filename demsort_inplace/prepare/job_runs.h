// The runs of a job that was interrupted, for who only reads them: all that hold its records, none of which was given up yet.
#pragma once

#include <string>
#include <vector>

#include "demsort_inplace/job_status.h"

namespace ecosort::inplace {

struct JobRuns {
  std::vector<std::string> paths;  // in the order of their records in the input
  io::FilePtr directory;           // locked: while it is open no one continues with the job
};

// Returns the runs of the job of `file`. Changes nothing. UsageError and JobRefused where there is none, where another process
// works on it, where not all records are in runs yet, or some are in no run any more.
[[nodiscard]] JobRuns runs_of_job(const std::string& file, io::NamedStorage& storage, io::Queue& queue);

}  // namespace ecosort::inplace
