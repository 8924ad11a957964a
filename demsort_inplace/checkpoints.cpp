#include "demsort_inplace/checkpoints.h"

#include <fmt/format.h>

#include "base/errors.h"

namespace ecosort::demsort_inplace {

Checkpoints::Checkpoints(Workbench& bench, io::File& output)
    : storage_(bench.storage),
      reactor_(bench.reactor),
      journal_(*bench.journal),
      layout_(bench.layout),
      store_(*bench.store),
      numbers_(bench.numbers),
      output_(output),
      interrupted_(bench.interrupted),
      saved_(*bench.state),
      now_(saved_),
      room_(saved_.tail.empty() ? end_of(saved_.records) : round_down(saved_.records * layout_.record_size, layout_.unit)) {
  now_.tail.clear();
  for (std::uint64_t run = 0; run < layout_.runs(); ++run) {
    adopted_.push_back(bench.first_adopted(run));
    file_bytes_.push_back(bench.durable_run_bytes(run));
  }
}

Task<void> Checkpoints::reserve() {
  const std::uint64_t room = layout_.output_room(run_bytes(saved_));
  if (room <= room_) co_return;
  (void)co_await reactor_.reserve(output_, room_, room - room_);
  room_ = room;
}

void Checkpoints::begin(engine::fixed::WriteBehind& writer, engine::fixed::MergeRuns& merge, std::vector<std::uint64_t> runs) {
  writer_ = &writer;
  merge_ = &merge;
  runs_ = std::move(runs);
  begin_.clear();
  for (const std::uint64_t run : runs_) begin_.push_back(adopted_[run]);
}

Task<void> Checkpoints::before_batch(std::uint64_t bytes) {
  const int signal_number = interrupted_.load();
  const std::uint64_t end = round_up(now_.records * layout_.record_size + bytes, layout_.unit);
  const bool is_due = (layout_.keeps_runs || layout_.packs) && end > end_of(saved_.records) + layout_.interval_bytes;
  if (signal_number == 0 && end <= room_ && !is_due) co_return;
  co_await checkpoint();
  if (signal_number != 0) throw Interrupted(signal_number);
  if (end > room_) throw InternalError("a checkpoint made no room for the next batch");
}

void Checkpoints::after_batch(const engine::fixed::MergedBatch& batch) {
  appended_ += batch.appended;
  now_.hash += batch.appended;
  now_.records += batch.appended.count;
  for (std::size_t i = 0; i < runs_.size(); ++i) now_.consumed[runs_[i]] = begin_[i] + batch.sources[i].consumed;
  while (marks_.size() >= 2 && end_of(marks_[1].records) <= writer_->submitted_bytes()) marks_.pop_front();
  if (marks_.empty() || (now_.records - marks_.back().records) * layout_.record_size >= layout_.unit) marks_.push_back(now_);
}

Task<void> Checkpoints::end() {
  co_await check_sums();
  consumed_ = appended_;
  merge_ = nullptr;
}

Task<void> Checkpoints::check_sums() {
  const hash::MultisetHash consumed = consumed_ + co_await merge_->consumed();
  if (consumed == appended_) co_return;
  throw VerificationError(
      fmt::format("verification failed: {} records with hash {} were taken from the runs, {} with hash {} were put into the "
                  "output; the runs still hold what the last checkpoint does not",
                  consumed.count, consumed.to_hex(), appended_.count, appended_.to_hex()));
}

Task<void> Checkpoints::checkpoint() {
  if (marks_.empty() || end_of(marks_.front().records) > writer_->submitted_bytes()) co_return;
  State state = marks_.front();
  if (state.records == saved_.records) co_return;
  co_await writer_->written();
  co_await reactor_.sync(output_);
  co_await check_sums();
  co_await journal_.append(state);
  co_await give_back(saved_, state);
  saved_ = std::move(state);
  co_await reserve();
}

// A cut need not be durable: what it removed is not needed any more, and a resumption cuts it off again.
Task<void> Checkpoints::give_back(const State& before, const State& after) {
  for (std::uint64_t run = 0; run < layout_.runs(); ++run) {
    const std::uint64_t size = layout_.run_file_bytes(run, after.consumed[run]);
    if (size >= layout_.run_file_bytes(run, before.consumed[run])) continue;
    if (layout_.packs && size > 0)
      co_await store_.release_until(numbers_[run], block_in_store(run, after.consumed[run]));
    else
      storage_.set_size(store_.run(numbers_[run]).file(), size);
  }
}

std::uint64_t Checkpoints::run_bytes(const State& state) const noexcept {
  std::uint64_t bytes = layout_.cut_units_bytes();
  for (std::uint64_t run = 0; run < layout_.runs(); ++run) bytes += run_bytes(run, state.consumed[run]);
  return bytes;
}

// Returns the bytes of a packed run from its first block on that is needed, as it is; no more than the layout says.
std::uint64_t Checkpoints::run_bytes(std::uint64_t run, std::uint64_t consumed) const noexcept {
  const std::uint64_t most = layout_.run_file_bytes(run, consumed);
  if (!layout_.packs || layout_.keeps_runs || most == 0) return most;
  const std::uint64_t begin = store_.begin_in_file(numbers_[run], block_in_store(run, consumed));
  return layout_.head_bytes + file_bytes_[run] - begin;
}

}  // namespace ecosort::demsort_inplace
