#include "demsort_inplace/lines_space.h"

#include <algorithm>
#include <bit>

#include "demsort_inplace/journal.h"
#include "demsort_inplace/row_files.h"
#include "demsort_inplace/space_plan.h"
#include "formats/lines/line_run.h"
#include "planner/packing_plan.h"
#include "run/block_places.h"
#include "run/row_runs.h"

namespace ecosort::demsort_inplace {

namespace {

constexpr std::uint64_t extent_bytes = 128 * MiB;  // the longest that ext4 has

std::uint64_t most_runs(const planner::LinePlan& plan, std::uint64_t input_bytes) {
  const std::uint64_t room = std::max<std::uint64_t>(plan.run_buffer_bytes - 2 * plan.block_bytes, 1);
  const std::uint64_t each = lines::index_bytes_per_line + counted_line_bytes;
  const std::uint64_t full = div_up(div_up(input_bytes, counted_line_bytes) * each, room) + 1;
  return plan.spread_bytes > 0 ? std::bit_ceil(full) : full;
}

}  // namespace

std::uint64_t line_interval_bytes(std::uint64_t input_bytes) noexcept {
  constexpr std::uint64_t usual = 64 * MiB, few = 8, many = 64;
  return std::max(input_bytes / many, std::min(usual, std::max(input_bytes / few, MiB)));
}

std::uint64_t most_merged_runs(const planner::LinePlan& plan) noexcept {
  const std::uint64_t slots = 2 * (plan.block_bytes + 2 * page_bytes);
  return std::clamp<std::uint64_t>(plan.merge_bytes() / slots, 2, std::max<std::uint64_t>(plan.batch_size, 2));
}

LinesSpace lines_space(const JobHeader& header, const planner::LinePlan& plan, std::uint64_t held_bytes) {
  const std::uint64_t unit = header.layout.unit, bytes = most_output_bytes(header);
  const std::uint64_t payload = plan.block_bytes - run::trailer_bytes;
  const std::uint64_t blocks = div_up(bytes, payload);
  const auto promised = [&](std::uint64_t runs, std::uint64_t all_blocks) {  // of so many runs together
    const std::uint64_t plain = all_blocks * plan.block_bytes;
    if (!header.layout.packs) return plain;
    return planner::promised_space(plain, header.layout.assumed_ratio) + runs * page_bytes +
           run::most_places_bytes(runs, all_blocks);
  };
  LinesSpace space;
  space.runs = most_runs(plan, bytes);
  // Each run may end within a block.
  space.run_bytes = promised(space.runs + 1, blocks + space.runs + 1) + (space.runs + 1) * header.layout.head_bytes;
  const std::uint64_t merged_again = space.runs > most_merged_runs(plan) ? promised(1, blocks + 1) + header.layout.head_bytes : 0;
  space.output_bytes = round_up(std::max(bytes, merged_again), unit);
  const std::uint64_t places = round_up(2 * space.runs + 1, header.lines->run_places);
  space.journal_bytes = round_up(Journal::size_bytes(header) + (places - header.lines->run_places) * page_bytes, unit);
  space.metadata_bytes = metadata_allowance(space.runs + 8, 2 * space.runs + 2 * (bytes / extent_bytes + 1), unit);
  space.held_bytes = held_bytes;
  space.checkpoints = bytes / header.layout.interval_bytes + 1;
  return space;
}

}  // namespace ecosort::demsort_inplace
