#include "base/size_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/errors.h"
#include "base/text.h"

namespace ecosort {

namespace {

struct Unit {
  std::string_view suffix;
  std::uint64_t bytes;
};

constexpr std::array binary_units{Unit{"EiB", 1ULL << 60U}, Unit{"PiB", 1ULL << 50U}, Unit{"TiB", 1ULL << 40U},
                                  Unit{"GiB", 1ULL << 30U}, Unit{"MiB", 1ULL << 20U}, Unit{"KiB", 1ULL << 10U}};
constexpr std::array decimal_units{Unit{"EB", 1'000'000'000'000'000'000},
                                   Unit{"PB", 1'000'000'000'000'000},
                                   Unit{"TB", 1'000'000'000'000},
                                   Unit{"GB", 1'000'000'000},
                                   Unit{"MB", 1'000'000},
                                   Unit{"kB", 1000},
                                   Unit{"B", 1},
                                   Unit{"", 1}};

// Returns the bytes of a unit with this suffix, whose letters may be small or large, or 0 if there is none.
std::uint64_t unit_of(std::string_view suffix) {
  const auto is_it = [suffix](const Unit& unit) { return std::ranges::equal(unit.suffix, suffix, {}, to_lower, to_lower); };
  if (const auto* unit = std::ranges::find_if(binary_units, is_it); unit != binary_units.end()) return unit->bytes;
  const auto* const unit = std::ranges::find_if(decimal_units, is_it);
  return unit == decimal_units.end() ? 0 : unit->bytes;
}

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  for (const Unit& unit : binary_units) {
    if (bytes < unit.bytes) continue;
    if (bytes % unit.bytes == 0) return fmt::format("{} {}", bytes / unit.bytes, unit.suffix);
    return fmt::format("{:.2f} {}", static_cast<double>(bytes) / static_cast<double>(unit.bytes), unit.suffix);
  }
  return fmt::format("{} bytes", bytes);
}

std::string exact_bytes(std::uint64_t bytes) {
  const std::string text = format_bytes(bytes), exact = fmt::format("{} bytes", bytes);
  return text == exact ? text : fmt::format("{} ({})", text, exact);
}

std::string size_word(std::uint64_t bytes) {
  for (const Unit& unit : binary_units)
    if (bytes != 0 && bytes % unit.bytes == 0) return fmt::format("{}{}", bytes / unit.bytes, unit.suffix);
  return fmt::format("{}B", bytes);
}

std::string left_over_text(std::uint64_t bytes) {
  return fmt::format("{} {} left over", bytes, bytes == 1 ? "byte is" : "bytes are");
}

std::uint64_t parse_bytes(std::string_view text, std::string_view option) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error == std::errc() && end != text.data()) {
    std::uint64_t bytes = 0;
    const std::uint64_t unit = unit_of(suffix);
    if (unit != 0 && !__builtin_mul_overflow(number, unit, &bytes)) return bytes;
  }
  throw UsageError(
      fmt::format("{}: '{}' is not a size; write a whole number and a unit (kB, MB, GB, TB, KiB, MiB, GiB, TiB), such as 512MiB",
                  option, text));
}

std::uint64_t parse_assumed_bytes(std::string_view text, std::string_view option) {
  const std::uint64_t bytes = parse_bytes(text, option);
  if (bytes > most_input_bytes) throw UsageError(fmt::format("{}: give at most {}", option, format_bytes(most_input_bytes)));
  return bytes;
}

}  // namespace ecosort
