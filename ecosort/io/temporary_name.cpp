#include "io/temporary_name.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <system_error>

#include "base/random.h"

namespace ecosort::io {

namespace {

constexpr std::string_view prefix = ".ecosort-", suffix = ".tmp";
constexpr std::string_view alphabet = "0123456789abcdefghijklmnopqrstuv";  // 5 bits each
constexpr std::size_t letters = 8;

[[nodiscard]] bool is_held(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return true;  // not ours to judge
  const bool held = ::flock(fd, LOCK_EX | LOCK_NB) != 0;
  ::close(fd);
  return held;
}

}  // namespace

std::string fresh_temporary_name() {
  std::array<std::uint8_t, letters> random{};
  draw_random_bytes(std::as_writable_bytes(std::span(random)));
  std::string name(prefix);
  for (const std::uint8_t byte : random) name += alphabet[byte % alphabet.size()];
  return name.append(suffix);
}

bool is_temporary_name(std::string_view name) noexcept {
  if (name.size() != prefix.size() + letters + suffix.size() || !name.starts_with(prefix) || !name.ends_with(suffix))
    return false;
  return name.substr(prefix.size(), letters).find_first_not_of(alphabet) == std::string_view::npos;
}

std::vector<std::string> abandoned_temporaries(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (is_temporary_name(at->path().filename().string()) && at->is_regular_file(error) && !is_held(at->path().string()))
      found.push_back(at->path().string());
  }
  return found;
}

TemporaryName::~TemporaryName() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace ecosort::io
