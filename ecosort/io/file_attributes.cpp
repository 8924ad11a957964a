#include "io/file_attributes.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/system_file.h"

namespace ecosort::io {

namespace {

constexpr const char* access_acl = "system.posix_acl_access";
constexpr const char* default_acl = "system.posix_acl_default";

// Collects what was lost on the way.
class Losses {
 public:
  void add(const std::string& what) { text_ += (text_.empty() ? "" : ", ") + what; }
  void add(const std::string& what, int error_number) { add(fmt::format("{} ({})", what, std::strerror(error_number))); }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

// The value of an attribute, or nothing with errno set. Asked twice, because it may grow between asking its size and reading.
[[nodiscard]] std::optional<std::vector<char>> attribute(const std::string& path, const char* name) {
  while (true) {
    const ssize_t size = ::lgetxattr(path.c_str(), name, nullptr, 0);
    if (size < 0) return std::nullopt;
    std::vector<char> value(static_cast<std::size_t>(size));
    const ssize_t got = ::lgetxattr(path.c_str(), name, value.data(), value.size());
    if (got >= 0) {
      value.resize(static_cast<std::size_t>(got));
      return value;
    }
    if (errno != ERANGE) return std::nullopt;
  }
}

[[nodiscard]] std::vector<std::string> attribute_names(const std::string& path, Losses& losses) {
  std::vector<char> list;
  while (true) {
    const ssize_t size = ::llistxattr(path.c_str(), nullptr, 0);
    list.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    const ssize_t got = size <= 0 ? size : ::llistxattr(path.c_str(), list.data(), list.size());
    if (got >= 0) {
      list.resize(static_cast<std::size_t>(got));
      break;
    }
    if (errno == ERANGE) continue;
    if (errno != EOPNOTSUPP) losses.add("the extended attributes", errno);
    return {};
  }
  std::vector<std::string> names;
  for (const char* at = list.data(); at < list.data() + list.size(); at += std::strlen(at) + 1) names.emplace_back(at);
  return names;
}

void copy_attribute(int fd, const std::string& from, const std::string& name, Losses& losses) {
  const auto value = attribute(from, name.c_str());
  if (!value && errno == ENODATA) return;  // removed meanwhile
  if (!value || ::fsetxattr(fd, name.c_str(), value->data(), value->size(), 0) != 0)
    losses.add(name == access_acl ? "the ACL" : "the attribute " + name, errno);
}

// The mode that is safe under the owner and group the file really has, and whether an ACL made for the old ones is.
struct Permissions {
  mode_t mode;
  bool acl_is_safe;
};

[[nodiscard]] struct stat state_of(int fd, const std::string& path) {
  struct stat state{};
  if (::fstat(fd, &state) != 0) throw IoError::from_call("examine", path, errno);
  return state;
}

// Even the owner that a file has cannot be set if the mount decides about owners and modes (vfat, exFAT, some of FUSE).
[[nodiscard]] Permissions keep_owner(int fd, const std::string& path, const struct stat& wanted, Losses& losses) {
  mode_t mode = wanted.st_mode & 07777;
  if (::fchown(fd, wanted.st_uid, wanted.st_gid) == 0) return {mode, true};
  const int why = errno;
  if (const struct stat now = state_of(fd, path); now.st_uid == wanted.st_uid && now.st_gid == wanted.st_gid) return {mode, true};
  losses.add("the owner", why);
  mode &= 01777;
  if (::fchown(fd, static_cast<uid_t>(-1), wanted.st_gid) == 0) return {mode, true};
  losses.add("the group", errno);
  return {(mode & ~070u) | (mode & 070u & ((mode & 07u) << 3)), false};
}

// Returns the error of a mount that decides about modes itself, where it gives the file another one; 0: it has that mode.
[[nodiscard]] int set_mode(int fd, const std::string& path, mode_t mode) {
  if (::fchmod(fd, mode) == 0) return 0;
  const int why = errno;
  if (why != EPERM && why != ENOSYS && why != EOPNOTSUPP) throw IoError::from_call("set the mode of", path, why);
  return (state_of(fd, path).st_mode & 07777) == mode ? 0 : why;
}

// umask() can only be read by changing it, which another thread would see.
[[nodiscard]] mode_t current_umask() {
  const std::string text = read_system_file("/proc/self/status");
  for (std::string_view status = text; !status.empty();) {
    std::string_view line = take_line(status);
    if (take_word(line) == "Umask:") return static_cast<mode_t>(std::stoul(std::string(take_word(line)), nullptr, 8));
  }
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

// The permissions a default ACL leaves of 0666. Its form (little-endian): a 32-bit version, then entries of 16-bit tag, 16-bit
// permissions, 32-bit id. The group bits of a mode are the mask where there is one, else the owning group's entry.
[[nodiscard]] mode_t mode_under_acl(const std::vector<char>& acl) {
  constexpr std::uint16_t owner = 0x01, group = 0x04, mask = 0x10, other = 0x20;
  mode_t owner_bits = 0, group_bits = 0, other_bits = 0;
  std::optional<mode_t> mask_bits;
  for (std::size_t at = 4; at + 8 <= acl.size(); at += 8) {
    const auto number = [&](std::size_t i) { return static_cast<std::uint16_t>(static_cast<unsigned char>(acl[at + i])); };
    const mode_t bits = number(2) & 06u;
    if (number(0) == owner) owner_bits = bits;
    if (number(0) == group) group_bits = bits;
    if (number(0) == mask) mask_bits = bits;
    if (number(0) == other) other_bits = bits;
  }
  return owner_bits << 6 | mask_bits.value_or(group_bits) << 3 | other_bits;
}

}  // namespace

std::string adopt_attributes(int fd, const std::string& path, const std::string& replaced_path) {
  Losses losses;
  struct stat wanted{};
  if (::lstat(replaced_path.c_str(), &wanted) != 0) throw IoError::from_call("examine", replaced_path, errno);
  if (wanted.st_nlink > 1)
    losses.add(fmt::format("its other names ({} hard link{}), where the old contents stay", wanted.st_nlink - 1,
                           wanted.st_nlink == 2 ? "" : "s"));
  const Permissions permissions = keep_owner(fd, path, wanted, losses);
  // A new file may have inherited an ACL from its directory; the one it replaces decides. The ACL comes after the mode, which
  // would overwrite the ACL's mask.
  ::fremovexattr(fd, access_acl);
  if (const int why = set_mode(fd, path, permissions.mode); why != 0) losses.add("the mode", why);
  for (const std::string& name : attribute_names(replaced_path, losses)) {
    if (name == access_acl && !permissions.acl_is_safe)
      losses.add("the ACL", EPERM);
    else
      copy_attribute(fd, replaced_path, name, losses);
  }
  return std::move(losses).text();
}

void adopt_default_mode(int fd, const std::string& path, const std::string& directory) {
  const auto acl = attribute(directory, default_acl);
  (void)set_mode(fd, path, acl ? mode_under_acl(*acl) : 0666 & ~current_umask());
}

}  // namespace ecosort::io
