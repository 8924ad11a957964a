// The last merge: in as many parts at the same time as there are threads for, where that pays.
//
//   run 0  | part 0 ......... | part 1 ......... |        parts of all runs are cut at the same splitter lines (split_runs);
//   run 1  | part 0 ...... | part 1 ............ |        each is merged by a thread of its own (merge_lines) and written to its
//   output | part 0 ......... | part 1 ......... |        own place in the output (output_parts), which follows from their bytes
//
// The hashes of the parts are added up. A part's first line is compared with the splitter before it, and its last line with the
// one behind it, so that the order holds across their border, too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/rows/merge_lines.h"
#include "engine/rows/output_parts.h"
#include "engine/rows/split_runs.h"

namespace ecosort::engine::rows {

// Most parts that pay: 1 for a stream, whose bytes must come one after the other; where groups are, or rows are skipped, because
// the bytes that part 0 drops would leave a gap; with a limit, which one merge reaches without the others; for files of the
// user's, which may not be in order; for compressed runs; for few bytes, long lines, little memory.
[[nodiscard]] unsigned parts_that_pay(const planner::LinePlan& plan, unsigned threads, const MergeTerms& terms,
                                      const std::vector<MergeInput>& inputs, const io::File& output);

// Coordinator only; must outlive its task, and the inputs must outlive it.
class MergeParts {
 public:
  MergeParts(const RowTools& tools, const MergeTerms& terms, std::vector<MergeInput>& inputs, const io::File& output);

  // `sink` is that of the whole output, and nothing is in it yet. `header` goes first.
  [[nodiscard]] Task<void> merge_to(OutputSink& sink, const std::string& header);
  // Merges in one part, into any sink.
  [[nodiscard]] Task<void> merge_whole(LineSink& sink, const std::string& header);

  // After merge_to().
  [[nodiscard]] const MergedLines& merged() const noexcept { return merged_; }
  [[nodiscard]] unsigned parts() const noexcept { return parts_; }

 private:
  struct Part;
  class ShuffleCuts;
  // A part of every run, and its bytes in the output. Its rows come before the splitter, those of the next part behind it.
  struct PartOfRuns {
    std::vector<ByteRange> ranges{};
    std::uint64_t bytes = 0;
    Text splitter{};
  };

  [[nodiscard]] std::vector<PartOfRuns> parts_of(const SplitRuns& split) const;
  Task<void> merge_split(const std::vector<PartOfRuns>& split, OutputSink& sink, const std::string& header);
  [[nodiscard]] std::unique_ptr<Part> make_part(const std::vector<PartOfRuns>& split, unsigned number, BorderPages& pages,
                                                const ByteRange& bytes, std::uint64_t total);
  void add(const MergedLines& merged) noexcept;

  const RowTools tools_;
  MergeTerms terms_;
  std::vector<MergeInput>& inputs_;
  const io::File& output_;
  unsigned parts_ = 1;
  MergedLines merged_;
};

}  // namespace ecosort::engine::rows
