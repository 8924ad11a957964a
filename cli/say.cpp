#include "cli/say.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "base/errors.h"

namespace ecosort::cli {

namespace {

std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n')
      line += "\\n";
    else if (c == '\t')
      line += "\\t";
    else if (const auto code = static_cast<unsigned char>(c); code < 0x20 || code == 0x7f)
      line += fmt::format("\\x{:02x}", code);
    else
      line += c;
  }
  return line;
}

}  // namespace

void say(std::string_view text) noexcept { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

void say_line(std::string_view text) noexcept {
  try {
    say(on_one_line(text) + "\n");
  } catch (const std::bad_alloc&) {
    say(text);
  }
}

void report(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stderr) != text.size())
    throw IoError::from_call("write", "(standard error)", errno);
}

void print_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw IoError::from_call("write", "(standard output)", errno);
}

}  // namespace ecosort::cli
