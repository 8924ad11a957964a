#include "sorting/radix_digit.h"

#include <algorithm>
#include <bit>
#include <cstring>

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

}  // namespace

DigitPlan plan_digit(KeyBits differing, unsigned wanted) noexcept {
  DigitPlan plan;
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
      plan.uses_extension |= segments[i].length != 0;
    }
  }
  unsigned below = plan.bits;  // digit bits under the current segment
  for (unsigned i = 0; i < DigitPlan::max_segments; ++i) {
    if (segments[i].length == 0) continue;
    below -= segments[i].length;
    plan.shift[i] = static_cast<int>(segments[i].low) - static_cast<int>(below);
    plan.mask[i] = ((std::uint64_t{1} << segments[i].length) - 1) << below;
  }
  return plan;
}

KeyBits DigitPlan::covered() const noexcept {
  KeyBits bits_of_key;
  for (unsigned i = 0; i < prefix_segments; ++i) bits_of_key.prefix |= std::rotl(mask[i], shift[i]);
  for (unsigned i = prefix_segments; i < max_segments; ++i)
    bits_of_key.extension |= static_cast<std::uint32_t>(mask[i] << shift[i]);
  return bits_of_key;
}

KeyBits DigitPlan::remaining(KeyBits differing) const noexcept {
  const KeyBits digit = covered();
  return {differing.prefix & ~digit.prefix, differing.extension & ~digit.extension};
}

bool DigitPlan::leads(KeyBits differing) const noexcept {
  const KeyBits digit = covered();
  const KeyBits missed = remaining(differing);
  if (digit.none()) return differing.none();
  if (digit.extension == 0) return missed.prefix >> std::countr_zero(digit.prefix) == 0;
  return missed.prefix == 0 && missed.extension >> std::countr_zero(digit.extension) == 0;
}

}  // namespace ecosort::sorting
