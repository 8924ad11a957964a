#include "job/lines_bounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/size_text.h"
#include "cli/compression_options.h"
#include "cli/rows_command.h"
#include "formats/lines/quoted.h"

namespace ecosort::cli {
namespace {

std::string row(const char* name, const std::string& value) { return fmt::format("  {:<22}{}\n", name, value); }
std::string runs_text(const planner::PackingPlan& packing) {
  return packing.coders == 0 ? "" : row("compressed runs", packing_text(packing));
}

std::string need_text(const job::SpaceNeed& need, const char* what) {
  return row("free space needed", fmt::format("{} of {} in {}, where {} are free", exact_bytes(need.bytes), what, need.where(),
                                              format_bytes(need.free_bytes)));
}

// Where runs and output share a drive, the output takes the space of the runs.
std::string space_text(const std::vector<job::SpaceNeed>& space) {
  if (space.size() == 2 && job::drive_of(space[0].directories.front()) == job::drive_of(space[1].directories.front()))
    return need_text(*std::ranges::max_element(space, {}, &job::SpaceNeed::bytes), "space for the runs and the output");
  std::string text;
  for (const job::SpaceNeed& need : space) text += need_text(need, need.what());
  return text;
}

}  // namespace

std::string lines_bounds_text(const engine::rows::LinesJob& job, std::uint64_t input_bytes,
                              const std::vector<job::SpaceNeed>& space) {
  const planner::LinePlan& plan = job.plan;
  const job::LinesBounds bounds = job::lines_bounds(job, input_bytes);
  std::string text = row("memory", exact_bytes(bounds.memory_bytes)) +
                     row("run buffers", fmt::format("{} of {}", plan.run_buffers, exact_bytes(plan.run_buffer_bytes))) +
                     row("blocks", exact_bytes(plan.block_bytes)) +
                     row("longest line", "at most " + exact_bytes(bounds.longest_line_bytes)) + runs_text(job.codecs.runs);
  if (input_bytes == 0) return text + row("input", "unknown: a stream");
  text += row("input", exact_bytes(input_bytes)) +
          row("output", (job.groups.is_on || job.limit || job.skip > 0 ? "at most " : "") + exact_bytes(input_bytes) +
                            (job.groups.counts ? ", and the counts" : "")) +
          space_text(space);
  if (job.merge) return text + row("runs", "none where all inputs are merged at once");
  if (job.limit)
    return text + row("runs", fmt::format("none where {} lines fill no more than three quarters of a run buffer", *job.limit)) +
           row("bytes moved",
               fmt::format("about {}, and those of the output, where there are no runs", format_bytes(input_bytes)));
  if (bounds.most_runs == 0) return text + row("runs", "none") + row("temporary space", "none");
  text += row("runs", fmt::format("{} to {}: lines of {} bytes make about {}", bounds.fewest_runs, bounds.most_runs,
                                  bounds.usual_row_bytes, bounds.usual_runs));
  text += row("merged at a time", fmt::format("up to {} runs, fewer where lines are longer than a page", bounds.runs_at_a_time));
  text += row("merges of each line", bounds.fewest_merges == bounds.most_merges
                                         ? fmt::format("{}", bounds.fewest_merges)
                                         : fmt::format("{} to {}", bounds.fewest_merges, bounds.most_merges));
  const std::string what =
      job.compress_program.empty() ? "" : fmt::format("what {} makes of ", lines::quoted_word(job.compress_program));
  text += row("temporary space", fmt::format("{}{}at most {}", bounds.fewest_runs == 0 ? "none, or " : "", what,
                                             exact_bytes(bounds.most_temp_bytes)));
  const std::uint64_t with_heads = 2 * bounds.usual_head_bytes;
  return text +
         row("bytes moved", fmt::format("about {} with one merge, {} more with each other",
                                        format_bytes(4 * input_bytes + with_heads), format_bytes(2 * input_bytes + with_heads)));
}

}  // namespace ecosort::cli
