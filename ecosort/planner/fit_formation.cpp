#include "planner/fit_formation.h"

#include <limits>
#include <numeric>

#include "formats/records/record_table.h"
#include "planner/arithmetic.h"

namespace ecosort::planner {

namespace {

// Runs of whole alignment units, where that costs little: then no byte at a run's edge is read twice.
std::uint64_t records_of_unit(const Wanted& wanted) {
  return wanted.input_alignment / std::gcd(wanted.input_alignment, std::uint64_t{wanted.format.record_size});
}

}  // namespace

// The run block wastes at most 1/256 of its bytes where a size between one unit and 17 does, in steps of a page; otherwise the
// least wasteful. Every run wastes half of one at its end, so that the short runs of tiny records (the index takes the memory)
// want a small one.
RunBlock choose_run_block(std::uint32_t record_size, std::uint64_t memory, BlockUse use) {
  const std::uint64_t run_bytes =
      memory / (std::uint64_t{3} * record_size + 4 * entry_bytes) * record_size;  // about, with three run buffers
  const std::uint64_t unit =
      (memory >= 64 * MiB && run_bytes >= 8 * MiB ? 64 * KiB : 16 * KiB) * (use == BlockUse::packed ? 2 : 1);
  const std::uint64_t least = RunBlock::least_bytes(record_size, page_bytes);
  RunBlock best;
  std::uint64_t best_waste = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t bytes = std::max(unit, least), end = bytes + 16 * unit; bytes < end; bytes += page_bytes) {
    const RunBlock run_block = RunBlock::of(bytes, record_size);
    const std::uint64_t waste = (bytes - std::uint64_t{run_block.records} * record_size) * 65536 / bytes;
    if (waste >= best_waste) continue;
    best_waste = waste;
    best = run_block;
    if (waste <= 256) break;
  }
  return best;
}

Formation formation_frame(const RecordPlan& plan, unsigned run_buffers) {
  const std::uint64_t memory = plan.wanted.memory_bytes;
  const Requests& requests = plan.wanted.requests;
  Formation f;
  f.run_buffers = run_buffers;
  f.read_block_bytes = round_down(clip(memory / 128, 4 * page_bytes, requests.bytes), page_bytes);
  f.read_block_bytes = round_up(f.read_block_bytes, plan.wanted.input_alignment);
  f.write_block_bytes =
      round_up(clip(round_down(memory / 128, plan.run_block.bytes), plan.run_block.bytes, requests.bytes), plan.run_block.bytes);
  f.write_blocks = static_cast<unsigned>(clip(memory / 24 / f.write_block_bytes, 3, requests.depth + plan.wanted.threads));
  f.bounce_blocks = plan.wanted.several_inputs ? 2 : 0;
  return f;
}

void set_run_size(Formation& f, const RecordPlan& plan, std::uint64_t run_records) {
  const std::uint64_t unit = transfer_unit(plan.wanted);
  f.run_records = run_records;
  f.run_buffer_bytes = round_up(run_records * plan.wanted.format.record_size, unit) + 2 * unit;
  f.index_bytes = round_up(run_records * entry_bytes, page_bytes);
  f.scratch_bytes = f.index_bytes;
}

bool fit_run_size(Formation& f, const RecordPlan& plan, std::uint64_t memory) {
  set_run_size(f, plan, 0);
  const std::uint64_t rounding = f.run_buffers * (transfer_unit(plan.wanted) + page_bytes) + 2 * page_bytes;
  const std::uint64_t fixed = f.memory_bytes() + rounding;
  if (fixed >= memory) return false;
  const std::uint64_t each = f.run_buffers * (plan.wanted.format.record_size + entry_bytes) + entry_bytes;
  const std::uint64_t most = std::min<std::uint64_t>((memory - fixed) / each, records::RecordTable::most_records);
  const std::uint64_t run_records = plan.wanted.run_records != 0 ? plan.wanted.run_records : most;
  if (run_records < least_run_records || run_records > most) return false;
  const std::uint64_t unit = 3 * records_of_unit(plan.wanted);  // a third of a run is whole as well
  set_run_size(f, plan, run_records / unit >= 16 ? round_down(run_records, unit) : run_records);
  return true;
}

std::uint64_t one_pass_run(const Wanted& wanted, unsigned chunks) {
  const std::uint64_t records = div_up(wanted.input_records, chunks), unit = records_of_unit(wanted);
  return records / unit >= 16 ? round_up(records, unit) : records;
}

bool makes_too_many_runs(const Formation& f, std::uint64_t records) {
  return records / f.run_records >= most_runs - 1;  // two of them are shorter, which makes one more
}

std::vector<std::uint64_t> foresee_runs(const Formation& f, std::uint64_t records) {
  std::vector<std::uint64_t> runs;
  for (std::uint64_t left = records; left > 0; left -= runs.back()) runs.push_back(f.records_of_run(runs.size(), left));
  return runs;
}

std::uint64_t Formation::records_of_run(std::uint64_t run, std::uint64_t records_left) const noexcept {
  // Section 4.1: the first two runs have 1/3 and 2/3 of the regular size, so that the processor has work early.
  std::uint64_t records = run_records;
  if (write_blocks > 0 && !hold_runs_until_full && run < 2) records = std::max<std::uint64_t>(run_records * (run + 1) / 3, 1);
  return std::min(records, records_left);
}

std::uint64_t Formation::memory_bytes() const noexcept {
  return run_buffers * (run_buffer_bytes + index_bytes) + scratch_bytes + write_block_bytes * write_blocks +
         read_block_bytes * bounce_blocks;
}

}  // namespace ecosort::planner
