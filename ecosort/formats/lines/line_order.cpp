#include "formats/lines/line_order.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "formats/lines/general_number.h"
#include "formats/lines/key_bytes.h"
#include "formats/lines/number_window.h"
#include "formats/lines/numbers.h"
#include "formats/lines/versions.h"

namespace ecosort::lines {
namespace {

constexpr std::size_t room = window_room;

bool is_ignored(char c, Ignored ignored) noexcept {
  switch (ignored) {
    case Ignored::nothing:
      return false;
    case Ignored::all_but_dictionary:
      return !is_blank(c) && !is_letter(c) && !is_digit(c);
    case Ignored::unprintable:
      return !is_printable(c);
  }
  return false;
}

bool is_transformed(const SortKey& key) noexcept { return key.fold || key.ignored != Ignored::nothing; }

// The leading keys that a joint window takes, if there are several.
std::vector<JointWindow::Level> joint_levels(const std::vector<SortKey>& keys) {
  std::vector<JointWindow::Level> levels;
  for (const SortKey& key : keys) {
    const bool is_text = key.kind == KeyKind::text && !key.is_whole_line();
    if (is_transformed(key) || (key.kind != KeyKind::numeric && !is_text)) break;
    levels.push_back({is_text ? JointWindow::Kind::text : JointWindow::Kind::number, key.reverse});
  }
  if (levels.size() == 1) levels.clear();
  return levels;
}

// Finds fields that end with a separator. Keys mostly come in the order of their fields, so that each is looked for from the one
// before on.
class FieldWalk {
 public:
  FieldWalk(Text line, char separator) noexcept : line_(line), separator_(separator) {}

  // Adds the number that a field is, if it is nothing but a few digits.
  [[nodiscard]] bool add_digits(std::size_t field, bool descends, JointWindow& to) noexcept {
    if (line_.size() < 8) return false;
    if (field != field_) go_to(field);
    if (at_ >= line_.size()) return false;
    JointWindow with = to;
    const std::size_t end = at_ + with.add_digits(line_, at_, descends);
    if (end == at_ || (end < line_.size() && line_[end] != separator_)) return false;
    to = with;
    at_ = end + 1;
    ++field_;
    return true;
  }

 private:
  void go_to(std::size_t field) noexcept {
    if (field < field_) field_ = at_ = 0;
    for (; field_ < field && at_ < line_.size(); ++field_) {
      const std::size_t end = line_.find(separator_, at_);
      at_ = end == Text::npos ? line_.size() : end + 1;
    }
  }

  Text line_;
  char separator_;
  std::size_t field_ = 0, at_ = 0;
};

std::string transformed(Text text, const SortKey& key) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text)
    if (!is_ignored(c, key.ignored)) result.push_back(key.fold ? to_upper(c) : c);
  return result;
}

// Says where two transformed texts first differ, or one of them ends.
struct Difference {
  std::size_t a, b;    // in the texts as they are
  std::size_t common;  // in the transformed ones
};

// `skip` bytes of the transformed texts are known to be equal; they are looked at where some bytes are ignored.
Difference first_difference(Text a, Text b, const SortKey& key, std::size_t skip) noexcept {
  if (key.ignored == Ignored::nothing) {
    const std::size_t common = common_folded(a, b, skip);
    return {common, common, common};
  }
  Difference at{0, 0, 0};
  for (;; ++at.a, ++at.b, ++at.common) {
    while (at.a < a.size() && is_ignored(a[at.a], key.ignored)) ++at.a;
    while (at.b < b.size() && is_ignored(b[at.b], key.ignored)) ++at.b;
    if (at.a == a.size() || at.b == b.size()) return at;
    const char x = a[at.a], y = b[at.b];
    if (x != y && !(key.fold && to_upper(x) == to_upper(y))) return at;
  }
}

// Compares as the transformed texts would, without making them.
int compare_transformed(Text a, Text b, const SortKey& key) noexcept {
  const Difference at = first_difference(a, b, key, 0);
  if (at.a == a.size() || at.b == b.size()) return (at.a < a.size() ? 1 : 0) - (at.b < b.size() ? 1 : 0);
  const auto x = static_cast<unsigned char>(key.fold ? to_upper(a[at.a]) : a[at.a]);
  const auto y = static_cast<unsigned char>(key.fold ? to_upper(b[at.b]) : b[at.b]);
  return x < y ? -1 : 1;
}

