#include "formats/keys/key.h"

#include <algorithm>
#include <cstring>

#include "formats/keys/number.h"
#include "formats/lines/number_bytes.h"
#include "formats/lines/text.h"
#include "formats/lines/version_window.h"
#include "formats/lines/versions.h"

namespace ecosort::keys {
namespace {

using lines::make_window;
using lines::window_bytes;
using lines::window_room;
using records::KeyWindow;

// Windows that no usual value has, because its last byte is at least 1, and at most 13.
constexpr KeyWindow before_all{0, 0}, behind_all{~std::uint64_t{0}, ~std::uint32_t{0}};

bool is_null(KeyWindow window) noexcept {
  return (window.prefix == before_all.prefix && window.extension == before_all.extension) ||
         (window.prefix == behind_all.prefix && window.extension == behind_all.extension);
}

std::optional<Number> read(ValueType type, Text value) noexcept {
  return type == ValueType::integer ? read_integer(value) : read_number(value);
}

// UTF-8: bytes that continue with a character do not count.
std::uint64_t characters_of(Text value) noexcept {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(value, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::size_t copy_folded(Text value, std::size_t depth, unsigned char* to) noexcept {
  const std::size_t count = lines::copy_from(value, depth, to);
  std::transform(to, to + count, to, [](unsigned char c) { return lines::to_upper(static_cast<char>(c)); });
  return count;
}

int compare_folded(Text a, Text b) noexcept {
  const std::size_t at = lines::common_folded(a, b, 0);
  if (at == a.size() || at == b.size()) return (a.size() > b.size() ? 1 : 0) - (a.size() < b.size() ? 1 : 0);
  return static_cast<unsigned char>(lines::to_upper(a[at])) < static_cast<unsigned char>(lines::to_upper(b[at])) ? -1 : 1;
}

KeyWindow number_to_window(std::uint64_t number, bool reverse) noexcept {
  unsigned char bytes[window_room] = {};
  for (std::size_t i = 0; i < sizeof number; ++i) bytes[i] = static_cast<unsigned char>(number >> (8 * (7 - i)));
  return make_window(bytes, sizeof number, reverse);
}

}  // namespace

KeyWindow Key::null_window() const noexcept { return nulls_first_ ? before_all : behind_all; }

KeyWindow Key::number_window(Text value, std::size_t depth, ValueKind& kind) const {
  const auto number = read(type_, value);
  if (!number) {
    kind = ValueKind::unparsable;
    return null_window();
  }
  unsigned char bytes[window_room];
  const std::size_t count = lines::encode_number(*number, depth, bytes, window_room);
  return make_window(bytes, count, descending_);
}

KeyWindow Key::date_window(Text value, std::size_t depth, ValueKind& kind) const {
  const auto time = read_time(value);
  if (!time) {
    kind = ValueKind::unparsable;
    return null_window();
  }
  unsigned char bytes[window_room];
  return make_window(bytes, encode(*time, depth, bytes, window_room), descending_);
}

KeyWindow Key::any_window(Text value, std::size_t depth, ValueKind& kind) const {
  kind = ValueKind::usual;
  if (!is_there(value)) {
    kind = ValueKind::empty;
    return null_window();
  }
  switch (type_) {
    case ValueType::text: {
      if (depth == 0) return counted(lines::text_window(value, descending_ ? ~std::uint64_t{0} : 0));
      unsigned char bytes[window_room];
      return counted(make_window(bytes, lines::copy_from(value, depth, bytes), descending_));
    }
    case ValueType::nocase: {
      unsigned char bytes[window_room];
      return counted(make_window(bytes, copy_folded(value, depth, bytes), descending_));
    }
    case ValueType::version: {
      const KeyWindow window = lines::version_window(value, depth);
      return descending_ ? lines::complement(window) : window;
    }
    case ValueType::date:
      return date_window(value, depth, kind);
    case ValueType::length:
      return number_to_window(characters_of(value), descending_);
    case ValueType::number:
    case ValueType::integer:
      break;
  }
  return number_window(value, depth, kind);
}

ValueKind Key::kind_of(Text value) const {
  if (!is_there(value)) return ValueKind::empty;
  if (type_ != ValueType::number && type_ != ValueType::integer && type_ != ValueType::date) return ValueKind::usual;
  ValueKind kind = ValueKind::usual;
  (void)window(value, 0, kind);
  return kind;
}

std::optional<lines::JointWindow::Level> Key::joint_level() const noexcept {
  using Kind = lines::JointWindow::Kind;
  switch (type_) {
    case ValueType::text:
      return lines::JointWindow::Level{Kind::text, descending_};
    case ValueType::date:
      return lines::JointWindow::Level{Kind::date, descending_};
    case ValueType::number:
    case ValueType::integer:
      return lines::JointWindow::Level{Kind::number, descending_};
    case ValueType::nocase:
    case ValueType::version:
    case ValueType::length:
      break;
  }
  return std::nullopt;
}

std::vector<lines::JointWindow::Level> Key::joint_levels(const std::vector<Key>& keys) {
  std::vector<lines::JointWindow::Level> levels;
  for (const Key& key : keys) {
    const auto level = key.joint_level();
    if (!level) break;
    levels.push_back(*level);
  }
  if (levels.size() == 1) levels.clear();
  return levels;
}

void Key::add_to(lines::JointWindow& to, Text value, ValueKind& kind) const {
  if (type_ == ValueType::text) {
    kind = is_there(value) ? ValueKind::usual : ValueKind::empty;
    return kind == ValueKind::usual ? to.add_text(value, descending_) : to.add_null(nulls_first_);
  }
  const KeyWindow made = window(value, 0, kind);
  if (kind != ValueKind::usual) return to.add_null(nulls_first_);
  const KeyWindow ascending = descending_ ? lines::complement(made) : made;
  type_ == ValueType::date ? to.add_date(ascending, descending_) : to.add_number(ascending, descending_);
}

bool Key::is_cut(KeyWindow window) const noexcept {
  if (is_null(window)) return false;
  if (descending_) window = lines::complement(window);
  const auto last = static_cast<unsigned char>(window.extension);
  if (type_ == ValueType::version) return static_cast<lines::VersionRest>(last) != lines::VersionRest::nothing;
  return last > window_bytes + counts_from_;
}

bool Key::has_deeper_window(KeyWindow window) const noexcept {
  if (type_ != ValueType::version || is_null(window)) return true;
  if (descending_) window = lines::complement(window);
  return static_cast<lines::VersionRest>(static_cast<unsigned char>(window.extension)) != lines::VersionRest::by_compare;
}

int Key::compare_usual(Text a, Text b) const {
  switch (type_) {
    case ValueType::text:
      return a.compare(b);
    case ValueType::nocase:
      return compare_folded(a, b);
    case ValueType::number:
    case ValueType::integer:
      return lines::compare_numbers(*read(type_, a), *read(type_, b));
    case ValueType::date:
      return keys::compare(*read_time(a), *read_time(b));
    case ValueType::version:
      return lines::compare_versions(a, b);
    case ValueType::length:
      break;
  }
  const std::uint64_t x = characters_of(a), y = characters_of(b);
  return x == y ? 0 : x < y ? -1 : 1;
}

// Their windows decide, unless they continue: that is less work than reading both numbers for good.
int Key::compare_by_windows(Text a, Text b) const {
  ValueKind kind = ValueKind::usual;
  const KeyWindow x = window(a, 0, kind), y = window(b, 0, kind);
  if (x.prefix != y.prefix) return x.prefix < y.prefix ? -1 : 1;
  if (x.extension != y.extension) return x.extension < y.extension ? -1 : 1;
  if (!is_cut(x)) return 0;
  const int order = compare_usual(a, b);
  return descending_ ? -lines::sign_of(order) : lines::sign_of(order);
}

int Key::compare(Text a, Text b) const {
  if (type_ == ValueType::number || type_ == ValueType::integer || type_ == ValueType::date) return compare_by_windows(a, b);
  const bool a_is_null = kind_of(a) != ValueKind::usual, b_is_null = kind_of(b) != ValueKind::usual;
  if (a_is_null || b_is_null) {
    if (a_is_null == b_is_null) return 0;
    return a_is_null == nulls_first_ ? -1 : 1;
  }
  const int order = compare_usual(a, b);
  return descending_ ? -lines::sign_of(order) : lines::sign_of(order);
}

}  // namespace ecosort::keys
