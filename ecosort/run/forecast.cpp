#include "run/forecast.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"

namespace ecosort::run {

Forecast::Forecast(const planner::RecordPlan& plan)
    : stride_(plan.forecast_stride),
      stride_is_fixed_(!plan.wanted.size_unknown),
      most_entries_(plan.forecast_bytes / planner::forecast_entry_bytes / 2),
      most_stride_(plan.most_forecast_stride),
      memory_bytes_(plan.wanted.memory_bytes) {}

void Forecast::add_run(std::uint64_t run_blocks) {
  while (!stride_is_fixed_ && entries_ + div_up(run_blocks, stride_) > most_entries_) thin();
  runs_.emplace_back(div_up(run_blocks, stride_));
  entries_ += runs_.back().size();
}

void Forecast::drop_run(std::size_t run) {
  entries_ -= runs_[run].size();
  std::vector<ForecastKey>().swap(runs_[run]);
}

void Forecast::renew_run(std::size_t run, std::uint64_t run_blocks) {
  runs_[run].resize(div_up(run_blocks, stride_));
  entries_ += runs_[run].size();
}

void Forecast::take_in_keys(const records::Encoder& encoder, std::span<const std::byte* const> sample) {
  move_keys(encoder, shared_key_.take_in(encoder, sample));
}

void Forecast::take_in_unknown(const records::Encoder& encoder) { move_keys(encoder, shared_key_.take_in_unknown()); }

// The keys were made at `depth`.
void Forecast::move_keys(const records::Encoder& encoder, std::uint64_t depth) {
  if (depth == shared_key_.depth()) return;
  for (std::vector<ForecastKey>& run : runs_)
    for (ForecastKey& key : run) key = shared_key_.moved(encoder, key, depth);
}

void Forecast::set(std::size_t run, std::uint64_t run_block, const records::Encoder& encoder, const std::byte* first) {
  if (run_block % stride_ == 0) runs_[run][run_block / stride_] = shared_key_.key_of(encoder, first);
}

std::vector<ForecastKey> Forecast::unshared_keys(std::size_t run, const records::Encoder& encoder) const {
  std::vector<ForecastKey> keys = runs_[run];
  for (ForecastKey& key : keys) key = shared_key_.unshared(encoder, key);
  return keys;
}

// Twice as many run blocks per entry. NotEnoughMemory where the merge could not do with so few keys, at once: its runs would be
// of no use.
void Forecast::thin() {
  if (stride_ >= most_stride_)
    throw NotEnoughMemory(fmt::format("the input is too long for {} of memory: its {} runs are all that can be merged",
                                      format_bytes(memory_bytes_), runs_.size()),
                          memory_bytes_, 8 * memory_bytes_);
  stride_ *= 2;
  entries_ = 0;
  for (std::vector<ForecastKey>& run : runs_) {
    std::vector<ForecastKey> thinned;
    thinned.reserve(run.size() / 2 + 1);
    for (std::size_t i = 0; i < run.size(); i += 2) thinned.push_back(run[i]);
    run.swap(thinned);
    entries_ += run.size();
  }
}

}  // namespace ecosort::run
