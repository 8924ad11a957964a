// A job of lines in place: the input gives its space to the runs, and these give it to the output, each only what the journal
// says that no one needs.
//
//   run i in the journal   -> hole in the input, up to the first line that is in no run
//   run i + 1 begins       -> its space, of what the input gave and of the spare file
//   checkpoint             -> holes in the runs, up to the first line that the output does not have for good -> space for more
//   output
//
// A hole need not be durable: a resumption makes it again. Nothing changes its length.
#pragma once

#include <cstdint>
#include <vector>

#include "demsort_inplace/lines_bench.h"
#include "engine/rows/merge_tree.h"

namespace ecosort::demsort_inplace {

// Bytes from `begin` to `end` of a file, whole units, give their space back. IoError where the file system makes no holes.
[[nodiscard]] Task<void> make_hole(JobBench& bench, const io::File& file, std::uint64_t begin, std::uint64_t end);

// The first phase. Coordinator only. Bench, its only input and its spare file outlive it.
class GivenInput {
 public:
  explicit GivenInput(LinesBench& bench);

  // Gives what the journal says that is in runs already.
  [[nodiscard]] Task<void> begin() { return give(); }
  // The next run has so many bytes of lines, and is about to get its space.
  void make_room(std::uint64_t bytes);
  // IoError where someone has written to the input.
  void check_unchanged() const;
  // The journal has one more run.
  [[nodiscard]] Task<void> give();

 private:
  [[nodiscard]] std::uint64_t in_runs() const;

  LinesBench& bench_;
  io::File& input_;
  io::File& spare_;
  io::FileState state_;      // of the input, after the last hole
  std::uint64_t given_ = 0;  // bytes, from its beginning
};

// The second phase. Coordinator only. Bench and inputs outlive it.
class GivenRuns {
 public:
  // `inputs`: of the merge, open.
  GivenRuns(LinesBench& bench, const std::vector<engine::rows::MergeInput>& inputs);

  // So much of each is in the output for good (empty: nothing is): gives it up, and reserves what the output may take then.
  [[nodiscard]] Task<void> give(const std::vector<std::uint64_t>& consumed);

 private:
  LinesBench& bench_;
  const std::vector<engine::rows::MergeInput>& inputs_;
  std::vector<std::uint64_t> given_;  // blocks of each
};

}  // namespace ecosort::demsort_inplace
