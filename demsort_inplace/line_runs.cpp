#include "demsort_inplace/line_runs.h"

#include <algorithm>

#include "base/errors.h"
#include "base/memory.h"
#include "run/block_places.h"
#include "run/row_runs.h"

namespace ecosort::demsort_inplace {

namespace {

// A run comes; those that it takes the place of go, and are returned.
std::vector<std::uint64_t> put_in_place(const RunDone& run, std::vector<std::uint64_t>& live) {
  if (run.lines->merged == 0) {
    live.push_back(run.run);
    return {};
  }
  const auto first = std::ranges::find(live, run.lines->first);
  if (static_cast<std::uint64_t>(live.end() - first) < run.lines->merged)
    throw IoError("the journal of the job speaks of runs that there are not");
  const auto end = first + static_cast<std::ptrdiff_t>(run.lines->merged);
  std::vector<std::uint64_t> gone(first, end);
  *first = run.run;
  live.erase(first + 1, end);
  return gone;
}

}  // namespace

std::vector<std::uint64_t> live_runs(const std::vector<RunDone>& done) {
  std::vector<std::uint64_t> live;
  for (const RunDone& run : done)
    if (!run.lines->is_header) (void)put_in_place(run, live);
  return live;
}

const RunDone* header_run(const std::vector<RunDone>& done) noexcept {
  return !done.empty() && done.front().lines->is_header ? &done.front() : nullptr;
}

// Each run that was formed has those of the runs before it, too.
formats::RepeatedHeader repeated_header(const std::vector<RunDone>& done) {
  formats::RepeatedHeader repeated;
  for (const RunDone& run : done)
    if (run.lines->merged == 0) repeated = run.lines->repeated_header;
  return repeated;
}

RunPlace place_of_merged(const RunDone& run, const std::vector<RunDone>& before) {
  const bool has_header = header_run(before) != nullptr;
  std::vector<RunPlace> places;
  std::vector<std::uint64_t> live;
  const auto place = [&](const RunDone& one) {
    RunPlace all = place_of_formed(one.run, has_header);
    const std::vector<std::uint64_t> sources = put_in_place(one, live);
    if (!sources.empty()) all = {places[sources.front()].position, 0};
    for (const std::uint64_t source : sources) all.span += places[source].span;
    return all;
  };
  for (const RunDone& done : before) places.push_back(done.lines->is_header ? RunPlace{} : place(done));
  return place(run);
}

engine::rows::ReadPlace next_place(const std::vector<RunDone>& done) noexcept {
  return done.empty() || done.back().lines->is_header ? engine::rows::ReadPlace{} : done.back().lines->next;
}

std::uint64_t blocks_of(const RunDone& run, std::uint64_t block_bytes) noexcept {
  return div_up(run.lines->bytes, block_bytes - run::trailer_bytes);
}

std::uint64_t run_file_bytes(const RunDone& run, std::uint64_t block_bytes, std::uint64_t head_bytes) noexcept {
  const std::uint64_t blocks = blocks_of(run, block_bytes);
  return head_bytes + (run.packed_bytes == 0 ? blocks * block_bytes : run.packed_bytes + run::places_bytes(blocks));
}

std::uint64_t most_run_bytes(const std::vector<RunDone>& done, std::uint64_t block_bytes, std::uint64_t head_bytes) {
  const auto space = [&](const RunDone& run) { return run_file_bytes(run, block_bytes, head_bytes); };
  std::uint64_t most = 0, present = 0;
  std::vector<std::uint64_t> live;
  for (const RunDone& run : done) {
    present += space(run);
    most = std::max(most, present);  // its sources go when a merged run is there
    if (run.lines->is_header) continue;
    for (const std::uint64_t source : put_in_place(run, live)) present -= space(done[source]);
  }
  return most;
}

}  // namespace ecosort::demsort_inplace
