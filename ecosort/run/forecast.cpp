#include "run/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"

namespace ecosort::run {

Forecast::Forecast(const planner::RecordPlan& plan)
    : stride_(plan.forecast_stride),
      stride_is_fixed_(!plan.wanted.size_unknown),
      most_entries_(plan.forecast_bytes / planner::forecast_entry_bytes / 2),
      most_stride_(plan.most_forecast_stride),
      memory_bytes_(plan.wanted.memory_bytes),
      window_(plan.forecast_window) {}

void Forecast::add_run(std::uint64_t run_blocks) {
  while (!stride_is_fixed_ && entries_ + div_up(run_blocks, stride_) > most_entries_) thin();
  const std::uint64_t entries = div_up(run_blocks, stride_);
  runs_.push_back({.entries = entries, .keys = std::vector<ForecastKey>(window_ == 0 ? entries : 0)});
  entries_ += entries;
}

void Forecast::drop_run(std::size_t run) {
  entries_ -= runs_[run].entries;
  runs_[run] = {};
}

void Forecast::renew_run(std::size_t run, std::uint64_t run_blocks) {
  runs_[run].entries = div_up(run_blocks, stride_);
  runs_[run].keys.resize(runs_[run].entries);
  entries_ += runs_[run].entries;
}

void Forecast::take_in_keys(const records::Encoder& encoder, std::span<const std::byte* const> sample) {
  move_keys(encoder, shared_key_.take_in(encoder, sample));
}

void Forecast::take_in_unknown(const records::Encoder& encoder) { move_keys(encoder, shared_key_.take_in_unknown()); }

// The keys were made at `depth`.
void Forecast::move_keys(const records::Encoder& encoder, std::uint64_t depth) {
  if (depth == shared_key_.depth()) return;
  for (Keys& run : runs_)
    for (ForecastKey& key : run.keys) key = shared_key_.moved(encoder, key, depth);
}

void Forecast::set(std::size_t run, std::uint64_t run_block, ForecastKey key) {
  Keys& of_run = runs_[run];
  if (of_run.keys.size() < of_run.entries) of_run.keys.resize(of_run.entries);
  of_run.keys[run_block / stride_] = key;
}

void Forecast::set(std::size_t run, std::uint64_t run_block, const records::Encoder& encoder, const std::byte* first) {
  if (run_block % stride_ == 0) set(run, run_block, shared_key_.key_of(encoder, first));
}

void Forecast::keep_window(std::size_t run) {
  if (window_ == 0) return;
  const std::vector<ForecastKey>& all = runs_[run].keys;
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(window_, all.size()));
  runs_[run].keys = std::vector<ForecastKey>(all.begin(), end);
}

bool Forecast::knows(std::size_t run, std::uint64_t run_block) const {
  if (window_ == 0 || are_equal_) return true;
  const Keys& of_run = runs_[run];
  return std::min(run_block / stride_, of_run.entries - 1) < of_run.first + of_run.keys.size();
}

Task<void> Forecast::move_window(std::size_t run, std::uint64_t from) {
  const std::uint64_t end = runs_[run].first + runs_[run].keys.size();
  const std::vector<ForecastKey> more =
      co_await source_->read(run, end, std::min(std::max<std::uint64_t>(lead(), 1), runs_[run].entries - end));
  Keys& of_run = runs_[run];
  const std::uint64_t first = std::min(from / stride_, end);
  std::vector<ForecastKey> keys;
  keys.reserve(end - first + more.size());
  keys.insert(keys.end(), of_run.keys.end() - static_cast<std::ptrdiff_t>(end - first), of_run.keys.end());
  keys.insert(keys.end(), more.begin(), more.end());
  of_run.first = first;
  of_run.keys = std::move(keys);
}

std::vector<ForecastKey> Forecast::unshared_keys(std::size_t run, const records::Encoder& encoder) const {
  std::vector<ForecastKey> keys = runs_[run].keys;
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
  for (Keys& run : runs_) {
    std::vector<ForecastKey> thinned;
    thinned.reserve(run.keys.size() / 2 + 1);
    for (std::size_t i = 0; i < run.keys.size(); i += 2) thinned.push_back(run.keys[i]);
    run.keys.swap(thinned);
    run.entries = run.keys.size();
    entries_ += run.entries;
  }
}

}  // namespace ecosort::run
