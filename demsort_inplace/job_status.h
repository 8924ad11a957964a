// Says what there is of a job under a name, by whatever process it was begun: looked at before it is resumed, abandoned or
// reported.
#pragma once

#include <optional>
#include <string>

#include "demsort_inplace/job_directory.h"
#include "demsort_inplace/job_trust.h"
#include "demsort_inplace/journal.h"
#include "io/queue.h"
#include "planner/plan.h"

namespace ecosort::demsort_inplace {

struct JobStatus {
  enum class Kind : std::uint8_t {
    none,       // no job directory
    not_begun,  // FILE is as it was, the job directory only a beginning
    under_way,  // the records are in the job directory, or, of a job that only reads its inputs, also in these
    complete,   // the result is in the job directory or has its name already; what is left is to clean up
    removed,    // a job was completed, and all but its last trace removed
  };
  Kind kind = Kind::none;
  std::optional<JournalContents> contents;  // of a job under way or complete
  io::FilePtr directory, journal;           // open, and on a real file system locked
  bool is_busy = false;                     // told about only: another process works on it
  bool has_other_file = false;              // also: a new FILE is beside an in-place job that is under way

  [[nodiscard]] bool is_of(JobHeader::Kind kind) const noexcept;
  [[nodiscard]] bool is_abandoned() const noexcept;             // its records are being, or have been, put back unsorted
  [[nodiscard]] std::uint64_t records_formed() const noexcept;  // or lines: in durable runs, or beyond them in the output
  [[nodiscard]] std::uint64_t records_merged() const noexcept;  // in the output for good
};

// Locks the job, then looks; changes nothing. JobRefused if it is not to be trusted (job_trust.h), if another process works on
// it, or if a new FILE is beside an in-place job that is under way; IoError if what is there cannot come from a crash.
[[nodiscard]] JobStatus examine(const std::string& path, io::NamedStorage& storage, io::Queue& queue, const Trust& trust = {});

// Looks only to report it: also while another process works on the job, and where nothing can be written.
[[nodiscard]] JobStatus look_at_job(const std::string& path, io::NamedStorage& storage, io::Queue& queue,
                                    const Trust& trust = {});

// Returns whether coders that are planned so read the runs of a job whose header says so.
[[nodiscard]] bool can_read(const planner::PackingPlan& packing, const codec::RunCompression& compression) noexcept;

// The engine's plan for a job with so much memory. UsageError if it is too little.
[[nodiscard]] planner::RecordPlan engine_plan(const JobHeader& header, std::uint64_t memory_bytes, unsigned threads);

// Removes what a job that is not begun, or removed but for its last trace, has left. Returns a notice as clean_up() does.
std::string discard(const std::string& path, JobStatus status, io::NamedStorage& storage);

}  // namespace ecosort::demsort_inplace
