#include "sorting/radix_digit.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/cpu_features.h"

namespace ecosort::sorting {

namespace {

// An entry in one register: its prefix, then its extension and its index.
using EntryWords [[gnu::vector_size(sizeof(Entry))]] = std::uint64_t;

EntryWords words_of(const Entry& entry) noexcept {
  EntryWords words;
  std::memcpy(&words, &entry, sizeof words);
  return words;
}

}  // namespace

KeyBits differing_bits(const Entry* entries, std::size_t n) noexcept {
  if (n == 0) return {};
  const EntryWords first = words_of(entries[0]);
  EntryWords bits{};
  for (std::size_t i = 1; i < n; ++i) bits |= words_of(entries[i]) ^ first;
  return {bits[0], static_cast<std::uint32_t>(bits[1])};
}

namespace {

// Runs of ones of a word from the top; `length` 0 where there is none left.
struct Segment {
  unsigned low = 0;
  unsigned length = 0;
};

Segment take_segment(std::uint64_t& bits, unsigned wanted) noexcept {
  if (bits == 0 || wanted == 0) return {};
  const auto above = static_cast<unsigned>(std::countl_zero(bits));
  const auto ones = static_cast<unsigned>(std::countl_one(bits << above));
  const unsigned length = std::min(ones, wanted);
  const unsigned low = 64 - above - length;
  bits &= (std::uint64_t{1} << low) - 1;
  return {low, length};
}

// Adds segments to a plan, whose digit they are.
void plan_segments(DigitPlan& plan, KeyBits differing, unsigned wanted) noexcept {
  Segment segments[DigitPlan::max_segments];
  for (unsigned i = 0; i < DigitPlan::prefix_segments; ++i) {
    segments[i] = take_segment(differing.prefix, wanted - plan.bits);
    plan.bits += segments[i].length;
    plan.used_prefix_segments += segments[i].length != 0;
  }
  if (differing.prefix == 0) {  // else its next bit comes before the extension
    std::uint64_t left = differing.extension;
    for (unsigned i = DigitPlan::prefix_segments; i < DigitPlan::max_segments; ++i) {
      segments[i] = take_segment(left, wanted - plan.bits);
      plan.bits += segments[i].length;
      plan.extension_bits += segments[i].length;
    }
  }
  unsigned below = plan.bits;  // digit bits under the current segment
  for (unsigned i = 0; i < DigitPlan::max_segments; ++i) {
    if (segments[i].length == 0) continue;
    below -= segments[i].length;
    const std::uint64_t ones = (std::uint64_t{1} << segments[i].length) - 1;
    plan.shift[i] = static_cast<int>(segments[i].low) - static_cast<int>(below);
    plan.mask[i] = ones << below;
    if (i < DigitPlan::prefix_segments)
      plan.covered.prefix |= ones << segments[i].low;
    else
      plan.covered.extension |= static_cast<std::uint32_t>(ones << segments[i].low);
  }
}

#if defined(__x86_64__)
// The `count` highest bits of those that are set.
std::uint64_t highest_bits(std::uint64_t bits, unsigned count) noexcept {
  const auto others = static_cast<unsigned>(std::popcount(bits)) - count;
  return others == 0 ? bits : bits & ~deposit_bits((std::uint64_t{1} << others) - 1, bits);
}

void plan_extraction(DigitPlan& plan, KeyBits differing, unsigned wanted) noexcept {
  const unsigned of_prefix = std::min(wanted, static_cast<unsigned>(std::popcount(differing.prefix)));
  plan.extension_bits = std::min(wanted - of_prefix, static_cast<unsigned>(std::popcount(differing.extension)));
  plan.bits = of_prefix + plan.extension_bits;
  plan.covered.prefix = highest_bits(differing.prefix, of_prefix);
  plan.covered.extension = static_cast<std::uint32_t>(highest_bits(differing.extension, plan.extension_bits));
  plan.is_extracted = true;
}
#endif

}  // namespace

DigitBits digit_bits() {
  static const DigitBits bits = extracts_bits_fast() ? DigitBits::extracted : DigitBits::of_segments;
  return bits;
}

DigitPlan plan_digit(KeyBits differing, unsigned wanted, DigitBits from) {
  DigitPlan plan;
#if defined(__x86_64__)
  if (from == DigitBits::extracted) {
    plan_extraction(plan, differing, wanted);
    return plan;
  }
#else
  static_cast<void>(from);
#endif
  plan_segments(plan, differing, wanted);
  return plan;
}

KeyBits DigitPlan::remaining(KeyBits differing) const noexcept {
  return {differing.prefix & ~covered.prefix, differing.extension & ~covered.extension};
}

bool DigitPlan::leads(KeyBits differing) const noexcept {
  const KeyBits missed = remaining(differing);
  if (covered.none()) return differing.none();
  if (covered.extension == 0) return missed.prefix >> std::countr_zero(covered.prefix) == 0;
  return missed.prefix == 0 && missed.extension >> std::countr_zero(covered.extension) == 0;
}

}  // namespace ecosort::sorting
