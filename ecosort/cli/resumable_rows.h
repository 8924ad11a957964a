// `ecosort lines --resumable`, `ecosort plan lines --resumable`, and `ecosort resume` of such a job.
#pragma once

#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/inplace.h"
#include "demsort_inplace/job_status.h"
#include "demsort_inplace/lines_space.h"
#include "engine/rows/lines_sort.h"
#include "formats/lines/grammar.h"
#include "io/posix_storage.h"

namespace ecosort::cli {

// Everything checked and opened; nothing created.
struct ResolvedLines {
  lines::LinesJob job;
  std::string output;  // links followed
  inplace::JobHeader header;
  inplace::LinesSpace space;
  std::uint64_t free_bytes = 0;  // on the output's file system
};

// `words` are those of the command. Nothing: the inputs are empty, so that there is nothing to resume either. UsageError for what
// cannot be resumed, and for too little space.
[[nodiscard]] std::optional<ResolvedLines> resolve_lines(const lines::LinesOptions& options, const Words& words,
                                                         io::PosixStorage& storage);

// The exit code; nothing: an ordinary sort does it.
[[nodiscard]] std::optional<int> run_resumable_lines(const lines::LinesOptions& options, const Words& words,
                                                     const lines::FirstLook& look, double started_s);

// The plan for people, or for programs; nothing: there is nothing to sort.
[[nodiscard]] std::optional<std::string> resumable_lines_plan(const lines::LinesOptions& options, const Words& words,
                                                              bool is_json, io::PosixStorage& storage);

// Goes on with the job, or removes it.
int resume_lines_job(const InPlaceOptions& options, inplace::JobStatus status, io::PosixStorage& storage, io::Queue& queue,
                     double started_s, bool abandons);

// What `resume --status` says behind its first line.
[[nodiscard]] std::string lines_status_text(const inplace::JobStatus& status);

}  // namespace ecosort::cli
