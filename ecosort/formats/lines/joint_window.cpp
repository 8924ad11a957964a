#include "formats/lines/joint_window.h"

#include <algorithm>
#include <cstring>

namespace ecosort::lines {
namespace {

constexpr unsigned char zero_code = 0x80;
constexpr unsigned char positive_code = 0x81;
constexpr unsigned most_whole = 0x7d;  // digits before the point; longer numbers are all the same
constexpr unsigned char end_of_text = 0x01, low_escape = 0x02, high_escape = 0xfe;
constexpr unsigned char midnight = 0x01, least_time = 0x02;
constexpr std::size_t day_bytes = 3, seconds_bytes = 5;              // of a day, and in the window of a date
constexpr std::uint64_t day_seconds = 86'400, to_midnight = 42'112;  // what lacks to a whole day where seconds count from
constexpr unsigned char null_first = 0x00, null_last = 0xff;
constexpr std::size_t number_head = 2;  // sign and length, in the window of a number

constexpr unsigned char mask_of(bool descends) noexcept { return descends ? 0xff : 0; }
constexpr unsigned char masked(unsigned byte, unsigned char mask) noexcept { return static_cast<unsigned char>(byte ^ mask); }
constexpr std::uint64_t ones = 0x0101010101010101, high_bits = 0x80 * ones;

// Up to eight bytes from here on, the first one highest, and zeros behind them: no byte behind the text is read.
std::uint64_t first_bytes(const char* at, std::size_t count) noexcept {
  if (count >= 8) return load_big_endian<std::uint64_t>(at);
  if (count >= 4) {
    const std::uint64_t first = load_big_endian<std::uint32_t>(at), last = load_big_endian<std::uint32_t>(at + count - 4);
    return first << 32U | last << 8 * (8 - count);
  }
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) word |= std::uint64_t{static_cast<unsigned char>(at[i])} << (56 - 8 * i);
  return word;
}

// Up to 16 bytes of a text, likewise.
uint128 beginning_of(Text text) noexcept {
  const std::size_t size = text.size();
  const std::uint64_t first = first_bytes(text.data(), std::min<std::size_t>(size, 8));
  if (size <= 8) return make_uint128(first, 0);
  if (size >= 16) return make_uint128(first, load_big_endian<std::uint64_t>(text.data() + 8));
  return make_uint128(first, load_big_endian<std::uint64_t>(text.data() + size - 8) << 8 * (16 - size));
}

// Returns whether one of the bytes is escaped.
bool has_escaped(std::uint64_t word) noexcept {
  const std::uint64_t is_low = (word - (low_escape + 1) * ones) & ~word;
  const std::uint64_t y = ~word, is_high = (y - 2 * ones) & ~y;
  return ((is_low | is_high) & high_bits) != 0;
}

constexpr bool is_null(unsigned char byte) noexcept { return byte == null_first || byte == null_last; }

// The bytes of a number's window without its sign, as those of a positive one.
class PlainNumber {
 public:
  explicit PlainNumber(records::KeyWindow window) noexcept : last_(static_cast<unsigned char>(window.extension)) {
    window.extension = __builtin_bswap32(window.extension);
    window.prefix = __builtin_bswap64(window.prefix);
    std::memcpy(bytes_, &window.prefix, 8);
    std::memcpy(bytes_ + 8, &window.extension, 4);
  }

  [[nodiscard]] bool is_zero() const noexcept { return bytes_[0] == zero_byte; }
  [[nodiscard]] bool is_negative() const noexcept { return bytes_[0] == negative_byte; }
  [[nodiscard]] unsigned whole() const noexcept { return byte(1); }
  // Bytes of two digits that the window has, and whether there may be more.
  [[nodiscard]] std::size_t pairs() const noexcept {
    return (is_cut() ? std::size_t{formats::RowFormat::window_bytes} : last_ - (is_negative() ? 1U : 0U)) - number_head;
  }
  [[nodiscard]] bool is_cut() const noexcept { return last_ > formats::RowFormat::window_bytes; }
  [[nodiscard]] unsigned pair(std::size_t i) const noexcept { return byte(number_head + i) - 1U; }

 private:
  [[nodiscard]] unsigned char byte(std::size_t i) const noexcept { return masked(bytes_[i], mask_of(is_negative())); }

  unsigned char bytes_[12];
  unsigned char last_;
};

// The bytes of a joint window, read one after the other.
class CodeReader {
 public:
  explicit CodeReader(records::KeyWindow window) noexcept : window_(window) {}
  [[nodiscard]] bool ends() const noexcept { return at_ == 12; }
  unsigned char take() noexcept {
    const unsigned char byte = at_ < 8 ? static_cast<unsigned char>(window_.prefix >> (56 - 8 * at_))
                                       : static_cast<unsigned char>(window_.extension >> (24 - 8 * (at_ - 8)));
    ++at_;
    return byte;
  }

