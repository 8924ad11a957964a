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
#include "demsort_inplace/rows_job.h"
#include "demsort_inplace/workbench.h"
#include "ecosort/request.hpp"
#include "engine/rows/lines_sort.h"
#include "io/posix_storage.h"

namespace ecosort::demsort_inplace::prepare {

// Convert what the journal of a job keeps of a request, and back, with the file of the job as its output. UsageError for a job
// that an older program began: it has words of a command line.
[[nodiscard]] LineTerms kept_terms(const Request& request);
[[nodiscard]] Request request_of(const JobHeader& header, const std::string& file);

// The sort as a job has it, whose runs are stored as they are. `assumed_bytes`, if not 0, are of inputs that are not to be
// opened.
[[nodiscard]] engine::rows::LinesJob make_kept_job(Request request, std::uint64_t assumed_bytes, io::Storage& storage);

// Everything checked and opened; nothing created.
struct PreparedRowsJob {
  engine::rows::LinesJob job;  // with its inputs
  std::string file{};          // whose job it is: in place FILE, else the output, links followed
  std::uint64_t input_bytes = 0;
  JobHeader header{};
  std::uint64_t free_bytes = 0;                        // on the file system
  LinesSpace space{};                                  // beside the inputs
  LinesInPlaceChoice choice{};                         // in place
  std::optional<std::uint64_t> enough_memory_bytes{};  // in place, where there is no space: with so much it fits

  [[nodiscard]] bool is_empty() const noexcept { return input_bytes == 0; }
  [[nodiscard]] const io::File& first_input() const { return *job.inputs.front().file; }
  [[nodiscard]] bool fits() const noexcept {
    return header.is_in_place() ? choice.best.has_value() : space.need_bytes() <= free_bytes;
  }
};

// Without a byte to sort there is nothing to resume either: neither header nor space are set. UsageError for inputs that cannot
// be read again, and for a file that is not fit, NotEnoughMemory. Whether the space suffices is left to require_space().
[[nodiscard]] PreparedRowsJob prepare_rows(const Request& request, io::PosixStorage& storage);
// NotEnoughSpace, in place NoSpaceInPlace; UsageError for a quota, and where files may not get as large as they must.
void require_space(const PreparedRowsJob& prepared);
// Sorts them; what start_rows() throws.
[[nodiscard]] engine::rows::LinesReport run_prepared(PreparedRowsJob prepared, const JobContext& environment);

// Steps of it, for lines that stay in the space of FILE.
[[nodiscard]] PreparedRowsJob prepare_lines_in_place(const Request& request, io::PosixStorage& storage);
void require_space_in_place(const PreparedRowsJob& prepared);

// Prepares a job that is there: with the means of this time, the rest is the journal's. NotEnoughMemory where they are too few
// for it.
[[nodiscard]] engine::rows::LinesJob prepare_resumed_rows(const Request& request, const JobHeader& header,
                                                          io::PosixStorage& storage);

// Says how far a job is, in bytes.
struct RowsProgress {
  std::uint64_t inputs = 0, in_runs = 0, in_output = 0;
};
[[nodiscard]] RowsProgress progress_of(const JournalContents& contents);

// The job without what it works with, for the figures at its end.
[[nodiscard]] engine::rows::LinesJob figures_of(const engine::rows::LinesJob& job);

}  // namespace ecosort::demsort_inplace::prepare
