#include "records/radix_digit.h"

#include <algorithm>
#include <bit>

namespace ecosort::records {

KeyBits differing_bits(const Entry* entries, std::size_t n) noexcept {
  KeyBits bits;
  for (std::size_t i = 1; i < n; ++i) bits.add_difference(entries[i], entries[0]);
  return bits;
}

DigitPlan plan_digit(KeyBits differing, unsigned wanted) noexcept {
  DigitPlan plan;
  plan.in_extension = differing.prefix == 0;
  std::uint64_t left = plan.in_extension ? differing.extension : differing.prefix;
  unsigned low[DigitPlan::max_segments] = {};
  unsigned length[DigitPlan::max_segments] = {};
  while (left != 0 && plan.bits < wanted && plan.segments < DigitPlan::max_segments) {
    const auto above = static_cast<unsigned>(std::countl_zero(left));
    const auto ones = static_cast<unsigned>(std::countl_one(left << above));
    const unsigned taken = std::min(ones, wanted - plan.bits);
    low[plan.segments] = 64 - above - taken;
    length[plan.segments] = taken;
    left &= (std::uint64_t{1} << low[plan.segments]) - 1;
    plan.bits += taken;
    ++plan.segments;
  }
  unsigned below = plan.bits;  // digit bits under the current segment
  for (unsigned i = 0; i < plan.segments; ++i) {
    below -= length[i];
    plan.shift[i] = low[i] - below;
    plan.mask[i] = ((std::uint64_t{1} << length[i]) - 1) << below;
  }
  return plan;
}

std::uint64_t DigitPlan::covered() const noexcept {
  std::uint64_t bits_of_word = 0;
  for (unsigned i = 0; i < segments; ++i) bits_of_word |= mask[i] << shift[i];
  return bits_of_word;
}

KeyBits DigitPlan::remaining(KeyBits differing) const noexcept {
  if (in_extension) return {0, differing.extension & ~static_cast<std::uint32_t>(covered())};
  return {differing.prefix & ~covered(), differing.extension};
}

bool DigitPlan::leads(KeyBits differing) const noexcept {
  const std::uint64_t digit = covered();
  if (in_extension && differing.prefix != 0) return false;
  if (digit == 0) return differing.none();
  const std::uint64_t word = in_extension ? differing.extension : differing.prefix;
  const std::uint64_t from_lowest = ~std::uint64_t{0} << std::countr_zero(digit);
  return (word & from_lowest & ~digit) == 0;
}

}  // namespace ecosort::records
