#include "demsort_inplace/job_trust.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/errors.h"
#include "base/trusted_place.h"
#include "base/user.h"

namespace ecosort::demsort_inplace {

namespace {

[[nodiscard]] Owners owners_of(const Trust& trust) {
  Owners owners{::geteuid()};
  if (trust.also) owners.push_back(*trust.also);
  return owners;
}

[[noreturn]] void refuse(const JobPaths& paths, const std::string& reason, const std::string& way_out) {
  throw JobRefused(fmt::format("the job in '{}' is left alone: {}; nothing was changed; {}", paths.directory, reason, way_out));
}

// The owner of all files there, where the mount decides about that or about their modes.
std::optional<uid_t> owner_by_mount(const std::string& parent) {
  std::string probe = parent + "/.ecosort-XXXXXX";
  if (::mkdtemp(probe.data()) == nullptr) return std::nullopt;
  struct stat status{};
  const bool is_seen = ::lstat(probe.c_str(), &status) == 0;
  (void)::rmdir(probe.c_str());
  const bool is_as_asked = status.st_uid == ::geteuid() && !is_writable_by_others(status);
  return is_seen && !is_as_asked ? std::optional(status.st_uid) : std::nullopt;
}

// Others can write to it. No chmod helps where the mount has decided that.
void refuse_writable(const JobPaths& paths, const std::string& path, uid_t owner, const std::string& reason, const Trust& trust) {
  const std::optional<uid_t> by_mount = owner_by_mount(paths.parent);
  if (!by_mount) refuse(paths, reason, fmt::format("if no one has changed it: chmod go-w '{}', then continue", path));
  if (trust.also == owner) return;
  refuse(paths, reason,
         fmt::format("its mount lets everybody write there: mount it with umask=077, or, if you trust all users of this machine: "
                     "ecosort resume --trust-owner {} {}",
                     user_name(owner), paths.file));
}

// `is_closed`: only the owner of the directory gets to the file, which has the mode that the user gave it.
void check(const JobPaths& paths, const std::string& path, const struct stat& status, const Owners& owners, const Trust& trust,
           bool is_closed) {
  constexpr const char* stranger = "remove the directory, or ask its owner";
  if (S_ISLNK(status.st_mode)) refuse(paths, fmt::format("'{}' is a symbolic link", path), stranger);
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) refuse(paths, fmt::format("'{}' is no file", path), stranger);
  struct stat looked_at = status;
  if (is_closed) looked_at.st_mode &= ~(S_IWGRP | S_IWOTH);
  const std::string reason = reason_to_distrust(looked_at, path, owners);
  if (reason.empty()) return;
  const bool is_owner_known = std::ranges::find(owners, looked_at.st_uid) != owners.end();
  if (is_owner_known) return refuse_writable(paths, path, looked_at.st_uid, reason, trust);
  refuse(paths, reason,
         fmt::format("if you trust that user: ecosort resume --trust-owner {} {}", user_name(status.st_uid), paths.file));
}

}  // namespace

void check_trust(io::NamedStorage& storage, const JobPaths& paths, const io::File& directory, const Trust& trust) {
  if (directory.fd() < 0) return;
  const Owners owners = owners_of(trust);
  struct stat status{};
  if (::fstat(directory.fd(), &status) != 0) throw IoError::from_call("examine", paths.directory, errno);
  check(paths, paths.directory, status, owners, trust, false);
  Owners of_files = owners;
  of_files.push_back(0);  // FILE may be one of root's, whom everybody trusts
  const bool is_closed = (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  for (const std::string& name : storage.list(paths.directory)) {
    if (!is_name_of_job(name)) continue;  // a cleaner stops there
    const std::string path = paths.directory + "/" + name;
    if (::fstatat(directory.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      throw IoError::from_call("examine", path, errno);
    const bool has_users_mode = name == "input" || name == "output";
    check(paths, path, status, name == "journal" ? owners : of_files, trust, is_closed && has_users_mode);
  }
}

void check_trust_in_trace(const JobPaths& paths, const Trust& trust) {
  struct stat status{};
  if (::lstat(paths.trace.c_str(), &status) == 0) check(paths, paths.trace, status, owners_of(trust), trust, false);
}

void check_own_directory(io::NamedStorage& storage, const JobPaths& paths, const io::File& directory) {
  try {
    check_trust(storage, paths, directory, {});
  } catch (const JobRefused&) {
    const std::optional<uid_t> owner = owner_by_mount(paths.parent);
    if (!owner) throw;
    check_trust(storage, paths, directory, {owner});
  }
}

std::string owner_to_trust(const JobPaths& paths) {
  struct stat status{};
  if (::lstat(paths.directory.c_str(), &status) != 0 || !is_writable_by_others(status)) return {};
  return user_name(status.st_uid);
}

}  // namespace ecosort::demsort_inplace