std::size_t copy_general(Text text, std::size_t depth, unsigned char* to) {
  unsigned char bytes[general_bytes];
  const std::size_t count = encode(read_general(text), bytes);
  return copy_from({reinterpret_cast<const char*>(bytes), count}, depth, to);
}

std::size_t copy_transformed(Text text, const SortKey& key, std::size_t depth, unsigned char* to) noexcept {
  std::size_t count = 0;
  for (const char c : text) {
    if (is_ignored(c, key.ignored)) continue;
    if (depth > 0) {
      --depth;
      continue;
    }
    to[count++] = static_cast<unsigned char>(key.fold ? to_upper(c) : c);
    if (count == room) break;
  }
  return count;
}

}  // namespace

LineOrder::LineOrder(const LineOrderTerms& terms, char terminator, HeaderLines header)
    : RowFormat(Format::lines, terminator, std::nullopt),
      keys_(terms.keys),
      separator_(terms.separator),
      salt_(terms.salt),
      collation_(terms.collation),
      kernels_(line_kernels()),
      header_(std::move(header)) {
  if (keys_.empty() || terms.last_resort) {
    SortKey line;
    line.reverse = terms.reverse;
    keys_.push_back(line);
  }
  levels_ = static_cast<unsigned>(keys_.size());
  joint_ = joint_levels(keys_);
  const SortKey& first = keys_.front();
  rows_are_keys_ = first.is_whole_line() && first.kind == KeyKind::text && !is_transformed(first);
  rows_are_numbers_ = first.is_whole_line() && first.kind == KeyKind::numeric && !is_transformed(first) && joint_.empty();
  flip_ = first.reverse ? ~std::uint64_t{0} : 0;
  row_bytes_ = RowBytes(terminator, flip_);
}

formats::FirstRow LineOrder::take_first_row(const std::string& /*input*/, Text row) {
  if (header_left_ == 0 && !row.starts_with(header_.mark)) {
    may_be_marked_ = false;
    return formats::FirstRow::is_sorted;
  }
  if (header_left_ > 0) --header_left_;
  return formats::FirstRow::is_alike;
}

std::size_t LineOrder::key_begin(Text line, const SortKey& key) const noexcept {
  std::size_t at = 0;
  const std::size_t size = line.size();
  for (std::size_t field = 0; field < key.begin_field && at < size; ++field) {
    if (separator_) {
      const void* found = std::memchr(line.data() + at, *separator_, size - at);
      at = found == nullptr ? size : static_cast<std::size_t>(static_cast<const char*>(found) - line.data()) + 1;
      continue;
    }
    while (at < size && is_blank(line[at])) ++at;
    while (at < size && !is_blank(line[at])) ++at;
  }
  if (key.skip_begin_blanks)
    while (at < size && is_blank(line[at])) ++at;
  return key.begin_char < size - at ? at + key.begin_char : size;
}

std::size_t LineOrder::key_end(Text line, const SortKey& key) const noexcept {
  const std::size_t size = line.size();
  if (key.end_field == SortKey::whole_line) return size;
  const bool whole_field = key.end_char == 0;
  std::size_t at = 0;
  for (std::size_t fields = key.end_field + (whole_field ? 1 : 0); fields > 0 && at < size; --fields) {
    if (separator_) {
      const void* found = std::memchr(line.data() + at, *separator_, size - at);
      if (found == nullptr) return size;
      at = static_cast<std::size_t>(static_cast<const char*>(found) - line.data());
      if (fields > 1 || !whole_field) ++at;  // a field ends before its separator
      continue;
    }
    while (at < size && is_blank(line[at])) ++at;
    while (at < size && !is_blank(line[at])) ++at;
  }
  if (whole_field) return at;
  if (key.skip_end_blanks)
    while (at < size && is_blank(line[at])) ++at;
  return key.end_char < size - at ? at + key.end_char : size;
}

