// A format whose rows are ordered by values in them, key by key, as CSV and JSON lines are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/keys/key.h"
#include "formats/row_format.h"

namespace ecosort::keys {

// `Self` finds a value: with_value(row, level, use) returns use(value), for a level that is not the row as it is.
template <class Self>
class ValueFormat : public formats::RowFormat {
 public:
  [[nodiscard]] records::KeyWindow window(Text row) const { return window(row, 0, 0); }
  [[nodiscard]] records::KeyWindow window(Text row, unsigned level, std::size_t depth) const final {
    if (level == 0 && depth == 0 && !joint_.empty()) return joint_window(row);
    ValueKind kind = ValueKind::usual;
    return with_key(row, level, [&](Text value) { return keys_[level].window(value, depth, kind); });
  }
  [[nodiscard]] formats::KeyPlace behind_first(records::KeyWindow window) const final {
    return joint_.empty() ? RowFormat::behind_first(window) : lines::JointWindow::behind(window, joint_);
  }
  [[nodiscard]] formats::KeyBytes key_bytes(unsigned level) const final { return keys_[level].key_bytes(); }
  [[nodiscard]] std::size_t common_bytes(Text a, Text b, unsigned level, std::size_t skip) const final {
    return with_keys(a, b, level, [&](Text x, Text y) { return keys_[level].common_bytes(x, y, skip); });
  }
  [[nodiscard]] bool is_cut(records::KeyWindow window, unsigned level) const final { return keys_[level].is_cut(window); }
  [[nodiscard]] bool has_deeper_window(records::KeyWindow window, unsigned level) const final {
    return keys_[level].has_deeper_window(window);
  }
  [[nodiscard]] std::optional<std::string> first_value(Text row) const final {
    return with_key(row, 0, [&](Text value) {
      return keys_[0].kind_of(value) == ValueKind::usual ? std::optional<std::string>(value) : std::nullopt;
    });
  }
  [[nodiscard]] bool are_first_values_equal(Text a, Text b) const final { return keys_[0].compare(a, b) == 0; }

 protected:
  ValueFormat(Format format, std::optional<char> quote, std::optional<char> escape) : RowFormat(format, '\n', quote, escape) {}

  // Before rows are read. The row as it is decides last where `rows_decide_last`.
  void set_keys(std::vector<Key> keys, bool nulls_first, bool rows_decide_last) {
    keys_ = std::move(keys);
    joint_ = Key::joint_levels(keys_);
    values_ = static_cast<unsigned>(keys_.size());
    if (rows_decide_last) keys_.push_back(Key::of_row(nulls_first));
    levels_ = static_cast<unsigned>(keys_.size());
  }

  // Returns how many levels are values; the row as it is may be another one.
  [[nodiscard]] unsigned values() const noexcept { return values_; }

  // The window of level 0, of values that come one after the other.
  struct FirstWindow {
    records::KeyWindow of_first{};
    lines::JointWindow joint;
  };
  void take(unsigned level, Text value, FirstWindow& window, ValueKind& kind) const {
    if (level < joint_.size())
      keys_[level].add_to(window.joint, value, kind);
    else if (level == 0)
      window.of_first = keys_[0].window(value, 0, kind);
    else
      kind = keys_[level].kind_of(value);
  }
  [[nodiscard]] records::KeyWindow taken(const FirstWindow& window) const {
    return joint_.empty() ? window.of_first : window.joint.window();
  }

  [[nodiscard]] bool has_joint_window() const noexcept { return !joint_.empty(); }
  [[nodiscard]] records::KeyWindow joint_window(Text row) const { return add_levels({}, row, 0); }
  // Does so for a row whose first value is at hand.
  [[nodiscard]] records::KeyWindow joint_window(Text row, Text first) const {
    lines::JointWindow joint;
    ValueKind kind = ValueKind::usual;
    keys_[0].add_to(joint, first, kind);
    return add_levels(joint, row, 1);
  }

  std::vector<Key> keys_;

 private:
  [[nodiscard]] const Self& self() const noexcept { return static_cast<const Self&>(*this); }
  // The window with the row's values from a level on.
  [[nodiscard]] records::KeyWindow add_levels(lines::JointWindow joint, Text row, unsigned level) const {
    ValueKind kind = ValueKind::usual;
    for (; level < joint_.size() && !joint.is_full(); ++level)
      self().with_value(row, level, [&](Text value) { keys_[level].add_to(joint, value, kind); });
    return joint.window();
  }
  template <class Use>
  decltype(auto) with_key(Text row, unsigned level, const Use& use) const {
    return level == values_ ? use(row) : self().with_value(row, level, use);
  }
  template <class Use>
  decltype(auto) with_keys(Text a, Text b, unsigned level, const Use& use) const {
    return with_key(a, level, [&](Text x) { return with_key(b, level, [&](Text y) { return use(x, y); }); });
  }
  [[nodiscard]] int compare_levels(Text a, Text b, unsigned level, unsigned end) const final {
    for (; level < std::min(end, levels_); ++level) {
      const int order = with_keys(a, b, level, [&](Text x, Text y) { return keys_[level].compare(x, y); });
      if (order != 0) return order;
    }
    return 0;
  }

  unsigned values_ = 0;
  std::vector<lines::JointWindow::Level> joint_;  // keys whose bytes are in the first window; none where these are of one key
};

}  // namespace ecosort::keys
