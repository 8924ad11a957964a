#include "formats/lines/key_chain.h"

namespace ecosort::lines {

using formats::KeyPlace;
using formats::RowFormat;

KeyPlace KeyChain::behind_last(const RowFormat& order) const {
  if (count_ == 0) return begin_;
  const records::KeyWindow last = windows_[count_ - 1];
  return order.is_cut(last, place_.level) ? KeyPlace{place_.level, place_.depth + RowFormat::window_bytes}
                                          : KeyPlace{place_.level + 1, 0};
}

bool KeyChain::add(const RowFormat& order, Text row) {
  if (is_whole_) return false;
  is_whole_ = count_ == most || (count_ > 0 && !order.has_deeper_window(windows_[count_ - 1], place_.level));
  if (is_whole_) return false;  // what the last window shows may be compared again
  place_ = behind_last(order);
  is_whole_ = !has_window(order, place_);
  if (!is_whole_) windows_[count_++] = order.window(row, place_.level, place_.depth);
  return !is_whole_;
}

// Rows that agree in the same windows have the next one at the same place, or neither has one.
KeyChain::Difference KeyChain::differ(const RowFormat& order, KeyChain& x, Text a, KeyChain& y, Text b, unsigned known) {
  unsigned i = known;
  for (;; ++i) {
    if (i == x.count_ && !x.add(order, a)) break;
    if (i == y.count_ && !y.add(order, b)) break;
    const records::KeyWindow &u = x.windows_[i], &v = y.windows_[i];
    if (u.prefix != v.prefix) return {i, u.prefix < v.prefix ? -1 : 1};
    if (u.extension != v.extension) return {i, u.extension < v.extension ? -1 : 1};
  }
  return {i, compare_at(order, a, b, x.place_.level)};
}

}  // namespace ecosort::lines
