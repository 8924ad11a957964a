#include "demsort_inplace/space_plan.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "demsort_inplace/journal.h"

namespace ecosort::inplace {

namespace {

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB;

// The file system's own blocks. Inodes and names of our files; an extent takes 12 (ext4) or 16 (XFS) bytes in tree blocks that
// may be half empty, and its neighbourhood in the free space trees as much again. The base covers what a nearly full file system
// refuses to give out: see DESIGN.md for the measurement.
constexpr std::uint64_t metadata_base = 256 * KiB, file_bytes = 1024, extent_bytes = 64;

// Microseconds, for comparing layouts only: a sync with its journal record and cut; cutting one run; one read request.
constexpr std::uint64_t sync_us = 20'000, cut_us = 100, request_us = 100, batch_us = 300;

// More than this between checkpoints gains nothing, and is more to do again after a crash.
std::uint64_t most_interval(std::uint64_t bytes) { return std::max<std::uint64_t>(bytes / 64, 64 * MiB); }

std::uint64_t checkpoint_count(const Layout& layout) {
  // A checkpoint may lag behind by two batches: a bit less than half of the interval.
  return layout.bytes() / (layout.interval_bytes / 2 + 1) + 1;
}

// The output is written into the gaps that the runs leave: one for each run and checkpoint, or one granule each.
std::uint64_t extent_count(const Layout& layout) {
  return std::min(layout.bytes() / layout.granule.bytes + 1, checkpoint_count(layout) * (layout.runs() + 2)) + layout.runs();
}

std::uint64_t metadata_of(const Layout& layout) {
  return round_up(metadata_base + (layout.runs() + 8) * file_bytes + extent_count(layout) * extent_bytes, page_bytes);
}

std::uint64_t cost_us(const SpacePlan& plan) {
  const Layout& layout = plan.layout;
  const std::uint64_t batch = plan.engine.merge.final.output_block_bytes - layout.unit;
  return layout.runs() * sync_us + plan.checkpoints * (sync_us + layout.runs() * cut_us) +
         layout.bytes() / plan.engine.merge.final.block_bytes * request_us +
         layout.bytes() / std::max<std::uint64_t>(batch, 1) * (batch_us + layout.runs());
}

// Fills in what follows from layout and memory. False: the memory is too little.
bool complete(SpacePlan& plan, const plan::Wanted& wanted) {
  auto engine = plan::plan_equal_runs(wanted, plan.layout.granule, plan.layout.piece_records, most_batch_bytes(plan.layout));
  if (!engine) return false;
  plan.engine = std::move(*engine);
  plan.journal_bytes = Journal::size_bytes({.format = wanted.format, .layout = plan.layout});
  plan.metadata_bytes = metadata_of(plan.layout);
  plan.checkpoints = checkpoint_count(plan.layout);
  return true;
}

std::vector<plan::Granule> granules_for(std::uint32_t record_size) {
  std::vector<plan::Granule> granules;
  const std::uint64_t least = round_up(record_size + sizeof(std::uint64_t), page_bytes);
  for (std::uint64_t i = 0; i < 16; ++i) {
    const std::uint64_t bytes = least + i * page_bytes;
    if (bytes > std::numeric_limits<std::uint32_t>::max()) break;
    granules.push_back(
        {static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>((bytes - sizeof(std::uint64_t)) / record_size)});
  }
  return granules;
}

// 1, 2, 3, ... and then in steps of 1/32.
std::vector<std::uint64_t> run_counts(std::uint64_t records) {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t runs = 1; runs <= std::min(plan::most_runs, records); runs += std::max<std::uint64_t>(runs / 32, 1))
    counts.push_back(runs);
  return counts;
}

// The longest checkpoint interval with which the need is at most `free`; what the pieces need anyway is the intervals' for
// nothing.
std::uint64_t interval_within(const SpacePlan& plan, std::uint64_t free_bytes) {
  const Layout& layout = plan.layout;
  const std::uint64_t room = plan.need_bytes() >= free_bytes ? 0 : free_bytes - plan.need_bytes();
  const std::uint64_t piece = layout.run_file_bytes(0, 0), slack = layout.slack_bytes();
  const std::uint64_t unused = piece > slack ? piece - slack : 0;
  return std::min(layout.interval_bytes + unused + room, std::max(layout.interval_bytes, most_interval(layout.bytes())));
}

class Search {
 public:
  Search(const plan::Wanted& wanted, std::uint64_t free_bytes) : wanted_(wanted), free_(free_bytes) {}

  SpaceChoice run() {
    for (const plan::Granule& granule : granules_for(wanted_.format.record_size))
      for (const std::uint64_t runs : run_counts(wanted_.input_records)) look_at(granule, runs);
    return choice_;
  }

 private:
  void look_at(const plan::Granule& granule, std::uint64_t runs) {
    SpacePlan plan;
    plan.layout = {.records = wanted_.input_records,
                   .record_size = wanted_.format.record_size,
                   .granule = granule,
                   .piece_records = div_up(wanted_.input_records, runs),
                   .unit = wanted_.input_alignment,
                   .interval_bytes = least_interval_bytes(wanted_.format.record_size, wanted_.input_alignment)};
    if (!complete(plan, wanted_)) return;
    if (!choice_.least || plan.need_bytes() < choice_.least->need_bytes()) choice_.least = plan;
    if (plan.need_bytes() > free_) return;
    SpacePlan longer = plan;
    longer.layout.interval_bytes = interval_within(plan, free_);
    if (complete(longer, wanted_) && longer.need_bytes() <= free_) plan = std::move(longer);
    if (!choice_.best || cost_us(plan) < cost_us(*choice_.best)) choice_.best = std::move(plan);
  }

  const plan::Wanted& wanted_;
  const std::uint64_t free_;
  SpaceChoice choice_;
};

}  // namespace

SpaceChoice choose_space(const plan::Wanted& wanted, std::uint64_t free_bytes) { return Search(wanted, free_bytes).run(); }

std::uint64_t least_memory_bytes(plan::Wanted wanted) {
  for (std::uint64_t memory = plan::least_memory_bytes;; memory += memory / 8) {
    wanted.memory_bytes = memory;
    if (choose_space(wanted, 0).least) return round_up(memory, MiB);
  }
}

}  // namespace ecosort::inplace
