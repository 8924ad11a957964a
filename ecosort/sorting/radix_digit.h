// A digit is the bits of the 96-bit key (prefix, extension) that a radix pass looks at.
//
// Only bits that differ somewhere in the range can order it, and text leaves holes between them: the bytes of ASCII keys never
// use their top bit. A digit therefore collects the most significant differing bits: all that it has room for where a processor
// extracts them with one instruction, elsewhere those of a few segments of the key. Entries that agree in all more significant
// bits are ordered by the digit.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "sorting/entry.h"

namespace ecosort::sorting {

inline bool key_less(const Entry& a, const Entry& b) noexcept {
  return a.prefix != b.prefix ? a.prefix < b.prefix : a.extension < b.extension;
}
inline bool key_equal(const Entry& a, const Entry& b) noexcept { return a.prefix == b.prefix && a.extension == b.extension; }

// A set of bits of the key; mostly those in which some entries of a range differ.
struct KeyBits {
  std::uint64_t prefix = 0;
  std::uint32_t extension = 0;

  [[nodiscard]] bool none() const noexcept { return prefix == 0 && extension == 0; }
  void add_difference(const Entry& a, const Entry& b) noexcept {
    prefix |= a.prefix ^ b.prefix;
    extension |= a.extension ^ b.extension;
  }
  KeyBits& operator|=(const KeyBits& other) noexcept {
    prefix |= other.prefix;
    extension |= other.extension;
    return *this;
  }
};

KeyBits differing_bits(const Entry* entries, std::size_t n) noexcept;

enum class DigitBits { extracted, of_segments };

// Returns that of this processor.
[[nodiscard]] DigitBits digit_bits();

struct DigitPlan {
  static constexpr unsigned prefix_segments = 3;
  static constexpr unsigned extension_segments = 2;
  static constexpr unsigned max_segments = prefix_segments + extension_segments;

  KeyBits covered;                        // the bits that the digit has
  unsigned bits = 0;                      // width of the digit; 0 where no bit differs
  unsigned extension_bits = 0;            // of these
  bool is_extracted = false;              // else it has segments
  unsigned used_prefix_segments = 0;      // those of the prefix come first, those of the extension at index prefix_segments
  int shift[max_segments] = {};           // rotates a segment right to its place in the digit,
  std::uint64_t mask[max_segments] = {};  // which the mask marks; 0 for an unused segment

  [[nodiscard]] std::size_t values() const noexcept { return std::size_t{1} << bits; }
  // The bits of `differing` that still order entries of equal digit.
  [[nodiscard]] KeyBits remaining(KeyBits differing) const noexcept;
  // Returns whether the digit orders entries that differ in these bits: no differing bit is above its lowest without being in it.
  [[nodiscard]] bool leads(KeyBits differing) const noexcept;
};

// The digit of at most `wanted` bits (1 ... 31) that leads `differing`.
DigitPlan plan_digit(KeyBits differing, unsigned wanted, DigitBits from);
inline DigitPlan plan_digit(KeyBits differing, unsigned wanted) { return plan_digit(differing, wanted, digit_bits()); }

template <unsigned PrefixSegments, bool UsesExtension>
struct Digit {
  const DigitPlan& plan;

  std::uint32_t operator()(const Entry& entry) const noexcept {
    std::uint64_t digit = std::rotr(entry.prefix, plan.shift[0]) & plan.mask[0];
    if constexpr (PrefixSegments > 1) digit |= std::rotr(entry.prefix, plan.shift[1]) & plan.mask[1];
    if constexpr (PrefixSegments > 2) digit |= std::rotr(entry.prefix, plan.shift[2]) & plan.mask[2];
    if constexpr (UsesExtension) {
      constexpr unsigned first = DigitPlan::prefix_segments;
      digit |= std::uint64_t{entry.extension} >> plan.shift[first] & plan.mask[first];
      digit |= std::uint64_t{entry.extension} >> plan.shift[first + 1] & plan.mask[first + 1];
    }
    return static_cast<std::uint32_t>(digit);
  }
};

#if defined(__x86_64__)
// The bits of a mask, side by side, and back. Where digits are extracted alone: the loops around are compiled for any x86-64, so
// that the compiler refuses its own functions for these instructions there.
inline std::uint64_t extract_bits(std::uint64_t word, std::uint64_t mask) noexcept {
  std::uint64_t bits = 0;
  asm("pext %2, %1, %0" : "=r"(bits) : "r"(word), "r"(mask));
  return bits;
}
inline std::uint64_t deposit_bits(std::uint64_t bits, std::uint64_t mask) noexcept {
  std::uint64_t word = 0;
  asm("pdep %2, %1, %0" : "=r"(word) : "r"(bits), "r"(mask));
  return word;
}

template <bool uses_extension>
struct ExtractedDigit {
  KeyBits covered;
  unsigned extension_bits;

  std::uint32_t operator()(const Entry& entry) const noexcept {
    std::uint64_t digit = extract_bits(entry.prefix, covered.prefix);
    if constexpr (uses_extension) digit = digit << extension_bits | extract_bits(entry.extension, covered.extension);
    return static_cast<std::uint32_t>(digit);
  }
};
#endif

// Calls use(digit) with the digit of the plan's shape, so that inner loops know the number of segments.
template <class Use>
auto with_digit(const DigitPlan& plan, Use&& use) {
#if defined(__x86_64__)
  if (plan.is_extracted && plan.extension_bits == 0) return use(ExtractedDigit<false>{plan.covered, 0});
  if (plan.is_extracted) return use(ExtractedDigit<true>{plan.covered, plan.extension_bits});
#endif
  if (plan.extension_bits > 0) return use(Digit<DigitPlan::prefix_segments, true>{plan});
  if (plan.used_prefix_segments <= 1) return use(Digit<1, false>{plan});
  if (plan.used_prefix_segments == 2) return use(Digit<2, false>{plan});
  return use(Digit<3, false>{plan});
}

}  // namespace ecosort::sorting
