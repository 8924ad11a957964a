#include "base/system_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "base/descriptor.h"

namespace ecosort {

bool read_to_end(int fd, std::string& text) {
  std::array<char, 4096> some;  // most are shorter: their text takes no more room than it needs
  while (true) {
    const ssize_t got = ::read(fd, some.data(), some.size());
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
    text.append(some.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
}

std::string read_system_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (file.is_open()) (void)read_to_end(file.get(), text);
  return text;
}

std::optional<std::uint64_t> number_of(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> read_system_number(const std::string& path) { return number_of(read_system_file(path)); }

std::string_view take_line(std::string_view& text) noexcept {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view take_word(std::string_view& text) noexcept {
  constexpr std::string_view blanks = " \t\n";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const std::string_view word = text.substr(0, std::min(text.find_first_of(blanks), text.size()));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace ecosort
