#include "demsort_inplace/prepare/job_runs.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "demsort_inplace/line_runs.h"

namespace ecosort::inplace {

namespace {

[[noreturn]] void refuse(const std::string& file, const char* why) {
  throw JobRefused(
      fmt::format("the runs of the job of '{}' cannot be merged: {}; continue with: ecosort resume {}", file, why, file));
}

// In place the rest is nowhere else: to have it behind the runs needs no other drive.
[[noreturn]] void refuse_rest(const std::string& file, const JobHeader& header) {
  const std::string way = header.is_in_place() ? fmt::format(
                                                     "; to have all back as far as they are sorted, in a file of the same "
                                                     "size: ecosort resume --abandon {}",
                                                     file)
                                               : "";
  throw JobRefused(fmt::format(
      "the runs of the job of '{}' cannot be merged: not all of its input is in runs yet; continue with: ecosort resume {}{}",
      file, file, way));
}

void check_complete(const std::string& file, const JobStatus& status) {
  using Kind = JobStatus::Kind;
  if (!status.contents || status.kind == Kind::not_begun) refuse(file, "it has not begun");
  if (status.is_abandoned()) refuse(file, "it is being abandoned");
  if (status.kind == Kind::complete) refuse(file, "it is complete");
}

constexpr const char* gave_up_parts = "it has given up parts of them already";

std::vector<std::uint64_t> row_runs(const std::string& file, const JournalContents& contents) {
  const bool is_formed = contents.state || (!contents.runs.empty() && contents.runs.back().lines->merged > 0);
  if (!is_formed) refuse_rest(file, contents.header);
  if (contents.header.is_in_place() && contents.state->records > 0) refuse(file, gave_up_parts);
  std::vector<std::uint64_t> runs = live_runs(contents.runs);
  if (header_run(contents.runs) != nullptr) runs.insert(runs.begin(), 0);
  return runs;
}

// Its run 0 is the tail of the input.
std::vector<std::uint64_t> record_runs(const std::string& file, const JournalContents& contents) {
  const Layout& layout = contents.header.layout;
  if (layout.head_bytes == 0) refuse(file, "they do not say what they hold, for which there was no room when it began");
  if (contents.runs.size() < layout.runs()) refuse_rest(file, contents.header);
  if (contents.state && contents.state->records > 0 && !layout.keeps_runs) refuse(file, gave_up_parts);
  std::vector<std::uint64_t> runs;
  for (std::uint64_t run = layout.runs(); run-- > 0;) runs.push_back(run);
  return runs;
}

}  // namespace

JobRuns runs_of_job(const std::string& file, io::NamedStorage& storage, io::Queue& queue) {
  const JobPaths paths(file);
  JobRuns runs;
  runs.directory = lock_directory(storage, paths);
  if (!runs.directory) throw UsageError(fmt::format("no interrupted job of '{}': there is no '{}'", file, paths.directory));
  const JobStatus status = look_at_job(file, storage, queue);
  check_complete(file, status);
  const JournalContents& contents = *status.contents;
  for (const std::uint64_t run : contents.header.lines ? row_runs(file, contents) : record_runs(file, contents))
    runs.paths.push_back(paths.run(run));
  return runs;
}

}  // namespace ecosort::inplace
