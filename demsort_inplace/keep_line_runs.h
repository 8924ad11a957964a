// The first phase of a job of lines: runs become durable, one after the other, while later ones are written already.
//
//   run i written -> durable, its name too -> both sums equal -> runs 0 ... i-1 in the journal -> journal says so, durable
//
// In place, run i is written when all before it are in the journal, and the input gives up what is in them (given_space.h).
// With what is said of a run goes the place in the inputs from which reading continues. What stays on top, a byte order mark and
// the lines of a header, is a run of its own ahead of all others.
#pragma once

#include "demsort_inplace/given_space.h"
#include "demsort_inplace/lines_bench.h"
#include "engine/rows/form_line_runs.h"

namespace ecosort::demsort_inplace {

// Coordinator only. Bench and header outlive it.
class KeepLineRuns : public engine::rows::LineRunKeeper {
 public:
  // `header`: what the reader keeps of it.
  KeepLineRuns(LinesBench& bench, const engine::rows::FirstRows& header);

  [[nodiscard]] Task<run::RowRun> create(std::size_t number, std::uint64_t bytes) override;
  [[nodiscard]] Task<void> after_store(std::size_t number, const run::RowRun& run, const engine::rows::ReadSoFar& read,
                                       const hash::MultisetHash& written, const hash::MultisetHash& dropped) override;

  // Before the first run.
  [[nodiscard]] Task<void> begin();
  // After the last run, when `read` is all there is: where no line follows the header, it is still to be kept.
  [[nodiscard]] Task<void> end(const engine::rows::ReadLines& read);

 private:
  Task<void> keep_header();
  Task<void> append_run(RunDone run);
  void check_inputs() const;
  void check_longest(const run::RowRun& run) const;
  [[nodiscard]] std::uint64_t number_in_job(std::size_t number) const;
  [[nodiscard]] bool has_header() const;

  LinesBench& bench_;
  const engine::rows::FirstRows& header_;
  const bool takes_header_;          // this reader does
  const std::uint64_t runs_before_;  // in the job
  const formats::RepeatedHeader repeated_before_;
  std::size_t kept_ = 0;                 // runs of this formation
  engine::rows::ReadSoFar before_ = {};  // when the last of them was full
  std::optional<GivenInput> given_;      // in place
  Signal changed_;
};

// Forms the runs that the journal does not know yet.
[[nodiscard]] Task<void> form_line_runs(LinesBench& bench);

}  // namespace ecosort::demsort_inplace
