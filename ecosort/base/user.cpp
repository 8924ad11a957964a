#include "base/user.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <optional>

#include "base/errors.h"

namespace ecosort {

namespace {

// `ask` is getpwnam_r or getpwuid_r with its first argument bound.
template <class Ask>
std::optional<User> entry_of(const Ask& ask) {
  std::array<char, 16384> text{};
  passwd entry{};
  passwd* found = nullptr;
  if (ask(&entry, text.data(), text.size(), &found) != 0 || found == nullptr) return std::nullopt;
  return User{entry.pw_uid, entry.pw_gid, entry.pw_name};
}

std::optional<User> user_of(uid_t number) {
  return entry_of([&](auto... rest) { return ::getpwuid_r(number, rest...); });
}

}  // namespace

std::string user_name(uid_t user) {
  const std::optional<User> found = user_of(user);
  return found ? found->name : std::to_string(user);
}

User find_user(const std::string& text, const std::string& option) {
  if (const auto found = entry_of([&](auto... rest) { return ::getpwnam_r(text.c_str(), rest...); })) return *found;
  const bool is_number =
      !text.empty() && text.size() < 10 && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
  if (!is_number) throw UsageError(fmt::format("{}: there is no user '{}'", option, text));
  const auto number = static_cast<uid_t>(std::stoul(text));
  if (const auto found = user_of(number)) return *found;
  return {number, static_cast<gid_t>(number), text};  // files may belong to numbers that have no name
}

void become(const User& user) {
  if (::initgroups(user.name.c_str(), user.group) != 0 || ::setgid(user.group) != 0 || ::setuid(user.user) != 0)
    throw IoError::from_call("work as user", user.name, errno);
}

}  // namespace ecosort
