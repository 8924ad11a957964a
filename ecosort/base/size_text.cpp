#include "base/size_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/errors.h"

namespace ecosort {

namespace {

struct Unit {
  std::string_view suffix;
  std::uint64_t bytes;
};

constexpr std::array units{Unit{"TiB", 1ULL << 40U}, Unit{"GiB", 1ULL << 30U},  Unit{"MiB", 1ULL << 20U},
                           Unit{"KiB", 1ULL << 10U}, Unit{"TB", 1000000000000}, Unit{"GB", 1000000000},
                           Unit{"MB", 1000000},      Unit{"kB", 1000},          Unit{"B", 1}};

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  for (const Unit& unit : {units[0], units[1], units[2], units[3]}) {
    if (bytes < unit.bytes) continue;
    if (bytes % unit.bytes == 0) return fmt::format("{} {}", bytes / unit.bytes, unit.suffix);
    return fmt::format("{:.2f} {}", static_cast<double>(bytes) / static_cast<double>(unit.bytes), unit.suffix);
  }
  return fmt::format("{} bytes", bytes);
}

std::string exact_bytes(std::uint64_t bytes) { return fmt::format("{} ({} bytes)", format_bytes(bytes), bytes); }

std::string left_over_text(std::uint64_t bytes) {
  return fmt::format("{} {} left over", bytes, bytes == 1 ? "byte is" : "bytes are");
}

std::uint64_t parse_bytes(std::string_view text, std::string_view option) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error == std::errc() && end != text.data()) {
    for (const Unit& unit : units) {
      std::uint64_t bytes = 0;
      if (unit.suffix == suffix && !__builtin_mul_overflow(number, unit.bytes, &bytes)) return bytes;
    }
  }
  throw UsageError(fmt::format("{}: '{}' is not a size; write a whole number with a unit, such as 512MiB or 4GB", option, text));
}

}  // namespace ecosort
