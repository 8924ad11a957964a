// Sorting a file in its own space (DEMSort, Beckmann et al. 2010, section 4.2), so that no crash loses a record.
//
// Everything a job did is in its journal; whoever comes next goes on from there. DESIGN.md tells why the order of the steps is
// as it is.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "demsort_inplace/job_directory.h"
#include "demsort_inplace/journal.h"
#include "io/queue.h"
#include "pipeline/phase_log.h"
#include "pipeline/progress.h"
#include "pipeline/sort.h"

namespace ecosort::inplace {

// What a job runs on. All of it outlives the calls.
struct Environment {
  io::NamedStorage& storage;
  io::Queue& queue;
  pipeline::Progress& progress;
  pipeline::PhaseLog& log;
  const std::atomic<int>& interrupted;  // a signal number: stop at the next checkpoint, and throw Interrupted
};

// What there is under a name.
struct JobStatus {
  enum class Kind : std::uint8_t {
    none,       // no job directory
    not_begun,  // FILE is as it was, the job directory only a beginning (or the last rest of the end)
    under_way,  // the records are in the job directory
    complete,   // the result is in the job directory or has its name already; what is left is to clean up
  };
  Kind kind = Kind::none;
  std::optional<JournalContents> contents;  // of a job under way or complete
  io::FilePtr journal;                      // open, and on a real file system locked

  [[nodiscard]] bool is_abandoned() const noexcept;             // its records are being, or have been, put back unsorted
  [[nodiscard]] std::uint64_t records_formed() const noexcept;  // in durable runs, or beyond them in the output
  [[nodiscard]] std::uint64_t records_merged() const noexcept;  // in the output for good
};

// Looks; changes nothing. UsageError if another process works on the job, or if a new FILE stands beside a job that is under
// way; IoError if what is there cannot come from a crash.
[[nodiscard]] JobStatus examine(const std::string& path, io::NamedStorage& storage, io::Queue& queue);

// Random: the granules of another job fail their checksums.
[[nodiscard]] std::uint64_t fresh_job_number();

// The engine's plan for a job with so much memory. UsageError if it is too little.
[[nodiscard]] plan::Plan engine_plan(const JobHeader& header, std::uint64_t memory_bytes, unsigned threads);

// Sorts FILE, which `input` has open for reading and writing, and which the caller has found fit for it. Throws as sort() does.
// Until the job begins FILE is untouched and nothing stays behind; from then on the job can be resumed, whatever is thrown.
[[nodiscard]] pipeline::SortReport start(const std::string& path, io::FilePtr input, const JobHeader& header,
                                         const plan::Plan& plan, Environment environment);

// Goes on with a job that is under way or complete, to its end; one that was abandoned to that end.
[[nodiscard]] pipeline::SortReport resume(const std::string& path, JobStatus status, const plan::Plan& plan,
                                          Environment environment);

// Puts the records of a job that is under way back into one file, unsorted, and gives it its name.
[[nodiscard]] pipeline::SortReport abandon(const std::string& path, JobStatus status, const plan::Plan& plan,
                                           Environment environment);

// Removes what a job that is not begun has left.
void discard(const std::string& path, JobStatus status, io::NamedStorage& storage);

}  // namespace ecosort::inplace
