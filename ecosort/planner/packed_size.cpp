#include "planner/packed_size.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "planner/arithmetic.h"
#include "planner/logarithm.h"

namespace ecosort::planner {

namespace {

double doublings_of(std::uint64_t records) { return logarithm_of(static_cast<double>(std::max<std::uint64_t>(records, 1))); }

}  // namespace

void PackedSize::add(std::uint64_t run_records, std::vector<double> block_bytes) {
  const double sum = std::accumulate(block_bytes.begin(), block_bytes.end(), 0.0),
               mean = sum / static_cast<double>(block_bytes.size());
  points_.push_back({doublings_of(run_records), std::move(block_bytes), mean});
}

double PackedSize::on_line(const Point& from, const Point& to, double doublings) noexcept {
  return from.mean + (to.mean - from.mean) * (doublings - from.doublings) / (to.doublings - from.doublings);
}

// Beyond the last point on the line through the last three, or as many as there are: one doubling alone shows a part of a byte.
double PackedSize::mean_at(double doublings) const noexcept {
  if (points_.size() == 1) return points_.front().mean;
  const Point &last = points_.back(), &before = points_[points_.size() - std::min<std::size_t>(points_.size(), 3)];
  if (doublings >= last.doublings) return last.mean + on_line(before, last, doublings) - on_line(before, last, last.doublings);
  const auto above = std::ranges::upper_bound(points_.begin() + 1, points_.end() - 1, doublings, {}, &Point::doublings);
  return on_line(*(above - 1), *above, doublings);
}

// The blocks of the nearest point show how sizes differ, and so how many pages are taken on average.
std::uint64_t PackedSize::run_bytes(const RunBlock& run_block, std::uint64_t records) const {
  const double doublings = doublings_of(records);
  const auto distance = [&](const Point& point) { return std::abs(point.doublings - doublings); };
  const Point& nearest = *std::ranges::min_element(points_, {}, distance);
  const double more = mean_at(doublings) - nearest.mean;
  const auto on_drive = [&](double part) {  // of a block that so much of has records
    double sum = 0;
    for (const double bytes : nearest.block_bytes) {
      const double whole = std::ceil(std::max((bytes + more) * part, 1.0) / page_bytes) * page_bytes;
      sum += std::min(whole, static_cast<double>(run_block.bytes));
    }
    return sum / static_cast<double>(nearest.block_bytes.size());
  };
  const std::uint64_t full = records / run_block.records, rest = records % run_block.records;
  const double last = rest == 0 ? 0 : on_drive(static_cast<double>(rest) / run_block.records);
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(full) * on_drive(1) + last));
}

std::uint64_t SampledPacking::run_bytes(const RunBlock& run_block, std::uint64_t records) const {
  return size.empty() ? run_blocks_of(run_block, records) * run_block.bytes : size.run_bytes(run_block, records);
}

}  // namespace ecosort::planner
