#include "cli/lines_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/memory.h"
#include "base/size_text.h"
#include "engine/rows/merge_lines.h"
#include "formats/lines/line_run.h"
#include "formats/lines/quoted.h"

namespace ecosort::cli {
namespace {

std::string row(const char* name, const std::string& value) { return fmt::format("  {:<22}{}\n", name, value); }
std::string exact(std::uint64_t bytes) { return fmt::format("{} ({} bytes)", format_bytes(bytes), bytes); }

// Runs that can be merged at a time where no line is longer than a page.
std::uint64_t fan_in(const lines::LinePlan& plan, bool is_compressed) {
  std::vector<lines::MergeInput> runs(std::min<std::uint64_t>(plan.batch_size, plan.merge_bytes() / plan.block_bytes + 2));
  for (lines::MergeInput& run : runs) {
    run.run.longest = page_bytes - 1;
    run.run.is_compressed = is_compressed;
  }
  return std::max<std::uint64_t>(lines::fit_merge(plan, runs, 0).inputs, 2);
}

unsigned merges_in_a_row(std::uint64_t runs, std::uint64_t fan_in) {
  unsigned passes = 1;
  for (; runs > fan_in; runs = div_up(runs, fan_in)) ++passes;
  return passes;
}

std::string runs_text(const run::PackingPlan& packing) {
  if (packing.coders == 0) return "";
  const std::string usual = codec::text_of(packing.wanted.terms);
  const std::string what = !packing.wanted.is_auto ? usual
                           : usual == "lz4"        ? "lz4 where it pays"
                                                   : fmt::format("lz4 or {} where they pay", usual);
  return row("compressed runs",
             fmt::format("{}; {} coders and their index take {}", what, packing.coders, exact(packing.bytes())));
}

}  // namespace

std::string lines_bounds_text(const lines::LinesJob& job, std::uint64_t input_bytes) {
  const lines::LinePlan& plan = job.plan;
  const std::uint64_t longest = plan.run_buffer_bytes - plan.block_bytes;
  std::string text = row("memory", exact(plan.memory_bytes + job.header_bytes + job.codecs.bytes())) +
                     row("run buffers", fmt::format("{} of {}", plan.run_buffers, exact(plan.run_buffer_bytes))) +
                     row("blocks", exact(plan.block_bytes)) + row("longest line", "at most " + exact(longest)) +
                     runs_text(job.codecs.runs);
  if (input_bytes == 0) return text + row("input", "unknown: a stream");
  text += row("input", exact(input_bytes)) + row("output", (job.unique ? "at most " : "") + exact(input_bytes));
  if (job.merge) return text + row("runs", "none where all inputs are merged at once");
  // An empty line is one byte and its place in the index.
  constexpr std::uint64_t most_per_byte = lines::index_bytes_per_line + 1;
  const std::uint64_t room = plan.run_buffer_bytes - 2 * plan.block_bytes;
  if (input_bytes * most_per_byte <= room) return text + row("runs", "none") + row("temporary space", "none");
  const std::uint64_t fewest = input_bytes <= plan.run_buffer_bytes ? 0 : div_up(input_bytes, plan.run_buffer_bytes);
  const std::uint64_t most_full = div_up(input_bytes * most_per_byte, room) + 1,
                      usual_full = div_up(input_bytes * 132 / 100, room);
  const std::uint64_t most = plan.spread_bytes > 0 ? std::bit_ceil(most_full) : most_full;
  const std::uint64_t usual = plan.spread_bytes > 0 ? lines::spread_runs(plan, usual_full, page_bytes) : usual_full;
  const std::uint64_t at_once = fan_in(plan, !job.compress_program.empty());
  const std::uint64_t stored = div_up(input_bytes, plan.block_bytes - run::trailer_bytes) * plan.block_bytes;
  const unsigned few = merges_in_a_row(fewest, at_once), many = merges_in_a_row(most, at_once);
  text += row("runs", fmt::format("{} to {}: lines of 100 bytes make about {}", fewest, most, usual));
  text += row("merged at a time", fmt::format("up to {} runs, fewer where lines are longer than a page", at_once));
  text += row("merges of each line", few == many ? fmt::format("{}", few) : fmt::format("{} to {}", few, many));
  const std::uint64_t most_temp = (many > 1 ? 2 * stored : stored) + most * plan.block_bytes;
  const std::string what =
      job.compress_program.empty() ? "" : fmt::format("what {} makes of ", lines::quoted_word(job.compress_program));
  text += row("temporary space",
              fmt::format("{}{}at most {}", fewest == 0 ? "none, or " : "", what,
                          exact(job.codecs.runs.reserves_nothing ? most_temp : job.codecs.runs.space_of(most_temp))));
  return text + row("bytes moved", fmt::format("about {} with one merge, {} more with each other", format_bytes(4 * input_bytes),
                                               format_bytes(2 * input_bytes)));
}

}  // namespace ecosort::cli