 private:
  records::KeyWindow window_;
  unsigned at_ = 0;
};

// Returns whether the window has all of the key; `depth`: else in how many bytes the keys agree.
bool passes_number(CodeReader& code, unsigned char mask, std::size_t& depth) noexcept {
  depth = 1;
  const unsigned char first = code.take();
  unsigned char head = masked(first, mask);
  if (is_null(first) || head == zero_code) return true;
  if (head < zero_code) {
    head = masked(head, 0xff);
    mask = masked(mask, 0xff);
  }
  if (head == positive_code + most_whole) return false;
  while (!code.ends()) {
    const unsigned char pair = masked(code.take(), mask);
    if (pair == 0) return false;
    if (pair % 2 == 0) return true;
  }
  return false;
}

bool passes_text(CodeReader& code, unsigned char mask, std::size_t& depth) noexcept {
  for (depth = 0; !code.ends(); ++depth) {
    const unsigned char taken = code.take(), byte = masked(taken, mask);
    if (byte == end_of_text || is_null(taken)) return true;
    if (byte != low_escape && byte != high_escape) continue;
    if (code.ends()) return false;
    code.take();
  }
  return false;
}

bool passes_date(CodeReader& code, unsigned char mask, std::size_t& depth) noexcept {
  unsigned char last = code.take();
  if (is_null(last)) return true;
  for (std::size_t at = 1; at < day_bytes + 3; ++at) {
    if (code.ends()) return false;
    last = masked(code.take(), mask);
    if (at == day_bytes && last == midnight) return true;
  }
  depth = seconds_bytes;
  return last % 2 == 0;
}

bool passes(JointWindow::Level level, CodeReader& code, std::size_t& depth) noexcept {
  const unsigned char mask = mask_of(level.descends);
  switch (level.kind) {
    case JointWindow::Kind::number:
      return passes_number(code, mask, depth);
    case JointWindow::Kind::text:
      return passes_text(code, mask, depth);
    case JointWindow::Kind::date:
      return passes_date(code, mask, depth);
  }
  return false;
}

}  // namespace

void JointWindow::add_null(bool is_first) noexcept { add(is_first ? null_first : null_last); }

void JointWindow::add_any_number(records::KeyWindow window, bool descends) noexcept {
  const PlainNumber number(window);
  if (number.is_zero()) return add(masked(zero_code, mask_of(descends)));
  const unsigned char mask = mask_of(descends != number.is_negative());
  const unsigned whole = std::min(number.whole(), most_whole);
  add(masked(positive_code + whole, mask));
  const std::size_t pairs = whole == most_whole ? 0 : number.pairs();
  for (std::size_t i = 0; i < pairs; ++i) {
    const bool has_more = i + 1 < pairs || number.is_cut();
    add(masked(2 * number.pair(i) + (has_more ? 1 : 0), mask));
  }
  // No number ends with two zeros, so that they mark one that is cut.
  if (number.is_cut() || whole == most_whole) fill(mask);
}

void JointWindow::add_text(Text text, bool descends) noexcept {
  constexpr std::size_t most = 16;
  if (is_full()) return;
  const std::size_t taken = std::min(text.size(), most), count = std::min(taken + 1, most);
  const uint128 behind = taken == most ? 0 : ~uint128{0} >> 8 * taken, spaces = make_uint128(0x20 * ones, 0x20 * ones);
  uint128 code = beginning_of(text);
  const uint128 looked_at = code | (behind & spaces);
  if (has_escaped(high_half(looked_at)) || has_escaped(low_half(looked_at))) [[unlikely]]
    return add_any_text(text, mask_of(descends));
  if (taken < most) code |= uint128{end_of_text} << 8 * (most - 1 - taken);
  if (descends) code = ~code & ~(behind >> 8U);
  code_ |= code >> 8 * count_;
  count_ += count;
}

void JointWindow::add_any_text(Text text, unsigned char mask) noexcept {
  for (std::size_t i = 0; i < text.size() && !is_full(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte <= low_escape) [[unlikely]] {
      add(masked(low_escape, mask));
      add(masked(byte + 1U, mask));
    } else if (byte >= high_escape) [[unlikely]] {
      add(masked(high_escape, mask));
      add(masked(byte, mask));
    } else {
      add(masked(byte, mask));
    }
  }
  add(masked(end_of_text, mask));
}

void JointWindow::add_date(records::KeyWindow date, bool descends) noexcept {
  const std::uint64_t seconds = (date.prefix >> (64 - 8 * seconds_bytes)) + to_midnight;
  const std::uint64_t day = seconds / day_seconds, time = seconds % day_seconds;
  const bool has_fraction = (date.extension & 0xffU) > seconds_bytes;
  if (time == 0 && !has_fraction) return add_code(day << 40U | std::uint64_t{midnight} << 32U, day_bytes + 1, descends);
  const std::uint64_t rest = (time % 1024) * 2 + (has_fraction ? 1 : 0);
  add_code(day << 40U | (least_time + time / 1024) << 32U | rest << 16U, day_bytes + 3, descends);
  if (has_fraction) fill(mask_of(descends));
}

formats::KeyPlace JointWindow::behind(records::KeyWindow window, std::span<const Level> levels) noexcept {
  CodeReader code(window);
  for (unsigned level = 0; level < levels.size(); ++level) {
    if (code.ends()) return {level, 0};
    std::size_t depth = 0;
    if (!passes(levels[level], code, depth)) return {level, depth};
  }
  return {static_cast<unsigned>(levels.size()), 0};
}

}  // namespace ecosort::lines
