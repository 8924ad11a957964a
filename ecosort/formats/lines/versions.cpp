#include "formats/lines/versions.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace ecosort::lines {
namespace {

// The characters of a version as they order: the end of the text and digits before letters before the rest, ~ before all.
int version_rank(Text text, std::size_t at) noexcept {
  if (at >= text.size()) return -1;
  const char c = text[at];
  if (is_digit(c)) return 0;
  if (is_letter(c)) return static_cast<unsigned char>(c);
  if (c == '~') return -2;
  return static_cast<unsigned char>(c) + 256;
}

bool in_text_part(Text text, std::size_t at) noexcept { return at < text.size() && !is_digit(text[at]); }

std::size_t digits_at(Text text, std::size_t at) noexcept {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}

// Returns how much of both is equal; a number in which they differ is left whole.
std::size_t common_beginning(Text a, Text b) noexcept {
  const std::size_t end = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (; at + 8 <= end; at += 8) {
    std::uint64_t x = 0, y = 0;
    std::memcpy(&x, a.data() + at, 8);
    std::memcpy(&y, b.data() + at, 8);
    if (x == y) continue;
    at += static_cast<std::size_t>(std::countr_zero(x ^ y)) / 8;
    break;
  }
  while (at < end && a[at] == b[at]) ++at;
  while (at > 0 && is_digit(a[at - 1])) --at;
  return at;
}

// Parts without digits and numbers in turn; numbers by their value.
int compare_parts(Text a, Text b) noexcept {
  std::size_t i = common_beginning(a, b), j = i;
  while (i < a.size() || j < b.size()) {
    for (; in_text_part(a, i) || in_text_part(b, j); ++i, ++j)
      if (const int difference = version_rank(a, i) - version_rank(b, j); difference != 0) return sign_of(difference);
    while (i < a.size() && a[i] == '0') ++i;
    while (j < b.size() && b[j] == '0') ++j;
    const std::size_t digits_a = digits_at(a, i), digits_b = digits_at(b, j);
    if (digits_a != digits_b) return digits_a < digits_b ? -1 : 1;
    if (const int order = a.substr(std::min(i, a.size()), digits_a).compare(b.substr(std::min(j, b.size()), digits_b));
        order != 0)
      return order;
    i += digits_a;
    j += digits_b;
  }
  return 0;
}

}  // namespace

NameClass name_class(Text name) noexcept {
  if (name.empty()) return NameClass::empty;
  if (name[0] != '.') return NameClass::other;
  if (name.size() == 1) return NameClass::dot;
  return name == ".." ? NameClass::two_dots : NameClass::begins_with_dot;
}

Text without_endings(Text name) noexcept {
  std::size_t end = name.size();
  while (true) {
    std::size_t at = end;
    while (at > 0 && (is_letter(name[at - 1]) || is_digit(name[at - 1]) || name[at - 1] == '~')) --at;
    if (at == 0 || at == end || name[at - 1] != '.' || is_digit(name[at])) return name.substr(0, end);
    end = at - 1;
  }
}

int compare_versions(Text a, Text b) noexcept {
  const NameClass class_a = name_class(a), class_b = name_class(b);
  if (class_a != class_b) return class_a < class_b ? -1 : 1;
  if (class_a < NameClass::begins_with_dot) return 0;
  const Text begin_a = without_endings(a), begin_b = without_endings(b);
  if (const int order = compare_parts(begin_a, begin_b); order != 0) return order;
  return begin_a.size() == a.size() && begin_b.size() == b.size() ? 0 : compare_parts(a, b);
}

}  // namespace ecosort::lines
