#include "engine/partition/classifier.h"

#include <bit>
#include <utility>

namespace ecosort::engine::partition {
namespace {

constexpr std::size_t at_once = 8;  // searches side by side, because one alone waits for itself at every step

}  // namespace

Classifier::Classifier(const std::vector<Splitter>& splitters, std::vector<records::KeyWindow> windows, std::uint64_t source)
    : splitters_(splitters), windows_(std::move(windows)), group_end_(windows_.size()), source_(source) {
  prefixes_.assign(std::bit_ceil(windows_.size() + 1), UINT64_MAX);
  for (std::size_t i = 0; i < windows_.size(); ++i) prefixes_[i] = windows_[i].prefix;
  for (std::size_t i = windows_.size(); i-- > 0;) {
    const bool goes_on = i + 1 < windows_.size() && windows_[i + 1].prefix == windows_[i].prefix;
    group_end_[i] = goes_on ? group_end_[i + 1] : static_cast<std::uint32_t>(i + 1);
  }
}

void Classifier::count_below(const sorting::Entry* rows, std::size_t n, PartNumber* counts) const {
  const std::uint64_t* const prefixes = prefixes_.data();
  // A condition that becomes a number: compilers make a branch of ?:, which no one can predict.
  const auto step = [prefixes](std::size_t at, std::size_t half, std::uint64_t prefix) {
    return at + (half & (std::size_t{0} - static_cast<std::size_t>(prefixes[at + half - 1] < prefix)));
  };
  std::size_t i = 0;
  for (; i + at_once <= n; i += at_once) {
    std::size_t at[at_once] = {};
    for (std::size_t half = prefixes_.size() / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
      for (std::size_t j = 0; j < at_once; ++j) at[j] = step(at[j], half, rows[i + j].prefix);
    }
    for (std::size_t j = 0; j < at_once; ++j) counts[i + j] = static_cast<PartNumber>(at[j]);
  }
  for (; i < n; ++i) {
    std::size_t at = 0;
    for (std::size_t half = prefixes_.size() / 2; half > 0; half /= 2) at = step(at, half, rows[i].prefix);
    counts[i] = static_cast<PartNumber>(at);
  }
}

}  // namespace ecosort::engine::partition
