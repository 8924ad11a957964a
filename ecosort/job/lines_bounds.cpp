#include "job/lines_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/memory.h"
#include "engine/rows/merge_lines.h"
#include "formats/lines/line_run.h"
#include "formats/shuffle/shuffle_format.h"
#include "planner/files_plan.h"

namespace ecosort::job {
namespace {

// Runs that can be merged at a time.
std::uint64_t fan_in(const planner::LinePlan& plan, bool is_compressed, std::size_t longest) {
  std::vector<engine::rows::MergeInput> runs(std::min<std::uint64_t>(plan.batch_size, plan.merge_bytes() / plan.block_bytes + 2));
  for (engine::rows::MergeInput& run : runs) {
    run.run.longest = longest;
    run.run.is_compressed = is_compressed;
  }
  return std::max<std::uint64_t>(engine::rows::fit_merge(plan, runs, 0).inputs, 2);
}

unsigned merges_in_a_row(std::uint64_t runs, std::uint64_t fan_in) {
  unsigned passes = 1;
  for (; runs > fan_in; runs = div_up(runs, fan_in)) ++passes;
  return passes;
}

// By the first pages of the inputs; 0: they cannot be read twice.
double usual_row_bytes(const std::vector<engine::rows::LineInput>& inputs) {
  double bytes = 0, rows = 0;
  for (const engine::rows::LineInput& input : inputs) {
    if (input.first_bytes == 0) continue;
    const auto size = static_cast<double>(input.file->facts().bytes_to_read());
    bytes += size;
    rows += size * static_cast<double>(input.first_rows) / static_cast<double>(input.first_bytes);
  }
  return rows > 0 ? bytes / rows : 0;
}

}  // namespace

RowLengths row_lengths_of(const engine::rows::LinesJob& job) {
  RowLengths bytes;
  if (const double usual = usual_row_bytes(job.inputs); usual > 0) bytes.usual = usual;
  const shuffle::ShuffleFormat* const shuffle = shuffle::as_shuffle(*job.format);
  if (shuffle == nullptr) return bytes;
  bytes.head = sizeof(shuffle::RowHead);
  if (const std::uint64_t size = shuffle->row_bytes(); size > 0) {
    bytes.least = size;
    bytes.usual = static_cast<double>(size);
    bytes.longest = size + bytes.head;
  }
  return bytes;
}

LinesBounds lines_bounds(const engine::rows::LinesJob& job, std::uint64_t input_bytes) {
  const planner::LinePlan& plan = job.plan;
  LinesBounds bounds;
  bounds.memory_bytes = plan.memory_bytes + job.besides_bytes() + job.codecs.bytes();
  bounds.longest_line_bytes = plan.run_buffer_bytes - plan.block_bytes;
  // An empty line is one byte and its place in the index.
  const RowLengths row = row_lengths_of(job);
  const std::uint64_t most_rows = input_bytes / row.least, usual_rows = row.rows_in(input_bytes);
  const std::uint64_t room = plan.run_buffer_bytes - 2 * plan.block_bytes,
                      most_bytes = input_bytes + most_rows * lines::index_bytes_per_line;
  if (job.merge || most_bytes <= room) return bounds;
  const std::uint64_t most_full = div_up(most_bytes, room) + 1,
                      usual_full = div_up(input_bytes + usual_rows * lines::index_bytes_per_line, room);
  bounds.usual_row_bytes = static_cast<std::uint64_t>(std::llround(row.usual));
  bounds.usual_head_bytes = usual_rows * row.head;
  bounds.fewest_runs = input_bytes <= plan.run_buffer_bytes ? 0 : div_up(input_bytes, plan.run_buffer_bytes);
  bounds.most_runs = plan.spread_bytes > 0 ? std::bit_ceil(most_full) : most_full;
  bounds.usual_runs = plan.spread_bytes > 0 ? planner::spread_runs(plan, usual_full, page_bytes) : usual_full;
  bounds.runs_at_a_time = fan_in(plan, !job.compress_program.empty(), row.longest);
  bounds.fewest_merges = merges_in_a_row(bounds.fewest_runs, bounds.runs_at_a_time);
  bounds.most_merges = merges_in_a_row(bounds.most_runs, bounds.runs_at_a_time);
  const std::uint64_t stored =
      div_up(input_bytes + most_rows * row.head, plan.block_bytes - run::trailer_bytes) * plan.block_bytes;
  const std::uint64_t most_temp = (bounds.most_merges > 1 ? 2 * stored : stored) + bounds.most_runs * plan.block_bytes;
  // A merge before the last one takes space for what it writes before its runs give theirs back.
  const std::vector<std::uint64_t> runs(bounds.usual_runs, input_bytes / std::max<std::uint64_t>(bounds.usual_runs, 1));
  const std::uint64_t largest = planner::passes_of(runs, {bounds.runs_at_a_time}).largest_bytes;
  const std::uint64_t full_blocks =
      div_up(input_bytes + bounds.usual_head_bytes + largest, plan.block_bytes - run::trailer_bytes);
  if (largest > 0) bounds.usual_temp_bytes = (full_blocks + bounds.usual_runs) * plan.block_bytes;
  bounds.most_temp_bytes = job.codecs.runs.reserves_nothing ? most_temp : job.codecs.runs.space_of(most_temp);
  return bounds;
}

}  // namespace ecosort::job
