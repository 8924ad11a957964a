#include "run/record_runs.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ecosort::run {

RecordRuns::RecordRuns(io::Storage& storage, io::Reactor& reactor, const planner::RecordPlan& plan,
                       std::vector<std::string> directories, RunPacker* packer)
    : PackedRuns(
          storage, reactor, plan.run_block.bytes,
          Striping(std::move(directories), std::max<std::uint64_t>(plan.formation.write_block_bytes, plan.run_block.bytes)),
          packer),
      run_block_(plan.run_block),
      record_size_(plan.wanted.format.record_size),
      forecast_(plan) {}

RecordRuns::RecordRuns(io::Storage& storage, io::Reactor& reactor, const planner::RecordPlan& plan, const KeptRuns& kept,
                       RunPacker* packer)
    : PackedRuns(storage, reactor, plan.run_block.bytes, kept, packer),
      run_block_(plan.run_block),
      record_size_(plan.wanted.format.record_size),
      forecast_(plan) {}

std::size_t RecordRuns::create(std::uint64_t records) {
  const std::uint64_t run_blocks = div_up(records, run_block_.records);
  const std::size_t number = create_perhaps_packed(run_blocks);
  forecast_.add_run(run_blocks);
  return number;
}

std::size_t RecordRuns::adopt(io::FilePtr file, std::uint64_t identity, std::uint64_t records, std::uint64_t first_run_block) {
  const std::uint64_t run_blocks = div_up(records, run_block_.records);
  forecast_.add_run(run_blocks);
  return adopt_run(std::move(file), identity, run_blocks, first_run_block);
}

void RecordRuns::open_run_blocks(const StoredRun& run, std::uint64_t records, std::uint64_t first, std::uint64_t count,
                                 std::byte* memory) const {
  if (!run.is_packed) {
    for (std::uint64_t i = 0; i < count; ++i) check(run, first + i, block_in(memory, count, i));
    return;
  }
  // Packed blocks are smaller: no block reaches what of later ones is still to be looked at.
  const std::byte* from = memory + count * run_block_.bytes - stored_bytes(run, first, count);
  for (std::uint64_t block = first; block < first + count; ++block, memory += run_block_.bytes) {
    check(run, block, from);
    const std::size_t size = stored_bytes(run, block);
    if (!is_packed(run, block)) {
      std::memmove(memory, from, size);
    } else {
      const std::uint64_t held = std::min<std::uint64_t>(run_block_.records, records - block * run_block_.records);
      if (unpack(run, block, from, memory).used_bytes != held * record_size_) damaged(run, block);
    }
    from += size;
  }
}

Task<void> RecordRuns::read_forecast(std::size_t number, std::uint64_t records, std::uint64_t first,
                                     const records::Encoder& encoder, std::span<std::byte> memory) {
  forecast_.take_in_unknown(encoder);
  std::uint64_t next_block = round_up(first, forecast_.stride());
  TaskGroup readers(reactor().scope());
  for (; memory.size() >= run_block_.bytes; memory = memory.subspan(run_block_.bytes))
    readers.spawn(read_forecast_keys(number, records, encoder, memory.data(), next_block));
  co_await readers.join();
}

// One of those that take turns until there are no more blocks. `next_block` is that of all of them.
Task<void> RecordRuns::read_forecast_keys(std::size_t number, std::uint64_t records, const records::Encoder& encoder,
                                          std::byte* memory, std::uint64_t& next_block) {
  while (next_block < run(number).blocks) {
    const std::uint64_t run_block = next_block;
    next_block += forecast_.stride();
    const std::size_t on_drive = stored_bytes(run(number), run_block);
    co_await read(number, run_block, memory + run_block_.bytes - on_drive, on_drive);
    open_run_blocks(run(number), records, run_block, 1, memory);
    forecast_.set(number, run_block, encoder, memory);
  }
}

}  // namespace ecosort::run
