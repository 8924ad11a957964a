// Checks the output while it lies in the cache: the hash of its records, and their order (promise P1). That also counts
// neighbours with equal keys.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/fixed/tally.h"
#include "formats/records/encoder.h"

namespace ecosort::engine::fixed {

struct Checked {
  Tally tally;
  bool in_order = true;           // every adjacent pair
  std::uint64_t equal_pairs = 0;  // of these, with equal keys

  // An adjacent pair that compares like `order` with 0.
  void add_pair(int order) noexcept {
    in_order &= order <= 0;
    equal_pairs += order == 0 ? 1U : 0U;
  }
};

// Returns how many records to merge before they are checked, so that they are still in the first-level cache.
[[nodiscard]] std::uint64_t records_per_check(const records::Encoder& encoder) noexcept;

// Compares `a` with `b`: less than, equal to or greater than 0. The second function returns whether `b` may follow `a`.
[[nodiscard]] int compare_pair(const std::byte* a, const std::byte* b, const records::Encoder& encoder) noexcept;
[[nodiscard]] bool pair_in_order(const std::byte* a, const std::byte* b, const records::Encoder& encoder) noexcept;

// Checks contiguous records as they come into being. One object per thread and piece of work.
class OutputCheck {
 public:
  // Without `hashes`, records are counted only.
  explicit OutputCheck(const records::Encoder& encoder, bool hashes = true) : encoder_(encoder), hashes_(hashes) {}

  // The next `count` records; they follow those of the call before in memory.
  void add(const std::byte* records, std::uint64_t count);

  [[nodiscard]] const Checked& result() const noexcept { return result_; }

 private:
  const records::Encoder& encoder_;
  bool hashes_;
  const std::byte* last_ = nullptr;
  Checked result_;
};

// Contiguous records, at once.
[[nodiscard]] Checked check_records(const std::byte* records, std::uint64_t count, const records::Encoder& encoder);

}  // namespace ecosort::engine::fixed
