#include "demsort_inplace/prepare/job_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/line_runs.h"

namespace ecosort::demsort_inplace::prepare {

namespace {

// In place the input is nowhere else: to have all of it back needs no other drive.
template <class Refusal>
[[noreturn]] void refuse_as(const std::string& file, const JobHeader& header, const char* why) {
  const std::string back =
      fmt::format("; to have all back as far as it is sorted, in a file of the same size: ecosort resume --abandon {}", file);
  throw Refusal(fmt::format("the runs of the job of '{}' cannot be merged: {}; continue with: ecosort resume {}{}", file, why,
                            file, header.is_in_place() ? back : ""));
}

[[noreturn]] void refuse(const std::string& file, const JobHeader& header, const char* why) {
  refuse_as<JobRefused>(file, header, why);
}

void check_under_way(const std::string& file, const JobStatus& status) {
  using Kind = JobStatus::Kind;
  const auto say = [&](const char* why) {
    throw JobRefused(
        fmt::format("the runs of the job of '{}' cannot be merged: {}; continue with: ecosort resume {}", file, why, file));
  };
  if (!status.contents || status.kind == Kind::not_begun) say("it has not begun");
  if (status.is_abandoned()) say("it is being abandoned");
  if (status.kind == Kind::complete) say("it is complete");
}

constexpr const char* gave_up_parts = "it has given up parts of them already";

// Finds what is in no run of the job yet.
class Rest {
 public:
  Rest(const JobPaths& paths, const JournalContents& contents, io::NamedStorage& storage)
      : paths_(paths), contents_(contents), header_(contents.header), storage_(storage) {}

  [[nodiscard]] bool is_none() const {
    if (!header_.lines) return contents_.runs.size() == header_.layout.runs();
    return contents_.state || (!contents_.runs.empty() && contents_.runs.back().lines->merged > 0);
  }

  // JobRefused where there is a rest, and no one takes it, or nothing before it.
  void check(bool takes_rest) const {
    if (is_none()) return;
    if (std::ranges::none_of(contents_.runs, [](const RunDone& run) { return !run.lines || !run.lines->is_header; }))
      refuse(paths_.file, header_, "none is complete yet");
    if (takes_rest) return;
    refuse_as<NotAllInRuns>(paths_.file, header_, "not all of its input is in runs yet");
  }

  [[nodiscard]] job::RestOfJob open() const {
    job::RestOfJob rest{.job = header_.job, .records = {}, .rows = {}};
    if (header_.lines)
      rest.rows = open_rows();
    else
      rest.records = open_records();
    return rest;
  }

 private:
  // The runs are made from the end of the input on.
  [[nodiscard]] std::vector<engine::fixed::Input> open_records() const {
    std::vector<engine::fixed::Input> inputs;
    std::uint64_t left = header_.layout.records_left(contents_.runs.size());
    const auto open = [&](const std::string& path) {
      engine::fixed::Input input;
      input.file = storage_.open_input(path, io::Caching::buffered);
      input.opened = storage_.state(*input.file);
      input.records = std::min(left, input.opened.size_bytes / header_.layout.record_size);
      left -= input.records;
      inputs.push_back(std::move(input));
    };
    if (header_.is_in_place()) open(paths_.input);
    for (const InputIdentity& then : header_.inputs) {
      if (left == 0) break;
      open(then.path);
      check_same_input(inputs.back().opened, then, paths_);
    }
    if (left > 0) throw IoError(fmt::format("the rest of the input of '{}' is shorter than its journal says", paths_.file));
    return inputs;
  }

  [[nodiscard]] engine::rows::RowsRest open_rows() const {
    engine::rows::RowsRest rest{.inputs = {}, .from = next_place(contents_.runs)};
    for (const InputIdentity& then : header_.inputs) {
      engine::rows::LineInput& input = rest.inputs.emplace_back();
      input.name = header_.is_in_place() ? paths_.input : then.path;
      input.open(storage_);
      if (!header_.is_in_place()) check_same_input(input.opened, then, paths_);
    }
    return rest;
  }

  const JobPaths& paths_;
  const JournalContents& contents_;
  const JobHeader& header_;
  io::NamedStorage& storage_;
};

std::vector<std::uint64_t> row_runs(const std::string& file, const JournalContents& contents) {
  if (contents.header.is_in_place() && contents.state && contents.state->records > 0)
    refuse(file, contents.header, gave_up_parts);
  std::vector<std::uint64_t> runs = live_runs(contents.runs);
  if (header_run(contents.runs) != nullptr) runs.insert(runs.begin(), 0);
  return runs;
}

// Its run 0 is the tail of the input.
std::vector<std::uint64_t> record_runs(const std::string& file, const JournalContents& contents) {
  const Layout& layout = contents.header.layout;
  if (layout.head_bytes == 0)
    refuse(file, contents.header, "they do not say what they hold, for which there was no room when it began");
  if (contents.state && contents.state->records > 0 && !layout.keeps_runs) refuse(file, contents.header, gave_up_parts);
  std::vector<std::uint64_t> runs;
  for (std::uint64_t run = contents.runs.size(); run-- > 0;) runs.push_back(run);
  return runs;
}

}  // namespace

JobRuns runs_of_job(const std::string& file, bool takes_rest, io::NamedStorage& storage, io::Queue& queue) {
  const JobPaths paths(file);
  JobRuns runs;
  runs.directory = lock_directory(storage, paths);
  if (!runs.directory) throw UsageError(fmt::format("no interrupted job of '{}': there is no '{}'", file, paths.directory));
  const JobStatus status = look_at_job(file, storage, queue);
  check_under_way(file, status);
  const JournalContents& contents = *status.contents;
  const Rest rest(paths, contents, storage);
  const std::vector<std::uint64_t> numbers = contents.header.lines ? row_runs(file, contents) : record_runs(file, contents);
  rest.check(takes_rest);
  for (const std::uint64_t run : numbers) runs.paths.push_back(paths.run(run));
  if (!rest.is_none()) runs.rest = rest.open();
  return runs;
}

}  // namespace ecosort::demsort_inplace::prepare
