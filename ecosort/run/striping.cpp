#include "run/striping.h"

#include <algorithm>

namespace ecosort::run {

namespace {

constexpr std::size_t pattern_units = 64;

}  // namespace

std::vector<std::string> Striping::place(io::Storage& storage, std::uint64_t bytes) {
  if (directories_.size() == 1) return directories_;
  if (!shares_) shares_.emplace(storage, directories_);
  if (unit_bytes_ == 0) return {directories_[shares_->next(std::max<std::uint64_t>(bytes, 1))]};
  if (pattern_.empty()) choose_pattern();
  return directories_;
}

// Directories get units in proportion to their free space, spread evenly (largest remaining share first).
void Striping::choose_pattern() {
  const std::size_t units = std::max<std::size_t>(pattern_units, directories_.size());
  std::vector<std::uint32_t> given(directories_.size(), 0);
  pattern_rank_.assign(directories_.size(), {});
  const auto note_ranks = [&] {
    for (std::size_t d = 0; d < directories_.size(); ++d) pattern_rank_[d].push_back(given[d]);
  };
  for (std::size_t unit = 0; unit < units; ++unit) {
    const std::size_t best = shares_->next();
    note_ranks();
    pattern_.push_back(static_cast<std::uint8_t>(best));
    ++given[best];
  }
  note_ranks();
}

Striping::Piece Striping::locate(std::uint64_t offset, std::uint64_t size) const {
  if (pattern_.empty()) return {0, offset, size};
  const std::uint64_t unit = offset / unit_bytes_;
  const std::uint64_t within = offset % unit_bytes_;
  const std::size_t position = unit % pattern_.size();
  const std::uint32_t stripe = pattern_[position];
  const std::uint64_t unit_in_stripe = unit / pattern_.size() * pattern_rank_[stripe].back() + pattern_rank_[stripe][position];
  return {stripe, unit_in_stripe * unit_bytes_ + within, std::min(size, unit_bytes_ - within)};
}

std::uint64_t Striping::stripe_bytes(std::uint32_t stripe, std::uint64_t run_bytes) const {
  if (pattern_.empty()) return run_bytes;
  const std::uint64_t units = run_bytes / unit_bytes_, rest = run_bytes % unit_bytes_;
  std::uint64_t bytes =
      (units / pattern_.size() * pattern_rank_[stripe].back() + pattern_rank_[stripe][units % pattern_.size()]) * unit_bytes_;
  if (rest > 0 && pattern_[units % pattern_.size()] == stripe) bytes += rest;
  return bytes;
}

}  // namespace ecosort::run
