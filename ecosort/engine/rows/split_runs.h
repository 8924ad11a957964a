// Finds where stored runs are cut, so that their parts can be merged at the same time: splitter lines near the quantiles of all
// lines, and in each run the first line that does not come before a splitter.
//
// The merge of records splits each batch at exact ranks by multisequence selection (Varman et al. 1991;
// engine/fixed/merge_batch.h), on data that is in memory. Here the runs are on the drive and lines have no position that a number
// would give, so the ranks are near and the cuts exact: from every run lines are taken at even distances, a quantile of them,
// each weighted with the bytes of its run, is the splitter, and its place in each run is found by galloping from where it should
// be (Bentley, Yao 1976). Lines that are equal are told apart as by the merge, by run and place: any lines can be cut evenly,
// equal ones, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/rows/merge_cursors.h"

namespace ecosort::engine::rows {

// Coordinator only; outlives its task. IoError for a damaged block.
class SplitRuns {
 public:
  // At least 2 parts of runs for which can_split() says yes. The runs outlive this.
  SplitRuns(const RowTools& tools, std::vector<MergeInput>& runs, unsigned parts);

  // Returns whether the runs can be read from anywhere, so that a row's begin is found there, and no line takes more than half of
  // a block's bytes.
  [[nodiscard]] static bool can_split(const planner::LinePlan& plan, const std::vector<MergeInput>& runs) noexcept;
  // Memory that split() takes, and what it keeps of that afterwards for the splitters.
  [[nodiscard]] static std::uint64_t search_bytes(const planner::LinePlan& plan, const std::vector<MergeInput>& runs,
                                                  unsigned parts);
  [[nodiscard]] static std::uint64_t kept_bytes(const std::vector<MergeInput>& runs, unsigned parts);

  // Reads some blocks of every run, of all runs at a time.
  [[nodiscard]] Task<void> split();

  // After split(). Part `part` of each run, and all of it.
  [[nodiscard]] const std::vector<ByteRange>& ranges(unsigned part) const { return ranges_[part]; }
  [[nodiscard]] std::uint64_t bytes(unsigned part) const;
  // Not before the lines of part `part`, and not after those of the next.
  [[nodiscard]] Text splitter(unsigned part) const { return splitters_[part].line; }

 private:
  // A line of a run that begins at byte `at` of it.
  struct Place {
    std::size_t run = 0;
    std::uint64_t at = 0;
    Text line;
  };
  // A look into a run.
  struct Probe {
    run::RowRun* run = nullptr;
    std::size_t index = 0;
    std::uint64_t blocks = 0;
    std::uint64_t payload = 0;      // bytes of lines in a block
    std::byte* data = nullptr;      // of a block; room for a line lies before
    std::uint64_t number = 0;       // of the block that is there
    Text text;                      // its lines
    std::size_t first_line = 0;     // where the first one begins that begins in it; behind them all: none does
    char* samples_at = nullptr;     // room for them
    std::vector<Place> samples;     // ascending
    std::vector<std::uint64_t> at;  // where it is cut
  };

  void allocate();
  Task<void> read(Probe& probe, std::uint64_t block);
  [[nodiscard]] std::uint64_t position(const Probe& probe, std::size_t offset) const noexcept;
  [[nodiscard]] std::size_t row_end(Text text, std::size_t begin) const;
  [[nodiscard]] Text line_at(const Probe& probe, Text text, std::size_t begin) const;
  void check(const Probe& probe, Text line) const;
  [[nodiscard]] std::size_t search(const Probe& probe, const Place& splitter, bool& is_complete) const;
  [[nodiscard]] std::size_t walk(const Probe& probe, const Place& splitter, bool& is_complete) const;
  [[nodiscard]] bool is_before(Text line, std::size_t run, const Place& splitter) const;
  [[nodiscard]] bool comes_before(const Place& a, const Place& b) const;
  Task<void> take_samples(Probe& probe);
  void choose_splitters();
  Task<void> cut(Probe& probe);
  Task<std::uint64_t> find(Probe& probe, unsigned part);
  Task<std::uint64_t> find_from(Probe& probe, const Place& splitter, std::uint64_t block);
  void set_ranges();

  const RowTools tools_;
  std::vector<MergeInput>& runs_;
  unsigned parts_;
  unsigned samples_;  // of each run
  std::vector<Probe> probes_;
  Buffer blocks_, sample_lines_, kept_;
  std::vector<Place> splitters_;
  std::vector<std::vector<ByteRange>> ranges_;
};

}  // namespace ecosort::engine::rows
