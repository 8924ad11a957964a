// Hashes lines of an output block a little after they were put there: what a processor has just written in small pieces it cannot
// read back in large ones without waiting for its stores.
#pragma once

#include <cstddef>

#include "formats/lines/line_kernels.h"
#include "formats/lines/text.h"
#include "hash/multiset_hash.h"

namespace ecosort::lines {

class LateHash {
 public:
  explicit LateHash(const LineKernels& kernels) : sum_of_(kernels.sum) {}

  // The line stays where it is until settle().
  void add(Text line) noexcept {
    if (count_ == most) settle();
    waiting_[count_++] = {line.data(), line.size()};
  }

  // Hashes what waits.
  void settle() noexcept {
    const LineHash sum = sum_of_(waiting_, count_);
    sum_.low += sum.low;
    sum_.high += sum.high;
    sum_.count += count_;
    count_ = 0;
  }

  // Returns the sum of all lines that are settled.
  [[nodiscard]] const hash::MultisetHash& sum() const noexcept { return sum_; }

 private:
  static constexpr std::size_t most = 32;  // some KB: they are still in the nearest cache

  decltype(LineKernels::sum) sum_of_;
  LinePlace waiting_[most];
  std::size_t count_ = 0;
  hash::MultisetHash sum_;
};

}  // namespace ecosort::lines
