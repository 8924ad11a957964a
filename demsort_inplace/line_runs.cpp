#include "demsort_inplace/line_runs.h"

#include <algorithm>

#include "base/errors.h"

namespace ecosort::inplace {

std::vector<std::uint64_t> live_runs(const std::vector<RunDone>& done) {
  std::vector<std::uint64_t> live;
  for (const RunDone& run : done) {
    if (run.lines->is_header) continue;
    if (run.lines->merged == 0) {
      live.push_back(run.run);
      continue;
    }
    const auto first = std::ranges::find(live, run.lines->first);
    if (static_cast<std::uint64_t>(live.end() - first) < run.lines->merged)
      throw IoError("the journal of the job speaks of runs that there are not");
    *first = run.run;
    live.erase(first + 1, first + static_cast<std::ptrdiff_t>(run.lines->merged));
  }
  return live;
}

const RunDone* header_run(const std::vector<RunDone>& done) noexcept {
  return !done.empty() && done.front().lines->is_header ? &done.front() : nullptr;
}

lines::ReadPlace next_place(const std::vector<RunDone>& done, const lines::ReadPlace& begin) noexcept {
  return done.empty() || done.back().lines->is_header ? begin : done.back().lines->next;
}

}  // namespace ecosort::inplace
