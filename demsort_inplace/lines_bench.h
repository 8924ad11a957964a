// A job of lines in this process: what it works with besides what every job has (job_bench.h).
//
//   keep_line_runs.h    lines of the inputs become durable runs
//   merge_line_runs.h   runs become fewer runs, and then the output, checkpoint by checkpoint
//   rows_job.h          start, resume, abandon
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demsort_inplace/describe_run.h"
#include "demsort_inplace/job_bench.h"
#include "demsort_inplace/line_runs.h"
#include "engine/rows/lines_sort.h"
#include "engine/rows/merge_tree.h"
#include "engine/rows/row_tools.h"
#include "run/run_packer.h"

namespace ecosort::demsort_inplace {

// Coordinator only.
struct LinesBench : JobBench {
  LinesBench(const std::string& path, const JobHeader& job_header, engine::rows::LinesJob what, const JobContext& environment);

  // Returns what the journal says (line_runs.h).
  [[nodiscard]] std::vector<std::uint64_t> live_runs() const { return demsort_inplace::live_runs(done); }
  [[nodiscard]] const RunDone* header_run() const noexcept { return demsort_inplace::header_run(done); }
  [[nodiscard]] engine::rows::ReadPlace next_place() const noexcept { return demsort_inplace::next_place(done); }
  [[nodiscard]] bool is_formed() const;  // every line is in a run
  [[nodiscard]] bool has_run() const;    // of lines of the inputs
  [[nodiscard]] std::uint64_t input_bytes() const;
  [[nodiscard]] std::uint64_t run_bytes() const;   // of the lines in all runs there are, and of the header
  [[nodiscard]] std::size_t longest_line() const;  // bytes, with its end, of the runs
  [[nodiscard]] std::uint64_t unit() const noexcept { return header.layout.unit; }

  // The stages of a sort of lines work with these. The plan outlives them.
  [[nodiscard]] engine::rows::RowTools tools(const planner::LinePlan& plan) { return {{*this, plan, format}, run_files, pool}; }
  // Shows the format the rows that are in runs already, from which it learned.
  void learn_of_rows();

  // A run that the journal knows, to be opened when it is read.
  [[nodiscard]] engine::rows::MergeInput input_of(std::uint64_t run) const;
  [[nodiscard]] Task<void> open(engine::rows::MergeInput& input, std::uint64_t run);
  [[nodiscard]] std::uint64_t file_bytes_of(std::uint64_t run) const;  // by the journal
  void close(const std::vector<engine::rows::MergeInput>& inputs);
  // A file for one that it does not know yet, durable by its name only when the directory is synced. It takes the place of
  // `sources`, which are open.
  [[nodiscard]] run::RowRun create_run(std::uint64_t run, std::uint64_t bytes, const std::vector<std::uint64_t>& sources = {});
  [[nodiscard]] run::RowRun create_plain_run(std::uint64_t run, std::uint64_t bytes);  // that is never packed
  // A run that is complete, with its description; its name is not yet. `has_header`: one run of the job is that.
  [[nodiscard]] Task<void> make_durable(std::size_t stored, run::Description description);
  [[nodiscard]] RowJob row_job(bool has_header) const { return {header, format, job.groups.is_on, has_header}; }

  engine::rows::LinesJob job;
  formats::RowFormat& format;  // of the job
  MemoryBudget codec_memory;
  std::optional<run::RunPacker> packer;  // where runs may be packed
  run::RowRuns run_files;
  BlockPool pool;
  engine::rows::LinesReport report;
  std::uint64_t peak_run_bytes = 0;  // that files of runs took in this process, with what they were promised and did not need
  std::uint64_t uncounted_blank_lines = 0;  // behind the last run; the next record of the journal counts them

 private:
  [[nodiscard]] run::RunPacker* make_packer();
  [[nodiscard]] io::FilePtr create_file(std::uint64_t run);
  void note_run_bytes(const std::vector<std::uint64_t>& open_runs);
};

// Returns what remains of the memory for a merge, where the line that went out last before an interruption and a unit of the
// output are kept beside it.
[[nodiscard]] planner::LinePlan plan_beside_last_line(const LinesBench& bench);

}  // namespace ecosort::demsort_inplace