Text LineOrder::key_of(Text line, const SortKey& key) const noexcept {
  if (key.is_whole_line()) return line;
  const std::size_t begin = key_begin(line, key);
  if (separator_ && key.is_one_field()) {
    const void* found = std::memchr(line.data() + begin, *separator_, line.size() - begin);
    return found == nullptr ? line.substr(begin) : Text(line.data() + begin, static_cast<const char*>(found));
  }
  const std::size_t end = std::max(begin, key_end(line, key));
  return line.substr(begin, end - begin);
}

// Bytes depth ... of the key's normal text, at most `room`.
std::size_t LineOrder::normal_bytes(Text text, const SortKey& key, std::size_t depth, unsigned char* to) const {
  if (key.kind == KeyKind::text) return is_transformed(key) ? copy_transformed(text, key, depth, to) : copy_from(text, depth, to);
  std::string changed;
  if (is_transformed(key)) {
    changed = transformed(text, key);
    text = changed;
  }
  switch (key.kind) {
    case KeyKind::text:
    case KeyKind::version:
    case KeyKind::collated:
      return 0;
    case KeyKind::numeric:
      return encode(*SeparatedDecimal(text), depth, to, room);
    case KeyKind::general:
      return copy_general(text, depth, to);
    case KeyKind::human: {
      if (depth > 0) return encode(*SeparatedDecimal(text), depth - 1, to, room);
      to[0] = static_cast<unsigned char>(128 + unit_of(text));
      return 1 + encode(*SeparatedDecimal(text), 0, to + 1, room - 1);
    }
    case KeyKind::month:
      to[0] = static_cast<unsigned char>(month_of(text));
      return depth == 0 ? 1 : 0;
    case KeyKind::random: {
      const Digest digest = md5(salt_, text);
      std::size_t count = 0;
      for (std::size_t i = depth; i < digest.size() && count < room; ++i) to[count++] = digest[i];
      for (std::size_t i = std::max(depth, digest.size()) - digest.size(); i < text.size() && count < room; ++i)
        to[count++] = static_cast<unsigned char>(text[i]);
      return count;
    }
  }
  return 0;
}

// The first window of a number as most of them are, which is made without a loop over its bytes. Where the separator ends a
// number anyway the key is not cut out.
std::optional<records::KeyWindow> LineOrder::usual_window(Text line, const SortKey& key) const noexcept {
  const auto text = [&](bool ends_number) {
    return ends_number && key.is_one_field() ? line.substr(key_begin(line, key)) : key_of(line, key);
  };
  if (key.kind == KeyKind::numeric) {
    const Text beginning = text(separator_ && ends_number(*separator_));
    const NumberWindow number = read_number_(beginning.data(), beginning.size());
    return number.is_there() ? std::optional(number.window()) : std::nullopt;
  }
  if (key.kind == KeyKind::general) return general_window(text(separator_ && ends_general(*separator_)));
  return std::nullopt;
}

// A reader passes blanks, and the end of an empty row is one: it would find the number of the next row.
const char* LineOrder::number_end(const char* at, const char* end, records::KeyWindow& window) const noexcept {
  if (at == end || is_blank(*at)) return nullptr;
  const NumberWindow number = read_number_(at, static_cast<std::size_t>(end - at));
  if (!number.is_there() || number.length >= static_cast<std::size_t>(end - at) || at[number.length] != terminator())
    return nullptr;
  window = {number.prefix ^ flip_, number.extension ^ static_cast<std::uint32_t>(flip_)};
  return at + number.length;
}

void LineOrder::add_number(Text text, bool descends, JointWindow& to) const {
  if (const NumberWindow number = read_number_(text.data(), text.size()); number.is_there())
    return to.add_number(number.window(), descends);
  unsigned char bytes[room];
  const std::size_t count = encode(*SeparatedDecimal(text), 0, bytes, room);
  to.add_number(make_window(bytes, count, false), descends);
}

