#include "demsort_inplace/lines_progress.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/uint128.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/merge_line_runs.h"
#include "engine/rows/merge_groups.h"

namespace ecosort::demsort_inplace {

namespace {

// By the runs in the journal.
struct RunsSoFar {
  std::uint64_t read = 0;                // bytes of the inputs that are in runs
  std::uint64_t formed = 0, merged = 0;  // bytes of runs that the inputs made, and that merges before the last one made
  std::uint64_t runs = 0, longest = 0;   // of those that the inputs made
};

RunsSoFar count_runs(const LinesBench& bench) {
  RunsSoFar so_far{.read = std::min(bench.input_bytes(), bytes_before(bench.header.inputs, bench.next_place()))};
  if (bench.is_formed()) so_far.read = bench.input_bytes();
  for (const RunDone& run : bench.done) {
    if (run.lines->is_header) continue;
    (run.lines->merged > 0 ? so_far.merged : so_far.formed) += run.lines->bytes;
    so_far.runs += run.lines->merged == 0 ? 1 : 0;
    so_far.longest = std::max(so_far.longest, run.lines->longest);
  }
  return so_far;
}

// Estimates runs that are not formed yet: as many bytes for each that is read as those before have.
std::uint64_t bytes_to_form(const LinesBench& bench, const RunsSoFar& so_far) {
  const std::uint64_t left = bench.input_bytes() - so_far.read;
  return so_far.read == 0 ? left : static_cast<std::uint64_t>(uint128{left} * so_far.formed / so_far.read);
}

// Returns those that are there, and those to be expected: of the size of the others, else of as much as half a buffer of short
// lines.
std::vector<engine::rows::MergeInput> runs_to_merge(const LinesBench& bench, const RunsSoFar& so_far) {
  const std::uint64_t to_form = bytes_to_form(bench, so_far);
  const std::uint64_t each =
      std::max<std::uint64_t>(so_far.runs > 0 ? so_far.formed / so_far.runs : bench.job.plan.run_buffer_bytes / 2, 1);
  const std::vector<std::uint64_t> live = bench.live_runs();
  std::vector<engine::rows::MergeInput> inputs(live.size() + div_up(to_form, each));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const LineRunDone* const run = i < live.size() ? &*bench.done[live[i]].lines : nullptr;
    inputs[i].run.bytes = run != nullptr ? run->bytes : std::min(each, to_form - (i - live.size()) * each);
    inputs[i].run.longest = run != nullptr ? run->longest : so_far.longest;
  }
  return inputs;
}

struct Amounts {
  std::uint64_t all = 0, done = 0;
  bool merges_before = false;  // some runs are merged before the last merge
};

Amounts amounts_of(const LinesBench& bench) {
  const RunsSoFar so_far = count_runs(bench);
  const bool is_one_merge_left = bench.state || bench.header.is_in_place();
  const std::uint64_t to_form = bytes_to_form(bench, so_far);
  const std::uint64_t again =
      is_one_merge_left ? 0 : engine::rows::intermediate_bytes(plan_of_groups(bench), runs_to_merge(bench, so_far));
  const std::uint64_t output = bench.run_bytes() + to_form, written = bench.state ? bench.state->lines->bytes : 0;
  const std::uint64_t reread = bench.header.reread ? output : 0;
  const std::uint64_t done = so_far.read + so_far.formed + 2 * so_far.merged;
  return {.all = done + formation_bytes_left(bench) + 2 * again + 2 * std::max(output, written) + reread,
          .done = done + 2 * written + (bench.is_complete ? reread : 0),
          .merges_before = so_far.merged > 0 || again > 0};
}

struct Phases {
  unsigned before_last_merge = 1, all = 2;  // without the recheck
};

Phases plan(LinesBench& bench, std::uint64_t recheck) {
  const Amounts amounts = amounts_of(bench);
  const unsigned before = amounts.merges_before ? 2 : 1;
  const Phases phases{before, before + 1 + (bench.header.reread ? 1 : 0)};
  bench.progress.plan_job(phases.all + (recheck > 0 ? 1 : 0), std::max<std::uint64_t>(amounts.all + recheck, 1), amounts.done);
  return phases;
}

}  // namespace

std::uint64_t formation_bytes_left(const LinesBench& bench) {
  const RunsSoFar so_far = count_runs(bench);
  return bench.input_bytes() - so_far.read + bytes_to_form(bench, so_far);
}

void plan_progress(LinesBench& bench) { (void)plan(bench, 0); }

void plan_job_progress(LinesBench& bench, std::uint64_t recheck) {
  const auto [before_last_merge, all] = plan(bench, recheck);
  bench.progress.skip_phases(bench.is_complete ? all : bench.state ? before_last_merge : bench.is_formed() ? 1 : 0);
}

void refine_progress(LinesBench& bench) {
  if (std::has_single_bit(bench.done.size())) bench.progress.change_job_bytes(amounts_of(bench).all);
}

}  // namespace ecosort::demsort_inplace
