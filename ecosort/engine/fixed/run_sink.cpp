#include "engine/fixed/run_sink.h"

#include <algorithm>

namespace ecosort::engine::fixed {

RunSink::RunSink(const RecordTools& tools, const planner::MergeBuffers& buffers, std::size_t run)
    : tools_(tools),
      run_(run),
      block_records_(buffers.output_block_bytes / tools.store.run_block().bytes * tools.store.run_block().records),
      blocks_(tools.bench.reactor.scope(),
              tools.bench.memory.allocate(buffers.output_block_bytes * buffers.output_blocks, "output blocks"),
              buffers.output_block_bytes, buffers.output_blocks),
      writer_(tools, run),
      target_{nullptr, &tools.store, run, 0, 0, !writer_.packs()},
      writes_(tools.bench.reactor.scope()) {}

Task<BatchTarget> RunSink::take() {
  if (target_.data == nullptr) target_.data = co_await blocks_.take();
  co_return target_;
}

void RunSink::put(std::uint64_t count, bool is_last) {
  target_.filled += count;
  if (target_.filled < block_records_ && !is_last) return;
  const run::RecordRuns& store = tools_.store;
  const planner::RunBlock& run_block = store.run_block();
  const std::uint64_t run_blocks = div_up(target_.filled, run_block.records);
  if (const std::uint64_t rest = target_.filled % run_block.records; rest > 0 && target_.seals)
    store.seal_records(store.run(run_), target_.first_run_block + run_blocks - 1, static_cast<std::uint32_t>(rest),
                       target_.data + (run_blocks - 1) * run_block.bytes);
  writes_.spawn(write(target_));
  target_ = {nullptr, &store, run_, target_.first_run_block + run_blocks, 0, target_.seals};
}

// Run blocks that are full are sealed already, unless they are packed.
Task<void> RunSink::write(BatchTarget target) {
  const planner::RunBlock& run_block = tools_.store.run_block();
  RunBlocks filled{target.first_run_block, div_up(target.filled, run_block.records), target.data};
  const auto records_of = [&](std::uint64_t g) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(run_block.records, target.filled - g * run_block.records));
  };
  for (std::uint64_t g = 0; g < filled.count; ++g)
    tools_.store.forecast().set(target.run, filled.first + g, tools_.encoder, filled.data + g * run_block.bytes);
  if (writer_.packs()) {
    co_await writer_.may_complete(filled.first);
    auto work = tools_.bench.compute.run(
        [&] {
          for (std::uint64_t g = 0; g < filled.count; ++g)
            writer_.complete_next(filled, filled.data + g * run_block.bytes, records_of(g));
        },
        filled.count * run_block.bytes);
    co_await work;
  } else {
    filled.bytes = filled.count * run_block.bytes;
  }
  co_await writer_.write(filled);
  tools_.bench.progress.add_bytes(filled.count * run_block.bytes);
  blocks_.give(filled.data);
}

}  // namespace ecosort::engine::fixed
