#include "demsort_inplace/job_trust.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/errors.h"
#include "base/trusted_place.h"
#include "base/user.h"

namespace ecosort::inplace {

namespace {

[[nodiscard]] Owners owners_of(const Trust& trust) {
  Owners owners{::geteuid()};
  if (trust.also) owners.push_back(*trust.also);
  return owners;
}

[[noreturn]] void refuse(const JobPaths& paths, const std::string& reason, const std::string& way_out) {
  throw JobRefused(fmt::format("the job in '{}' is left alone: {}; nothing was changed; {}", paths.directory, reason, way_out));
}

// `is_closed`: only the owner of the directory gets to the file, which has the mode that the user gave it.
void check(const JobPaths& paths, const std::string& path, const struct stat& status, const Owners& owners, bool is_closed) {
  constexpr const char* stranger = "remove the directory, or ask whoever made it";
  if (S_ISLNK(status.st_mode)) refuse(paths, fmt::format("'{}' is a symbolic link", path), stranger);
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) refuse(paths, fmt::format("'{}' is no file", path), stranger);
  struct stat looked_at = status;
  if (is_closed) looked_at.st_mode &= ~(S_IWGRP | S_IWOTH);
  const std::string reason = reason_to_distrust(looked_at, path, owners);
  if (reason.empty()) return;
  if (is_writable_by_others(looked_at))
    refuse(paths, reason, fmt::format("if no one has changed it: chmod go-w '{}', then continue", path));
  refuse(paths, reason,
         fmt::format("if you trust that user: ecosort resume --trust-owner {} {}", user_name(status.st_uid), paths.file));
}

}  // namespace

void check_trust(io::NamedStorage& storage, const JobPaths& paths, const io::File& directory, const Trust& trust) {
  if (directory.fd() < 0) return;
  const Owners owners = owners_of(trust);
  struct stat status{};
  if (::fstat(directory.fd(), &status) != 0) throw IoError::from_call("examine", paths.directory, errno);
  check(paths, paths.directory, status, owners, false);
  Owners of_files = owners;
  of_files.push_back(0);  // FILE may be one of root's, whom everybody trusts
  const bool is_closed = (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  for (const std::string& name : storage.list(paths.directory)) {
    if (!is_name_of_job(name)) continue;  // whoever cleans up stops there
    const std::string path = paths.directory + "/" + name;
    if (::fstatat(directory.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      throw IoError::from_call("examine", path, errno);
    const bool has_users_mode = name == "input" || name == "output";
    check(paths, path, status, name == "journal" ? owners : of_files, is_closed && has_users_mode);
  }
}

void check_trust_in_trace(const JobPaths& paths, const Trust& trust) {
  struct stat status{};
  if (::lstat(paths.trace.c_str(), &status) == 0) check(paths, paths.trace, status, owners_of(trust), false);
}

}  // namespace ecosort::inplace
