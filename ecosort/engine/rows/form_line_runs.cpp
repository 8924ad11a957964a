#include "engine/rows/form_line_runs.h"

#include <algorithm>

#include "formats/lines/index_lines.h"

namespace ecosort::lines {
namespace {

constexpr std::size_t gathered_at_once = 3;  // blocks, between two words with the coordinator

}  // namespace

FormLineRuns::FormLineRuns(const RowTools& tools, ReadLines& reader, std::vector<DuplicateFilter>& seen, bool unique)
    : tools_(tools),
      reader_(reader),
      seen_(seen),
      unique_(unique),
      run_buffers_(tools.plan.run_buffers),
      storing_(tools.bench.reactor.scope()),
      free_runs_(tools.bench.reactor.scope(), tools.plan.run_buffers) {}

Task<void> FormLineRuns::form(std::vector<MergeInput>& runs, LineRunKeeper* keeper) {
  runs_ = &runs;
  keeper_ = keeper;
  for (LineRun& run : run_buffers_) {
    run.memory = tools_.bench.memory.allocate(tools_.plan.run_buffer_bytes, "run buffer", tools_.plan.pages);
    idle_runs_.push_back(&run);
  }
  make_seen();
  if (packer_ != nullptr) pace_.emplace(tools_.bench, *packer_, inputs_are_files_);
  storing_.spawn(read_runs());
  co_await storing_.join();
  seen_.clear();
  seen_memory_ = Buffer();
  if (resident_ == nullptr)
    for (LineRun& run : run_buffers_) run.memory = Buffer();
}

// Each run that is full is sorted and stored while the next one is read.
Task<void> FormLineRuns::read_runs() {
  while (!reader_.at_end()) {
    co_await free_runs_.take();
    LineRun& run = *idle_runs_.back();
    idle_runs_.pop_back();
    do co_await reader_.fill(run);
    while (run.count == 0 && !reader_.at_end());
    const bool stays = keeper_ == nullptr && runs_->empty() && reader_.at_end();
    if (stays) resident_ = &run;
    if (stays || run.count == 0) break;
    runs_->emplace_back();
    storing_.spawn(store(run, runs_->size() - 1, read_so_far()));
  }
}

ReadSoFar FormLineRuns::read_so_far() const {
  return {reader_.place(),       reader_.hash(),       reader_.dropped(),
          reader_.blank_lines(), reader_.key_counts(), reader_.repeated_header()};
}

void FormLineRuns::make_seen() {
  const LinePlan& plan = tools_.plan;
  const unsigned threads = tools_.bench.compute.threads();
  const std::size_t each = round_down(plan.seen_bytes / threads, 64);
  if (each == 0) return;
  seen_memory_ = tools_.bench.memory.allocate(plan.seen_bytes, "seen lines", plan.pages);
  for (unsigned i = 0; i < threads; ++i) seen_.emplace_back(seen_memory_.data() + i * each, each);
}

Task<records::MultisetHash> FormLineRuns::sort(LineRun& run) {
  records::MultisetHash dropped;
  auto work = tools_.bench.compute.run([&] {
    sort_index(run, tools_.format, tools_.bench.compute.threads());
    if (unique_) drop_equal(run, tools_.format, dropped);
  });
  co_await work;
  dropped_ += dropped;
  co_return dropped;
}

// Sorts a run and writes it; its buffer is free again afterwards.
Task<void> FormLineRuns::store(LineRun& run, std::size_t number, ReadSoFar read) {
  using Checks = GatherLines::Checks;
  const records::MultisetHash dropped = co_await sort(run);
  if (pace_) pace_->tell(reader_.bytes());
  RowRun stored;
  if (keeper_ != nullptr)
    stored = co_await keeper_->create(number, run.line_bytes);
  else
    stored = tools_.files.create(run.line_bytes);
  RunSink sink(tools_, stored);
  GatherLines gather(run, tools_.format, keeper_ == nullptr ? Checks::none : unique_ ? Checks::ascending : Checks::ordered);
  co_await gather_to(gather, sink);
  co_await tools_.files.complete(stored, sink.bytes());
  stored.lines = run.count;
  stored.longest = gather.longest();
  idle_runs_.push_back(&run);
  free_runs_.give();
  if (keeper_ != nullptr) {
    co_await keeper_->after_store(number, stored, read, gather.hash(), dropped);
    tools_.files.close(stored.stored);  // it is durable, and there may be more runs than open files
  }
  (*runs_)[number].run = std::move(stored);
}

Task<void> FormLineRuns::gather_to(GatherLines& gather, LineSink& sink) {
  TaskGroup gathering(tools_.bench.reactor.scope());
  gathering.spawn(gather_blocks(gather, sink));
  co_await gathering.settle();
  co_await sink.settle();
  tools_.bench.reactor.scope().throw_if_failed();
}

Task<void> FormLineRuns::gather_blocks(GatherLines& gather, LineSink& sink) {
  struct Filled {
    std::byte* block;
    run::BlockContents contents;
  };
  for (std::vector<Filled> blocks; !gather.finished(); blocks.clear()) {
    do blocks.push_back({co_await sink.take(), {}});
    while (blocks.size() < gathered_at_once && sink.has_idle_block());
    auto work = tools_.bench.compute.run([&] {
      const bool apart = sink.completes_apart();
      const auto complete = [&](std::size_t i) {
        if (blocks[i].contents.used_bytes > 0) sink.complete(blocks[i].block, blocks[i].contents, i);
      };
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto [bytes, carried] = gather.fill(reinterpret_cast<char*>(blocks[i].block), sink.capacity());
        blocks[i].contents = {static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(carried)};
        if (!apart) complete(i);
      }
      if (apart) ThreadPool::for_each_part(tools_.bench.compute.threads(), blocks.size(), complete);
    });
    co_await work;
    for (const Filled& filled : blocks) {
      const std::size_t bytes = filled.contents.used_bytes;
      bytes > 0 ? sink.put(filled.block, bytes) : sink.give_back(filled.block);
    }
  }
}

}  // namespace ecosort::lines
