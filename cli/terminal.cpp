#include "cli/terminal.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace ecosort::cli {

namespace {

constexpr std::size_t usual_columns = 80;

// 0: unknown.
std::size_t asked_columns() {
  const char* const value = std::getenv("COLUMNS");
  const std::string_view text = value == nullptr ? "" : value;
  std::size_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  return error == std::errc() && end == text.data() + text.size() ? columns : 0;
}

std::size_t window_columns(int descriptor) {
  winsize window{};
  return ::ioctl(descriptor, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

std::size_t first_known(std::size_t one, std::size_t other) { return one != 0 ? one : other != 0 ? other : usual_columns; }

}  // namespace

std::size_t terminal_columns(int descriptor) { return first_known(window_columns(descriptor), asked_columns()); }

std::size_t text_columns(int descriptor) {
  constexpr std::size_t least = 20;
  return std::max(first_known(asked_columns(), window_columns(descriptor)), least);
}

}  // namespace ecosort::cli
