#include "run/record_runs.h"

#include <algorithm>
#include <utility>

namespace ecosort::engine {

RecordRuns::RecordRuns(io::Storage& storage, io::Reactor& reactor, const planner::Plan& plan,
                       std::vector<std::string> directories)
    : RunStore(
          storage, reactor, plan.run_block.bytes,
          run::Striping(std::move(directories), std::max<std::uint64_t>(plan.formation.write_block_bytes, plan.run_block.bytes))),
      run_block_(plan.run_block),
      record_size_(plan.wanted.format.record_size),
      forecast_(plan) {}

RecordRuns::RecordRuns(io::Storage& storage, io::Reactor& reactor, const planner::Plan& plan, const run::KeptRuns& kept)
    : RunStore(storage, reactor, plan.run_block.bytes, kept),
      run_block_(plan.run_block),
      record_size_(plan.wanted.format.record_size),
      forecast_(plan) {}

std::size_t RecordRuns::create(std::uint64_t records) {
  const std::uint64_t run_blocks = div_up(records, run_block_.records);
  const std::size_t number = create_run(run_blocks);
  forecast_.add_run(run_blocks);
  return number;
}

std::size_t RecordRuns::adopt(io::FilePtr file, std::uint64_t identity, std::uint64_t records, std::uint64_t first_run_block) {
  const std::uint64_t run_blocks = div_up(records, run_block_.records);
  forecast_.add_run(run_blocks);
  return adopt_run(std::move(file), identity, run_blocks, first_run_block);
}

Task<void> RecordRuns::read_forecast(std::size_t number, const records::Encoder& encoder, std::byte* memory) {
  forecast_.take_in_unknown(encoder);
  for (std::uint64_t run_block = 0; run_block < run(number).blocks; run_block += forecast_.stride()) {
    co_await read(number, run_block, memory, run_block_.bytes);
    check(run(number), run_block, memory);
    forecast_.set(number, run_block, encoder, memory);
  }
}

}  // namespace ecosort::engine
