#include "engine/fixed/merge_resident.h"

#include <algorithm>

#include "engine/fixed/split.h"
#include "formats/records/gather.h"
#include "formats/records/index_sort.h"

namespace ecosort::engine::fixed {

MergeResident::MergeResident(Bench& bench, const records::Encoder& encoder, const planner::MergeBuffers& buffers,
                             const std::vector<RunBuffer>& runs)
    : reactor_(bench.reactor),
      compute_(bench.compute),
      encoder_(encoder),
      runs_(runs),
      table_(encoder.record_size()),
      memory_(bench.memory.allocate(buffers.index_bytes * buffers.output_blocks, "the indexes of output blocks")),
      desk_records_(buffers.index_bytes / sizeof(sorting::Entry) / 2),
      cuts_(runs.size()),
      turn_changed_(reactor_.scope()) {
  for (unsigned i = 0; i < buffers.output_blocks; ++i) {
    auto* const entries = reinterpret_cast<sorting::Entry*>(memory_.data() + i * buffers.index_bytes);
    desks_.push_back({entries, entries + desk_records_});
  }
  for (const RunBuffer& run : runs_) {
    table_.add(run.first_index, run.records);
    records_ += run.count;
  }
}

Task<void> MergeResident::merge_to_output(CheckedOutput& output) {
  TaskGroup makers(reactor_.scope());
  for (const Desk& desk : desks_) makers.spawn(make_blocks(output, desk));
  co_await output.finish_after(reactor_, makers);
}

// One of the tasks that make block after block. Numbers are given out in the order in which places are taken, so that the block
// whose turn it is always has its place.
Task<void> MergeResident::make_blocks(CheckedOutput& output, Desk desk) {
  while (more()) {
    const Block block = next_block(std::min(output.records_per_batch(), desk_records_));
    std::byte* const out = co_await output.take(block.first);
    Checked checked;
    auto work = compute_.run([&] { checked = make(block, desk, out); });
    co_await work;
    while (turn_ != block.number) co_await turn_changed_.changed();
    co_await output.put(out, block.count, checked);
    ++turn_;
    turn_changed_.notify();
  }
}

MergeResident::Block MergeResident::next_block(std::uint64_t most_records) {
  Block block{next_number_++, planned_, std::min(most_records, records_ - planned_), {}};
  std::vector<SortedIndex> rest;
  rest.reserve(runs_.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) rest.emplace_back(runs_[i].entries() + cuts_[i], runs_[i].count - cuts_[i]);
  const std::vector<std::uint64_t> taken = split_at_rank(rest, block.count, encoder_, table_);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    block.ranges.push_back({cuts_[i], cuts_[i] + taken[i]});
    cuts_[i] += taken[i];
  }
  planned_ += block.count;
  return block;
}

// The index of the block. A slice that is alone is in order already.
const sorting::Entry* MergeResident::merge_indexes(const Block& block, Desk desk) const {
  sorting::Entry* end = desk.entries;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const RunRange& range = block.ranges[i];
    if (range.end - range.begin == block.count) return runs_[i].entries() + range.begin;
    end = std::copy(runs_[i].entries() + range.begin, runs_[i].entries() + range.end, end);
  }
  records::sort_entries(desk.entries, desk.scratch, block.count);
  records::refine_ties(desk.entries, desk.scratch, block.count, encoder_, table_);
  return desk.entries;
}

Checked MergeResident::make(const Block& block, Desk desk, std::byte* out) const {
  const sorting::Entry* const entries = merge_indexes(block, desk);
  OutputCheck check(encoder_);
  for (std::uint64_t done = 0; done < block.count;) {
    const std::uint64_t count = std::min(records_per_check(encoder_), block.count - done);
    records::gather(entries + done, count, table_, out, block.count - done - count);
    check.add(out, count);
    out += count * encoder_.record_size();
    done += count;
  }
  return check.result();
}

}  // namespace ecosort::engine::fixed
