// Surrounds the work of a job that can be resumed: signals, progress, events, stats, and what to say when it stops.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/watched_run.h"
#include "demsort_inplace/prepare/records.h"
#include "job/session.h"

namespace ecosort::cli {

struct JobRun {
  std::string file;  // whose job it is: what `ecosort resume` is given
  RunReports reports;
  std::string items = "records";  // of which the file consists; else "lines" or "rows"
  bool is_in_place = false;       // its input is nowhere else
};

using demsort_inplace::prepare::job_queue_depth;

// Reports a job that was brought to its end.
struct JobResult {
  JobSummary summary;
  std::vector<std::string> notices;  // some may be empty
  std::function<Json(const engine::PhaseLog& log, double started_s, const std::string& backend)> stats;
};
[[nodiscard]] JobResult result_of(engine::fixed::SortReport report);

// The reports can be written, and are neither each other, nor the file of the job, nor one of its inputs.
void check_job_reports(const JobRun& run, const std::vector<std::string>& inputs);

// Returns the exit code; throws what the work threw, with the phase and the way on in its line.
int run_job(const JobRun& run, job::Session& session, double started_s,
            const std::function<JobResult(const demsort_inplace::JobContext&)>& work);

// Before it begins: where runs and journal of an output are, how it continues after an interruption, and what a power cut may do.
void tell_job_place(const std::string& output, const RunReports& reports);

// A notice when a reservation waits for space.
void tell_waits(job::Session& session, const RunReports& reports);

// Opens the queue of the run, and prints what is to be known about it.
void open_queue(job::Session& session, const std::string& io, unsigned depth, const RunReports& reports);

}  // namespace ecosort::cli
