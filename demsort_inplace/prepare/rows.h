// A sort of rows of any length (`lines`, `csv`, `jsonl`) as a job that outlives a crash needs it: checked, opened, and planned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demsort_inplace/job_records.h"
#include "demsort_inplace/job_status.h"
#include "demsort_inplace/lines_in_place.h"
#include "demsort_inplace/lines_space.h"
#include "demsort_inplace/workbench.h"
#include "ecosort/request.hpp"
#include "engine/rows/lines_sort.h"
#include "io/posix_storage.h"

namespace ecosort::inplace {

// What the journal of a job keeps of a request, and back, with the file of the job as its output. UsageError for a job that an
// older program began: it has words of a command line.
[[nodiscard]] LineTerms kept_terms(const Request& request);
[[nodiscard]] Request request_of(const JobHeader& header, const std::string& file);

// The sort as a job has it, whose runs are stored as they are. `assumed_bytes`, if not 0, are of inputs that are not to be
// opened.
[[nodiscard]] lines::LinesJob make_kept_job(Request request, std::uint64_t assumed_bytes, io::Storage& storage);

// Everything checked and opened; nothing created.
struct PreparedRows {
  lines::LinesJob job;
  std::string output;  // links followed
  JobHeader header;
  LinesSpace space;
  std::uint64_t free_bytes = 0;  // on the output's file system

  [[nodiscard]] bool fits() const { return space.need_bytes() <= free_bytes; }
};

// Nothing: the inputs are empty, so that there is nothing to resume either. UsageError for inputs that cannot be read again,
// NotEnoughMemory. Whether the space suffices is left to require_space().
[[nodiscard]] std::optional<PreparedRows> prepare_resumable_rows(const Request& request, io::PosixStorage& storage);
// NotEnoughSpace; UsageError where files may not get as large as they must.
void require_space(const PreparedRows& prepared);
// Sorts them; what start_resumable_lines() throws.
[[nodiscard]] lines::LinesReport run_rows(PreparedRows prepared, const Environment& environment);

// The same for the lines of a file that stay in its space.
struct PreparedLinesInPlace {
  lines::LinesJob job;  // with its input
  LinesInPlaceChoice choice;
  std::uint64_t input_bytes = 0, free_bytes = 0;
};
// UsageError for a file that is not fit, NotEnoughMemory. Without a byte to sort `choice` is empty.
[[nodiscard]] PreparedLinesInPlace prepare_lines_in_place(const Request& request, io::PosixStorage& storage);
// NoSpaceInPlace; UsageError for a quota, and where files may not get as large as they must.
void require_space(const PreparedLinesInPlace& prepared, const std::string& file);
[[nodiscard]] lines::LinesReport run_lines_in_place(PreparedLinesInPlace prepared, const std::string& file,
                                                    const Environment& environment);

// Of a job that is there: with the means of this time, the rest is the journal's. NotEnoughMemory where they are too few for it.
[[nodiscard]] lines::LinesJob prepare_resumed_rows(const Request& request, const JobHeader& header, io::PosixStorage& storage);

// Brings it to its end, or back to where it began; what resume_lines() and abandon_lines() throw.
[[nodiscard]] lines::LinesReport run_resumed_rows(const std::string& file, JobStatus status, lines::LinesJob job,
                                                  const Environment& environment);
[[nodiscard]] lines::LinesReport abandon_rows(const std::string& file, JobStatus status, const Environment& environment);

// How far a job is, in bytes.
struct RowsProgress {
  std::uint64_t inputs = 0, in_runs = 0, in_output = 0;
};
[[nodiscard]] RowsProgress progress_of(const JournalContents& contents);

// The job without what it works with, for the figures at its end.
[[nodiscard]] lines::LinesJob figures_of(const lines::LinesJob& job);

}  // namespace ecosort::inplace
