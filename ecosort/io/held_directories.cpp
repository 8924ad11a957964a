#include "io/held_directories.h"

#include <fcntl.h>
#include <fmt/format.h>

namespace ecosort::io {

struct HeldDirectories::Held : Attachment {
  explicit Held(int open) : directory(open) {}
  const int directory;
};

std::shared_ptr<Attachment> HeldDirectories::hold(const std::string& path, int directory) {
  auto held = std::make_shared<Held>(directory);
  const std::lock_guard lock(mutex_);
  std::erase_if(held_, [](const auto& entry) { return entry.second.expired(); });
  held_[path] = held;
  return held;
}

int HeldDirectories::directory(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(path);
  if (found == held_.end()) return -1;
  const std::shared_ptr<Held> held = found->second.lock();
  return held ? held->directory : -1;
}

HeldDirectories::Place HeldDirectories::find(const std::string& path) const {
  if (const std::size_t slash = path.rfind('/'); slash != std::string::npos)
    if (const int held = directory(path.substr(0, slash)); held >= 0) return {held, path.substr(slash + 1), true};
  return {AT_FDCWD, path, false};
}

std::string HeldDirectories::Place::path() const { return is_held ? fmt::format("/proc/self/fd/{}/{}", directory, name) : name; }

int HeldDirectories::Place::open_flags() const noexcept { return is_held ? O_NOFOLLOW : 0; }

}  // namespace ecosort::io
