#include "engine/rows/form_line_runs.h"

#include <algorithm>

#include "formats/lines/index_lines.h"
#include "formats/shuffle/shuffle_format.h"

namespace ecosort::engine::rows {

FormLineRuns::FormLineRuns(const RowTools& tools, ReadLines& reader, std::vector<lines::DuplicateFilter>& seen,
                           const GroupPolicy& groups)
    : tools_(tools),
      reader_(reader),
      seen_(seen),
      groups_(groups),
      run_buffers_(tools.plan.run_buffers),
      storing_(tools.bench.reactor.scope()),
      free_runs_(tools.bench.reactor.scope(), tools.plan.run_buffers) {}

Task<void> FormLineRuns::form(std::vector<MergeInput>& runs, LineRunKeeper* keeper) {
  runs_ = &runs;
  keeper_ = keeper;
  for (lines::LineRun& run : run_buffers_) {
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
    for (lines::LineRun& run : run_buffers_) run.memory = Buffer();
}

// Each run that is full is sorted and stored while the next one is read.
Task<void> FormLineRuns::read_runs() {
  while (!reader_.at_end()) {
    co_await free_runs_.take();
    lines::LineRun& run = *idle_runs_.back();
    idle_runs_.pop_back();
    co_await fill(run);
    const bool stays = keeper_ == nullptr && runs_->empty() && reader_.at_end();
    if (stays) {
      resident_ = &run;
      break;
    }
    const std::optional<std::size_t> number = run.count > 0 ? co_await leave_ordered(run) : std::nullopt;
    if (number) {
      storing_.spawn(store(run, *number, read_so_far()));
    } else {
      idle_runs_.push_back(&run);
      free_runs_.give();
    }
  }
}

// With a limit a buffer is filled until the rows that may be among the first ones leave too little room for others.
Task<void> FormLineRuns::fill(lines::LineRun& run) {
  run.kept_bytes = 0;
  if (limit_ == nullptr) {
    const bool is_shuffle = shuffle::as_shuffle(tools_.format) != nullptr;  // the order of whose input says nothing
    do co_await reader_.fill(run, is_shuffle ? nullptr : &order_);
    while (run.count == 0 && !reader_.at_end());
    run.is_ordered = !is_shuffle && order_.is_all(run);
    co_return;
  }
  for (bool has_room = true; has_room && !reader_.at_end();) {
    const std::uint64_t before = reader_.hash().count;
    co_await reader_.fill(run);
    has_room = reader_.hash().count > before;  // else the next row does not fit behind the others
    if (!has_room || reader_.at_end()) co_return;
    auto work = tools_.bench.compute.run([&] { has_room = limit_->make_room(run) || run.count == 0; });
    co_await work;
  }
}

// Leaves what came in order in its input, and the run keeps the rest. Returns its number among the runs; nothing: no row is left.
Task<std::optional<std::size_t>> FormLineRuns::leave_ordered(lines::LineRun& run) {
  std::optional<OrderedRows> beginning, ending;
  if (leaves_in_inputs_) beginning = order_.beginning(run);
  if (beginning && !goes_on(run, *beginning) && !is_worth_a_run(run, *beginning)) beginning.reset();
  const std::size_t first = beginning ? beginning->end : 0;
  if (leaves_in_inputs_ && first < run.count) {
    auto work = tools_.bench.compute.run([&] { ending = order_.ending(run, tools_.format, first); });
    co_await work;
    if (ending && !is_worth_a_run(run, *ending)) ending.reset();
  }
  const std::size_t end = ending ? ending->first : run.count;
  std::optional<std::size_t> number;
  if (beginning) leave_in_input(run, *beginning);
  if (first < end) {
    number = runs_->size();
    runs_->emplace_back();
  }
  if (ending) leave_in_input(run, *ending);
  const std::size_t left = (beginning ? beginning->size : 0) + (ending ? ending->size : 0);
  if (left > 0) keep_rows(run, first, end, run.line_bytes - left);
  co_return number;
}

// A run for each of two seams in a buffer would cost the merge more than they save: short ones are sorted with the rows around
// them. Where runs become so many that one merge may not take all of them, a buffer makes one.
bool FormLineRuns::is_worth_a_run(const lines::LineRun& run, const OrderedRows& rows) const {
  constexpr std::uint64_t least_share = 4, share_of_merge = 8;
  if (rows.end - rows.first == run.count) return true;
  const planner::LinePlan& plan = tools_.plan;
  const std::uint64_t most = std::min<std::uint64_t>(plan.merge_bytes() / plan.block_bytes, plan.batch_size);
  return rows.size >= run.line_bytes / least_share && runs_->size() < most / share_of_merge;
}

// Returns whether the rows go on where the last run ends.
bool FormLineRuns::goes_on(const lines::LineRun& run, const OrderedRows& rows) const {
  if (runs_->empty() || !last_row_ || last_input_ != rows.input) return false;
  const std::optional<run::RowsInInput>& last = runs_->back().run.in_input;
  return last && last->begin + last->bytes == rows.offset && last->missing_end.empty() &&
         tools_.format.compare(*last_row_, run.line(row_entry(run, rows.first))) <= 0;
}

// The rows become a run that lies in their input, or go on the last one.
void FormLineRuns::leave_in_input(const lines::LineRun& run, const OrderedRows& rows) {
  constexpr std::size_t most_kept = std::size_t{64} << 10U;  // of a row: nothing is compared with a longer one
  const LineInput& input = reader_.input(rows.input);
  if (!goes_on(run, rows)) {
    runs_->emplace_back();
    runs_->back().run.in_input = run::RowsInInput{.file = input.file.get(), .begin = rows.offset, .terminator = run.terminator};
  }
  run::RowRun& left = runs_->back().run;
  const std::uint64_t in_file = std::min<std::uint64_t>(rows.size, input.end_offset() - rows.offset);
  left.bytes += rows.size;
  left.lines += rows.end - rows.first;
  left.longest = std::max(left.longest, order_.longest());
  left.in_input->bytes += in_file;
  left.in_input->missing_end.assign(run.bytes() + rows.begin + in_file, rows.size - in_file);
  left.in_input->has_quotes |= run.has_quotes;
  const Text last = run.line(row_entry(run, rows.end - 1));
  last_row_.reset();
  if (last.size() <= most_kept) last_row_.emplace(last);
  last_input_ = rows.input;
  tools_.bench.progress.add_bytes(rows.size);  // as if they were stored
}

ReadSoFar FormLineRuns::read_so_far() const {
  return {reader_.place(),       reader_.hash(),       reader_.dropped(),
          reader_.blank_lines(), reader_.key_counts(), reader_.repeated_header()};
}

void FormLineRuns::make_seen() {
  const planner::LinePlan& plan = tools_.plan;
  const unsigned threads = tools_.bench.compute.threads();
  const std::size_t each = round_down(plan.seen_bytes / threads, 64);
  if (each == 0) return;
  seen_memory_ = tools_.bench.memory.allocate(plan.seen_bytes, "seen lines", plan.pages);
  for (unsigned i = 0; i < threads; ++i) seen_.emplace_back(seen_memory_.data() + i * each, each);
}

Task<hash::MultisetHash> FormLineRuns::sort(lines::LineRun& run) {
  hash::MultisetHash dropped;
  auto work = tools_.bench.compute.run([&] {
    if (run.is_ordered)
      std::reverse(run.entries(), run.entries() + run.count);
    else
      lines::sort_index(run, tools_.format, tools_.bench.compute.threads());
    if (limit_ != nullptr)
      dropped = limit_->drop(run);
    else
      lines::drop_equal(run, tools_.format, groups_.kept_in_runs(), dropped);
  });
  co_await work;
  dropped_ += dropped;
  co_return dropped;
}

// Sorts a run and writes it; its buffer is free again afterwards.
Task<void> FormLineRuns::store(lines::LineRun& run, std::size_t number, ReadSoFar read) {
  using Checks = lines::GatherLines::Checks;
  const hash::MultisetHash dropped = co_await sort(run);
  const bool may_stay_in_runs = limit_ != nullptr && limit_->ends_merges();
  if (may_stay_in_runs) limit_->count_stored(run);
  if (pace_) pace_->tell(reader_.bytes());
  const bool is_shuffle = shuffle::as_shuffle(tools_.format) != nullptr;
  run::RowRun stored;
  if (keeper_ != nullptr)
    stored = co_await keeper_->create(number, run.line_bytes);
  else
    stored = tools_.files.create(run.line_bytes + (is_shuffle ? run.count * sizeof(shuffle::RowHead) : 0));
  RowRunSink sink(tools_, stored);
  const Checks of_kept = groups_.is_decided_at_once() && groups_.is_one() ? Checks::ascending : Checks::ordered,
               of_others = may_stay_in_runs ? Checks::hashed : Checks::none;
  lines::GatherLines gather(run, tools_.format, keeper_ == nullptr ? of_others : of_kept);
  if (is_shuffle) gather.add_heads(stored.cuts);
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
  (*runs_)[number].rows = gather.hash();
}

Task<void> FormLineRuns::gather_to(lines::RowSource& gather, LineSink& sink) {
  TaskGroup gathering(tools_.bench.reactor.scope());
  gathering.spawn(gather_blocks(gather, sink));
  co_await gathering.settle();
  co_await sink.settle();
  tools_.bench.reactor.scope().throw_if_failed();
}

Task<void> FormLineRuns::gather_blocks(lines::RowSource& gather, LineSink& sink) {
  struct Filled {
    std::byte* block;
    run::BlockContents contents;
  };
  for (std::vector<Filled> blocks; !gather.finished(); blocks.clear()) {
    do blocks.push_back({co_await sink.take(), {}});
    while (blocks.size() < tools_.plan.blocks_at_once && sink.has_idle_block());
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

}  // namespace ecosort::engine::rows
