// The windows of a row's keys, one behind the other, each made when the order of two rows first depends on it: so no field is
// found and read again in the next tie of the row.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "formats/records/encoder.h"
#include "formats/row_format.h"

namespace ecosort::lines {

// Compares rows that agree in all levels before this one, which may be behind the last one: negative where a goes first.
[[nodiscard]] inline int compare_at(const formats::RowFormat& order, Text a, Text b, unsigned level) {
  return level == order.levels() ? 0 : order.compare(a, b, level);
}

class KeyChain {
 public:
  KeyChain() = default;
  KeyChain(const KeyChain& other) noexcept { *this = other; }
  // Most chains are short.
  KeyChain& operator=(const KeyChain& other) noexcept {
    if (this == &other) return *this;
    std::copy_n(other.windows_, other.count_, windows_);
    begin_ = other.begin_;
    place_ = other.place_;
    count_ = other.count_;
    is_whole_ = other.is_whole_;
    return *this;
  }
  ~KeyChain() = default;

  // Returns whether windows show how rows with this first window differ, which may do so at `place` and behind it. Rows as they
  // are need none, because their bytes are at hand.
  [[nodiscard]] static bool can_begin(const formats::RowFormat& order, records::KeyWindow first, formats::KeyPlace place) {
    return has_window(order, place) && order.has_deeper_window(first, 0);
  }

  // The chain has no window yet. Those of rows that are compared begin at the same place, where can_begin() was asked.
  void begin(formats::KeyPlace place) noexcept {
    begin_ = place;
    count_ = 0;
    is_whole_ = false;
  }
  [[nodiscard]] formats::KeyPlace begin() const noexcept { return begin_; }

  // Compares rows that agree in front of where their chains begin: negative where a goes first. `x` and `y` are these chains.
  [[nodiscard]] static int compare(const formats::RowFormat& order, KeyChain& x, Text a, KeyChain& y, Text b) {
    return differ(order, x, a, y, b, 0).order;
  }

  struct Difference {
    unsigned windows;  // in so many the chains agree; behind all of both their rows differ, or nowhere
    int order;         // negative where a goes first
  };
  // Compares them where the first `known` windows are known to agree, and returns where they differ.
  [[nodiscard]] static Difference differ(const formats::RowFormat& order, KeyChain& x, Text a, KeyChain& y, Text b,
                                         unsigned known);
  // Returns the window behind so many, or the least there is where the chain has no more.
  [[nodiscard]] records::KeyWindow behind(unsigned windows) const noexcept {
    return windows < count_ ? windows_[windows] : records::KeyWindow{};
  }

 private:
  static constexpr unsigned most = 5;  // windows, and
  static constexpr std::size_t most_depth =
      std::size_t{3} * 11;  // bytes of a key that they show: rows that agree in more are compared

  [[nodiscard]] static bool has_window(const formats::RowFormat& order, formats::KeyPlace place) {
    return place.level < order.levels() && place.depth < most_depth && order.key_bytes(place.level) != formats::KeyBytes::of_row;
  }
  // Adds a window, unless there is none that could decide.
  bool add(const formats::RowFormat& order, Text row);
  // Returns where rows that agree in all windows of this chain may differ.
  [[nodiscard]] formats::KeyPlace behind_last(const formats::RowFormat& order) const;

  records::KeyWindow windows_[most];
  formats::KeyPlace begin_{};
  formats::KeyPlace place_{};  // of the last window; where the chain is whole, where rows that agree in it may differ
  unsigned count_ = 0;
  bool is_whole_ = false;  // no window can be added
};

}  // namespace ecosort::lines
