#include "demsort_inplace/line_checkpoints.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"

namespace ecosort::demsort_inplace {

void check_taken(const hash::MultisetHash& in, const hash::MultisetHash& out) {
  if (in == out) return;
  throw VerificationError(
      fmt::format("verification failed: {} lines with hash {} were taken from the runs, {} with hash {} were put into the "
                  "output; the runs still hold what the last checkpoint does not",
                  in.count, in.to_hex(), out.count, out.to_hex()));
}

LineCheckpoints::LineCheckpoints(LinesBench& bench, engine::rows::LineSink& sink, State from, GivenRuns* given)
    : bench_(bench), sink_(sink), from_(std::move(from)), saved_bytes_(from_.lines->bytes), given_(given) {}

bool LineCheckpoints::wants_place(std::uint64_t bytes) {
  return bench_.interrupted.load() != 0 || bytes >= saved_bytes_ + bench_.header.layout.interval_bytes;
}

State LineCheckpoints::state_at(const hash::MultisetHash& out, const hash::MultisetHash& dropped, std::uint64_t bytes) const {
  State state = from_;
  state.hash += out;
  state.records = state.hash.count;
  state.lines->dropped += dropped;
  state.lines->bytes = bytes;
  return state;
}

State LineCheckpoints::end(const engine::rows::MergedLines& merged, std::uint64_t bytes) const {
  return state_at(merged.out, merged.dropped, bytes);
}

// A line that is longer than an interval leaves nothing to save.
Task<void> LineCheckpoints::at(engine::rows::MergePlace place) {
  const int signal_number = bench_.interrupted.load();
  if (place.bytes > saved_bytes_) {
    co_await sink_.settle();
    bench_.reactor.scope().throw_if_failed();
    co_await bench_.reactor.sync(*bench_.files.output);
    if (given_ != nullptr) check_taken(place.in, place.out + place.dropped);
    State state = state_at(place.out, place.dropped, place.bytes);
    state.lines->last_row = place.last_row;
    state.consumed = std::move(place.runs);
    co_await bench_.journal->append(state);
    saved_bytes_ = place.bytes;
    if (given_ != nullptr) co_await given_->give(state.consumed);
  }
  if (signal_number != 0) throw Interrupted(signal_number);
}

}  // namespace ecosort::demsort_inplace