records::KeyWindow LineOrder::joint_window(Text line) const {
  JointWindow joint;
  const bool walks = separator_ && !is_digit(*separator_);
  FieldWalk walk(line, separator_.value_or(0));
  for (std::size_t i = 0; i < joint_.size() && !joint.is_full(); ++i) {
    const SortKey& key = keys_[i];
    if (key.kind == KeyKind::text)
      joint.add_text(key_of(line, key), key.reverse);
    else if (!walks || !key.is_one_field() || !walk.add_digits(key.begin_field, key.reverse, joint))
      add_number(key_of(line, key), key.reverse, joint);
  }
  return joint.window();
}

records::KeyWindow LineOrder::window(Text line, unsigned level, std::size_t depth) const {
  if (level == 0 && depth == 0 && !joint_.empty()) return joint_window(line);
  const SortKey& key = keys_[level];
  if (depth == 0 && !is_transformed(key))
    if (const auto usual = usual_window(line, key)) {
      // Word by word: a copy of both at once would have to wait until the half that was stored last reaches memory.
      const std::uint64_t flip = key.reverse ? ~std::uint64_t{0} : 0;
      return {usual->prefix ^ flip, usual->extension ^ static_cast<std::uint32_t>(flip)};
    }
  const Text text = key_of(line, key);
  if (key.kind == KeyKind::collated) return collation_->window(text, depth, key.reverse);
  if (key.kind == KeyKind::version) {
    const auto window = is_transformed(key) ? version_window(transformed(text, key), depth) : version_window(text, depth);
    return key.reverse ? complement(window) : window;
  }
  unsigned char bytes[2 * room];
  const std::size_t count = normal_bytes(text, key, depth, bytes);
  return make_window(bytes, count, key.reverse);
}

formats::KeyBytes LineOrder::key_bytes(unsigned level) const noexcept {
  const SortKey& key = keys_[level];
  if (key.kind != KeyKind::text) return formats::KeyBytes::made;
  return key.is_whole_line() && !is_transformed(key) ? formats::KeyBytes::of_row : formats::KeyBytes::compared;
}

std::size_t LineOrder::common_bytes(Text a, Text b, unsigned level, std::size_t skip) const noexcept {
  const SortKey& key = keys_[level];
  a = key_of(a, key);
  b = key_of(b, key);
  return is_transformed(key) ? first_difference(a, b, key, skip).common : common_beginning(a, b, skip);
}

int LineOrder::compare_random(Text a, Text b) const noexcept {
  const Digest x = md5(salt_, a), y = md5(salt_, b);
  if (x != y) return x < y ? -1 : 1;
  return compare_bytes(a, b);
}

int LineOrder::compare_kind(Text a, Text b, const SortKey& key) const {
  switch (key.kind) {
    case KeyKind::text:
      return compare_bytes(a, b);
    case KeyKind::numeric:
      return lines::compare(*SeparatedDecimal(a), *SeparatedDecimal(b));
    case KeyKind::general:
      return lines::compare(read_general(a), read_general(b));
    case KeyKind::human:
      if (const int units = unit_of(a) - unit_of(b); units != 0) return units;
      return lines::compare(*SeparatedDecimal(a), *SeparatedDecimal(b));
    case KeyKind::month:
      return month_of(a) - month_of(b);
    case KeyKind::random:
      return compare_random(a, b);
    case KeyKind::version:
      return compare_versions(a, b);
    case KeyKind::collated:
      return collation_->compare(a, b);
  }
  return 0;
}

int LineOrder::compare_key(Text a, Text b, const SortKey& key) const {
  a = key_of(a, key);
  b = key_of(b, key);
  if (!is_transformed(key)) return compare_kind(a, b, key);
  if (key.kind == KeyKind::text) return compare_transformed(a, b, key);
  return compare_kind(transformed(a, key), transformed(b, key), key);
}

int LineOrder::compare_levels(Text a, Text b, unsigned level, unsigned end) const {
  if (a == b) return 0;
  for (; level < std::min<std::size_t>(end, keys_.size()); ++level) {
    const int order = compare_key(a, b, keys_[level]);
    if (order != 0) return keys_[level].reverse ? -sign_of(order) : sign_of(order);
  }
  return 0;
}

}  // namespace ecosort::lines
