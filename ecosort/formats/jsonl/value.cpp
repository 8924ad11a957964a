#include "formats/jsonl/value.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace ecosort::jsonl {
namespace {

bool is_high_surrogate(std::uint32_t unit) noexcept { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low_surrogate(std::uint32_t unit) noexcept { return unit >= 0xdc00 && unit < 0xe000; }

// The four digits at `at`.
std::uint32_t unit_at(Text text, std::size_t at) noexcept {
  std::uint32_t unit = 0;
  (void)std::from_chars(text.data() + at, text.data() + at + 4, unit, 16);
  return unit;
}

void append_utf8(std::string& to, std::uint32_t point) {
  const auto add = [&](std::uint32_t byte) { to += static_cast<char>(byte); };
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xc0U | point >> 6U);
  } else {
    if (point < 0x10000) {
      add(0xe0U | point >> 12U);
    } else {
      add(0xf0U | point >> 18U);
      add(0x80U | (point >> 12U & 0x3fU));
    }
    add(0x80U | (point >> 6U & 0x3fU));
  }
  add(0x80U | (point & 0x3fU));
}

// The character whose four digits begin at `at`, or the two units that make one. Returns where the escape ends.
std::size_t append_unit(std::string& to, Text text, std::size_t at) {
  std::uint32_t point = unit_at(text, at);
  at += 4;
  constexpr std::size_t escape_bytes = 6;
  if (is_high_surrogate(point) && at + escape_bytes <= text.size() && text[at] == '\\' && text[at + 1] == 'u') {
    const std::uint32_t low = unit_at(text, at + 2);
    if (is_low_surrogate(low)) {
      point = 0x10000 + ((point - 0xd800) << 10U) + (low - 0xdc00);
      at += escape_bytes;
    }
  }
  append_utf8(to, point);
  return at;
}

char short_escape(char c) noexcept {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

}  // namespace

std::string without_escapes(Text text) {
  std::string made;
  made.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\\', at), text.size());
    made.append(text.substr(at, end - at));
    if (end == text.size()) break;
    if (text[end + 1] == 'u') {
      at = append_unit(made, text, end + 2);
    } else {
      made += short_escape(text[end + 1]);
      at = end + 2;
    }
  }
  return made;
}

void JsonValue::take_string() {
  text_ = text_.substr(1, text_.size() - 2);
  if (text_.find('\\') == Text::npos) return;
  changed_ = without_escapes(text_);
  text_ = changed_;
}

void JsonValue::take_number() {
  if (text_.find('.') == Text::npos) return;
  changed_ = text_;
  std::ranges::replace(changed_, '.', ',');
  text_ = changed_;
}

}  // namespace ecosort::jsonl
