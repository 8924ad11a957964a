// Run formation with a limit: window after window is read, and in turn each gives what may be wanted to the kept buffer.
//
//   slot 0 | the kept buffer |    slot 1 | window 7: looked at |    slot 2 | window 8: arrives |    slot 3 | window 9: requested
//   |
#include <algorithm>
#include <numeric>

#include "engine/fixed/form_runs.h"

namespace ecosort::engine::fixed {
namespace {

// Windows are so small that their pages are few, and so large that the drive has enough to do.
constexpr std::uint64_t window_bytes = std::uint64_t{8} << 20U;

}  // namespace

// A window of whole units of the inputs reads no byte twice.
std::uint64_t FormRuns::window_records() const {
  const std::uint64_t size = encoder_.record_size(), alignment = plan_.wanted.input_alignment;
  const std::uint64_t unit = alignment / std::gcd(alignment, size);
  const std::uint64_t most = std::max<std::uint64_t>(std::min(window_bytes / size, plan_.formation.run_records), 1);
  return most >= unit ? round_down(most, unit) : most;
}

Task<void> FormRuns::form_limited(LimitRecords& limit, std::optional<std::uint64_t> records) {
  co_await free_slots_.take();
  Keeping keeping{limit, take_slot(), 0, Signal(reactor_.scope())};
  RunBuffer& kept = slots_[keeping.slot].run;
  limit.begin(kept);
  TaskGroup windows(reactor_.scope());
  windows.spawn(read_windows(windows, keeping, records));
  co_await windows.join();
  co_await cut_kept(keeping);
  if (kept.count > 0 && !formed_.stored.empty()) co_await store_kept(keeping);
  if (kept.count > 0) {
    formed_.records.push_back(kept.count);
    resident_slots_.push_back(keeping.slot);
  }
  formed_.in_inputs.resize(formed_.stored.size());
}

Task<void> FormRuns::read_windows(TaskGroup& windows, Keeping& keeping, std::optional<std::uint64_t> records) {
  const std::uint64_t size = window_records();
  std::uint64_t first = 0;
  for (std::uint64_t number = 0; !records || first < *records; ++number) {
    co_await free_slots_.take();
    const std::size_t slot = take_slot();
    if (records) {
      windows.spawn(read_and_keep(slot, number, first, std::min(size, *records - first), keeping));
      first += size;
      continue;
    }
    RunBuffer& window = slots_[slot].run;
    co_await reader_.fill_from_stream(window, size, progress_);
    const bool is_last = window.count < size;
    windows.spawn(keep_first(slot, number, keeping));
    if (is_last) break;
  }
}

Task<void> FormRuns::read_and_keep(std::size_t slot, std::uint64_t number, std::uint64_t first, std::uint64_t count,
                                   Keeping& keeping) {
  co_await reader_.fill(slots_[slot].run, first, count, &progress_);
  co_await keep_first(slot, number, keeping);
}

Task<void> FormRuns::keep_first(std::size_t slot, std::uint64_t number, Keeping& keeping) {
  while (keeping.turn != number) co_await keeping.turned.changed();
  const RunBuffer& window = slots_[slot].run;
  RunBuffer& kept = slots_[keeping.slot].run;
  for (std::uint64_t taken = 0; taken < window.count;) {
    auto work = compute_.run([&] { taken = keeping.limit.take(window, taken, kept); });
    co_await work;
    if (!keeping.limit.has_enough(kept)) continue;
    co_await cut_kept(keeping);
    if (keeping.limit.is_crowded(kept)) co_await store_kept(keeping);
  }
  free_slot(slot);
  ++keeping.turn;
  keeping.turned.notify();
}

Task<void> FormRuns::cut_kept(Keeping& keeping) {
  RunBuffer& kept = slots_[keeping.slot].run;
  co_await sort_index(kept);
  auto work = compute_.run([&] { keeping.limit.cut(kept, scratch_.as<sorting::Entry>().data()); });
  co_await work;
}

// The slot stays what it is: windows that wait for their turn have the others.
Task<void> FormRuns::store_kept(Keeping& keeping) {
  check_may_store();
  RunBuffer& kept = slots_[keeping.slot].run;
  keeping.limit.count_stored(kept);
  store_.forecast().take_in_keys(encoder_, sample_of(kept, store_.forecast().shared_key().sample_size(encoder_)));
  formed_.records.push_back(kept.count);
  formed_.stored.push_back(store_.create(kept.count));
  Tally written;
  co_await write_run(kept, formed_.stored.back(), &written);
  formed_.written += written.hash;
  keeping.limit.begin(kept);
}

}  // namespace ecosort::engine::fixed
