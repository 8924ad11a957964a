// Reads what is left of the runs of a job of lines, as one sequence of bytes: run after run, each from the first line on that is
// needed.
//
// Blocks are checked when they are read. With `--trust-drive` they are taken as they are.
#pragma once

#include <cstdint>
#include <vector>

#include "demsort_inplace/job_bench.h"
#include "run/row_runs.h"

namespace ecosort::demsort_inplace {

// Coordinator only. The bench outlives it.
class RunBytes {
 public:
  // Leaves out `taken` bytes of each run, which are not needed any more. Reads up to `chunk_bytes` at a time, which hold a block
  // at least.
  RunBytes(JobBench& bench, std::vector<std::uint64_t> taken, std::size_t chunk_bytes);

  // The next run, which has this number in the job. All of them before the first byte is taken.
  [[nodiscard]] Task<void> add(std::uint64_t number, io::FilePtr file);

  // The next `size` bytes, which there are. IoError, DamagedRun.
  [[nodiscard]] Task<void> take(std::byte* to, std::size_t size);

  [[nodiscard]] const std::vector<std::uint64_t>& taken() const noexcept { return taken_; }
  [[nodiscard]] const run::RunStore& store() const noexcept { return store_; }
  [[nodiscard]] std::uint64_t bytes(std::size_t i) const { return runs_[i].bytes; }
  [[nodiscard]] io::File& file(std::size_t i) const { return store_.run(runs_[i].stored).file(); }

 private:
  Task<void> read();

  JobBench& bench_;
  run::RowRuns store_;
  std::vector<run::RowRun> runs_;
  std::vector<std::uint64_t> taken_;
  std::size_t present_ = 0;  // of the runs
  Buffer memory_;
  std::uint64_t first_block_ = 0, end_block_ = 0;  // of that run, which are in memory
};

}  // namespace ecosort::demsort_inplace
