// Which bits of the 96-bit key (prefix, extension) a radix pass looks at.
//
// Only bits that differ somewhere in the range can order it, and text leaves holes between them: the bytes of ASCII keys never
// use their top bit. A digit therefore collects the most significant differing bits from up to three segments of one word of the
// key. Entries that agree in all more significant bits are ordered by the digit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "records/entry.h"

namespace ecosort::records {

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

struct DigitPlan {
  static constexpr unsigned max_segments = 3;
  bool in_extension = false;  // the digit lies in the extension, else in the prefix
  unsigned segments = 0;      // 0: no bit differs
  unsigned bits = 0;          // width of the digit
  unsigned shift[max_segments] = {};
  std::uint64_t mask[max_segments] = {};  // where the shifted segments lie in the digit

  [[nodiscard]] std::size_t values() const noexcept { return std::size_t{1} << bits; }
  // The bits of `differing` that still order entries of equal digit.
  [[nodiscard]] KeyBits remaining(KeyBits differing) const noexcept;
  // Whether the digit orders entries that differ in these bits: no differing bit is above its lowest without being in it.
  [[nodiscard]] bool leads(KeyBits differing) const noexcept;

 private:
  [[nodiscard]] std::uint64_t covered() const noexcept;
};

// The digit of at most `wanted` bits (1 ... 16) that leads `differing`.
DigitPlan plan_digit(KeyBits differing, unsigned wanted) noexcept;

template <unsigned Segments, bool InExtension>
struct Digit {
  const DigitPlan& plan;

  std::uint32_t operator()(const Entry& entry) const noexcept {
    const std::uint64_t word = InExtension ? entry.extension : entry.prefix;
    std::uint64_t digit = word >> plan.shift[0] & plan.mask[0];
    if constexpr (Segments > 1) digit |= word >> plan.shift[1] & plan.mask[1];
    if constexpr (Segments > 2) digit |= word >> plan.shift[2] & plan.mask[2];
    return static_cast<std::uint32_t>(digit);
  }
};

// Calls use(digit) with the Digit of the plan's shape, so that inner loops know the number of segments.
template <class Use>
auto with_digit(const DigitPlan& plan, Use&& use) {
  if (plan.in_extension) return use(Digit<DigitPlan::max_segments, true>{plan});
  if (plan.segments <= 1) return use(Digit<1, false>{plan});
  if (plan.segments == 2) return use(Digit<2, false>{plan});
  return use(Digit<3, false>{plan});
}

}  // namespace ecosort::records
