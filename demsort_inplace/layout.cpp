#include "demsort_inplace/layout.h"

#include <algorithm>

#include "demsort_inplace/kept_keys.h"
#include "planner/packing_plan.h"
#include "run/block_places.h"

namespace ecosort::demsort_inplace {

std::uint64_t Layout::promised_bytes(std::uint64_t blocks) const noexcept {
  return planner::promised_space(blocks * run_block.bytes, assumed_ratio);
}

std::uint64_t Layout::table_bytes(std::uint64_t run) const noexcept { return packs ? run::places_bytes(run_run_blocks(run)) : 0; }

std::uint64_t Layout::all_run_bytes() const noexcept {
  const std::uint64_t last = runs() - 1;
  return last * run_file_bytes(0, 0) + run_file_bytes(last, 0);
}

std::uint64_t Layout::slack_bytes() const noexcept {
  if (keeps_runs) return input_file_bytes(records);
  return std::min(interval_bytes + runs() * run_block.bytes + unit, input_file_bytes(records));
}

std::uint64_t Layout::total_bytes() const noexcept {
  return all_run_bytes() + cut_units_bytes() + 2 * unit + std::max(run_file_bytes(0, 0), slack_bytes());
}

std::uint64_t Layout::spare_bytes(std::uint64_t run) const noexcept {
  const std::uint64_t used = run * run_file_bytes(0, 0) + run_file_bytes(run, 0) + input_file_bytes(records_left(run));
  return total_bytes() - std::min(total_bytes(), used);
}

std::uint64_t Layout::output_room(std::uint64_t run_bytes) const noexcept {
  return std::min(total_bytes() - run_bytes, input_file_bytes(records));
}

std::uint64_t most_batch_bytes(const Layout& layout) noexcept {
  const std::uint64_t share = (layout.interval_bytes - std::min(layout.interval_bytes, 4 * layout.unit)) / 4;
  return round_down(share, page_bytes);
}

planner::EqualRuns equal_runs(const Layout& layout, bool keeps_keys) noexcept {
  return {.run_block = layout.run_block,
          .run_records = layout.piece_records,
          .most_batch_bytes = most_batch_bytes(layout),
          .most_kept_entries = keeps_keys ? most_kept_keys : 0};
}

// A checkpoint makes room for half of an interval at least. On the terabyte of the paper 4096 of them cost some minutes; batches
// of 64 KiB alone would make millions.
std::uint64_t least_interval_bytes(const Layout& layout) noexcept {
  constexpr std::uint64_t least_batch = std::uint64_t{64} * 1024, most_checkpoints = 4096;
  const std::uint64_t batches = 4 * std::max(round_up(layout.record_size, page_bytes), least_batch) + 4 * layout.unit;
  return round_up(std::max(batches, layout.bytes() / (most_checkpoints / 2)), layout.unit);
}

}  // namespace ecosort::demsort_inplace
