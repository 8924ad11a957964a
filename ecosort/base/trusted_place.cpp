#include "base/trusted_place.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>
#include <sstream>

#include "base/user.h"

namespace ecosort {

namespace {

constexpr int most_links = 40;  // the kernel's own limit

// Looks at each component as the kernel does when it follows the path.
class Walk {
 public:
  Walk(const std::string& path, const Owners& owners) : owners_(owners) { go_before(path); }

  std::string find_reason() {
    if (std::string reason = look_at_directory("/"); !reason.empty()) return reason;
    while (!left_.empty()) {
      const std::string name = left_.front();
      left_.pop_front();
      if (name == "..")
        at_.erase(at_.empty() ? 0 : at_.rfind('/'));
      else if (std::string reason = step(name); !reason.empty())
        return reason;
    }
    return {};
  }

 private:
  // The components of `path` come before those that are left.
  void go_before(const std::string& path) {
    std::vector<std::string> names;
    std::istringstream text(path);
    for (std::string name; std::getline(text, name, '/');)
      if (!name.empty() && name != ".") names.push_back(name);
    left_.insert(left_.begin(), names.begin(), names.end());
  }

  std::string step(const std::string& name) {
    const std::string path = at_ + "/" + name;
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) return fmt::format("'{}': {}", path, std::strerror(errno));
    if (S_ISDIR(status.st_mode)) {
      at_ = path;
      return look_at_directory(path);
    }
    if (std::string reason = look_at_holder(); !reason.empty()) return reason;
    if (S_ISLNK(status.st_mode)) return follow(path, status);
    return reason_to_distrust(status, path, owners_);
  }

  std::string follow(const std::string& path, const struct stat& status) {
    if (!has(status.st_uid)) return reason_to_distrust(status, path, owners_);
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    if (size < 0) return fmt::format("'{}': {}", path, std::strerror(errno));
    if (++links_ > most_links) return fmt::format("'{}': {}", path, std::strerror(ELOOP));
    const std::string text(target.data(), static_cast<std::size_t>(size));
    if (text.starts_with('/')) at_.clear();
    go_before(text);
    return {};
  }

  // On the way: what everybody may add to is harmless where no one can replace what is another's.
  std::string look_at_directory(const std::string& path) const {
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) return fmt::format("'{}': {}", path, std::strerror(errno));
    if ((status.st_mode & S_ISVTX) != 0 && has(status.st_uid)) return {};
    return reason_to_distrust(status, path, owners_);
  }

  // The directory that holds what is looked at: no one else may add to it.
  std::string look_at_holder() const {
    const std::string path = at_.empty() ? "/" : at_;
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) return fmt::format("'{}': {}", path, std::strerror(errno));
    return reason_to_distrust(status, path, owners_);
  }

  bool has(uid_t user) const { return std::ranges::find(owners_, user) != owners_.end(); }

  const Owners& owners_;
  std::string at_;  // a directory without symbolic links on the way; empty: the root
  std::deque<std::string> left_;
  int links_ = 0;
};

}  // namespace

Owners root_and_user() { return {0, ::geteuid()}; }

bool is_writable_by_others(const struct stat& status) noexcept { return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

std::string reason_to_distrust(const struct stat& status, const std::string& path, const Owners& owners) {
  if (std::ranges::find(owners, status.st_uid) == owners.end())
    return fmt::format("'{}' belongs to user {}", path, user_name(status.st_uid));
  if (!S_ISLNK(status.st_mode) && is_writable_by_others(status)) return fmt::format("'{}' can be written by others", path);
  return {};
}

std::string reason_to_distrust_place(const std::string& path, const Owners& owners) { return Walk(path, owners).find_reason(); }

}  // namespace ecosort
