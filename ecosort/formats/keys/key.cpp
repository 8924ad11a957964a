#include "formats/keys/key.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/utf8.h"
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

// UTF-8: bytes that continue with a character do not count.
std::uint64_t characters_of(Text value) noexcept {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(value, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string folded(Text value) {
  std::string result(value);
  std::ranges::transform(result, result.begin(), lines::to_upper);
  return result;
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

Key::Key(const ValueKey& key, bool nulls_first, const TimeFormat* format, bool empty_is_null)
    : coder_(coder_of(key)),
      collation_(key.is_collated() ? std::optional<lines::Collation>(key.argument) : std::nullopt),
      way_(coder_       ? Way::coded
           : collation_ ? Way::collated
                        : way_of(key.type)),
      descending_(key.descends),
      nulls_first_(nulls_first),
      empty_is_null_(empty_is_null && way_ != Way::length),
      counts_from_(!empty_is_null && (way_ == Way::text || way_ == Way::nocase) ? 1 : 0),
      read_number_(way_ == Way::number || way_ == Way::integer ? lines::number_reader() : nullptr),
      format_(format) {}

Key::Way Key::way_of(ValueType type) noexcept {
  switch (type) {
    case ValueType::text:
      return Way::text;
    case ValueType::nocase:
      return Way::nocase;
    case ValueType::number:
      return Way::number;
    case ValueType::integer:
      return Way::integer;
    case ValueType::date:
      return Way::date;
    case ValueType::version:
      return Way::version;
    case ValueType::natural:
      return Way::natural;
    case ValueType::length:
      return Way::length;
    default:
      return Way::coded;
  }
}

KeyWindow Key::null_window() const noexcept { return nulls_first_ ? before_all : behind_all; }

KeyWindow Key::number_window(Text value, std::size_t depth, ValueKind& kind) const {
  const auto number = way_ == Way::integer ? read_integer(value) : read_number(value);
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

KeyWindow Key::version_window(Text value, std::size_t depth) const {
  const KeyWindow window =
      way_ == Way::natural ? lines::version_window(folded(value), depth) : lines::version_window(value, depth);
  return descending_ ? lines::complement(window) : window;
}

ValueKind Key::code_of(Text value, Code& code) const {
  if (!is_there(value)) return ValueKind::empty;
  return coder_(value, code) ? ValueKind::usual : ValueKind::unparsable;
}

KeyWindow Key::coded_window(Text value, std::size_t depth, ValueKind& kind) const {
  Code code;
  kind = code_of(value, code);
  if (kind != ValueKind::usual) return null_window();
  unsigned char bytes[window_room];
  return make_window(bytes, lines::copy_from(code.bytes(), depth, bytes), descending_);
}

KeyWindow Key::collated_window(Text value, std::size_t depth, ValueKind& kind) const {
  if (is_utf8(value)) return collation_->window(value, depth, descending_);
  kind = ValueKind::unparsable;
  return null_window();
}

KeyWindow Key::any_window(Text value, std::size_t depth, ValueKind& kind) const {
  kind = ValueKind::usual;
  if (!is_there(value)) {
    kind = ValueKind::empty;
    return null_window();
  }
  switch (way_) {
    case Way::text:
      value.remove_prefix(std::min(depth, value.size()));
      return counted(lines::text_window(value, descending_ ? ~std::uint64_t{0} : 0));
    case Way::nocase: {
      unsigned char bytes[window_room];
      return counted(make_window(bytes, copy_folded(value, depth, bytes), descending_));
    }
    case Way::version:
    case Way::natural:
      return version_window(value, depth);
    case Way::date:
      return date_window(value, depth, kind);
    case Way::length:
      return number_to_window(characters_of(value), descending_);
    case Way::collated:
      return collated_window(value, depth, kind);
    case Way::coded:
      return coded_window(value, depth, kind);
    case Way::number:
    case Way::integer:
      break;
  }
  return number_window(value, depth, kind);
}

ValueKind Key::kind_of(Text value) const {
  if (!is_there(value)) return ValueKind::empty;
  if (way_ == Way::collated) return is_utf8(value) ? ValueKind::usual : ValueKind::unparsable;
  if (!is_read() && way_ != Way::coded) return ValueKind::usual;
  ValueKind kind = ValueKind::usual;
  (void)window(value, 0, kind);
  return kind;
}

std::optional<lines::JointWindow::Level> Key::joint_level() const noexcept {
  using Kind = lines::JointWindow::Kind;
  switch (way_) {
    case Way::text:
    case Way::coded:
      return lines::JointWindow::Level{Kind::text, descending_};
    case Way::date:
      return lines::JointWindow::Level{Kind::date, descending_};
    case Way::number:
    case Way::integer:
      return lines::JointWindow::Level{Kind::number, descending_};
    case Way::nocase:
    case Way::version:
    case Way::natural:
    case Way::length:
    case Way::collated:
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
  if (way_ == Way::coded) {
    Code code;
    kind = code_of(value, code);
    return kind == ValueKind::usual ? to.add_text(code.bytes(), descending_) : to.add_null(nulls_first_);
  }
  if (way_ == Way::text) {
    kind = is_there(value) ? ValueKind::usual : ValueKind::empty;
    return kind == ValueKind::usual ? to.add_text(value, descending_) : to.add_null(nulls_first_);
  }
  const KeyWindow made = window(value, 0, kind);
  if (kind != ValueKind::usual) return to.add_null(nulls_first_);
  const KeyWindow ascending = descending_ ? lines::complement(made) : made;
  way_ == Way::date ? to.add_date(ascending, descending_) : to.add_number(ascending, descending_);
}

bool Key::is_cut(KeyWindow window) const noexcept {
  if (is_null(window)) return false;
  if (descending_) window = lines::complement(window);
  const auto last = static_cast<unsigned char>(window.extension);
  if (is_version()) return static_cast<lines::VersionRest>(last) != lines::VersionRest::nothing;
  return last > window_bytes + counts_from_;
}

bool Key::has_deeper_window(KeyWindow window) const noexcept {
  if ((!is_version() && way_ != Way::collated) || is_null(window)) return true;
  if (descending_) window = lines::complement(window);
  const auto last = static_cast<unsigned char>(window.extension);
  if (way_ == Way::collated) return lines::Collation::has_more_weights(last);
  return static_cast<lines::VersionRest>(last) != lines::VersionRest::by_compare;
}

int Key::compare_usual(Text a, Text b) const {
  switch (way_) {
    case Way::text:
      return a.compare(b);
    case Way::nocase:
      return compare_folded(a, b);
    case Way::number:
    case Way::integer:  // an integer is a number
      return lines::compare_numbers(*read_number(a), *read_number(b));
    case Way::date:
      return keys::compare(*read_time(a), *read_time(b));
    case Way::version:
      return lines::compare_versions(a, b);
    case Way::natural:
      return lines::compare_versions(folded(a), folded(b));
    case Way::collated:
      return collation_->compare(a, b);
    case Way::coded:
    case Way::length:
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

int Key::compare_codes(Text a, Text b) const {
  Code x, y;
  const bool a_is_null = code_of(a, x) != ValueKind::usual, b_is_null = code_of(b, y) != ValueKind::usual;
  if (a_is_null || b_is_null) return a_is_null == b_is_null ? 0 : a_is_null == nulls_first_ ? -1 : 1;
  const int order = x.bytes().compare(y.bytes());
  return descending_ ? -lines::sign_of(order) : lines::sign_of(order);
}

int Key::compare(Text a, Text b) const {
  if (is_read()) return compare_by_windows(a, b);
  if (way_ == Way::coded) return compare_codes(a, b);
  if (way_ == Way::collated && a == b) return 0;
  const bool a_is_null = kind_of(a) != ValueKind::usual, b_is_null = kind_of(b) != ValueKind::usual;
  if (a_is_null || b_is_null) {
    if (a_is_null == b_is_null) return 0;
    return a_is_null == nulls_first_ ? -1 : 1;
  }
  const int order = compare_usual(a, b);
  return descending_ ? -lines::sign_of(order) : lines::sign_of(order);
}

}  // namespace ecosort::keys
