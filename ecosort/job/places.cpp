#include "job/places.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/errors.h"
#include "io/direct_io.h"
#include "io/plain_file.h"
#include "job/space.h"

namespace ecosort::job {

namespace {

struct stat examine(const std::string& what, const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0)
    throw UsageError(fmt::format("{} '{}': {}{}", what, path, std::strerror(errno), errno == ENOENT ? "; create it first" : ""));
  return info;
}

// The two attributes (chattr +i, +a) and the mount that forbid a rename whatever the permissions are.
void check_not_pinned(const std::string& path) {
  struct statx facts{};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &facts) != 0) return;
  if ((facts.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0)
    throw UsageError(fmt::format("output '{}' cannot be replaced: it is marked immutable or append-only (see lsattr)", path));
  if ((facts.stx_attributes & facts.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0)
    throw UsageError(fmt::format("output '{}' cannot be replaced: it is a mount point; write beside it and copy", path));
}

// In a sticky directory, such as /tmp, only the owner of a file (or of the directory) may replace it.
void check_not_sticky(const io::OutputPlace& place, const struct stat& info) {
  const struct stat directory = examine("output directory", place.directory);
  const uid_t user = ::geteuid();
  if ((directory.st_mode & S_ISVTX) == 0 || user == 0 || user == info.st_uid || user == directory.st_uid) return;
  throw UsageError(fmt::format("output '{}' cannot be replaced: it belongs to another user in a sticky directory", place.path));
}

// Returns whether this is the file of one of them.
bool is_input(std::uint64_t device, std::uint64_t inode, const std::vector<engine::fixed::Input>& inputs) {
  return std::ranges::any_of(inputs, [&](const engine::fixed::Input& input) {
    return !input.file->facts().is_stream && input.opened.device == device && input.opened.inode == inode;
  });
}

}  // namespace

std::string resolve_output(const std::string& output) { return output == "-" ? output : io::resolve_free_output(output).path; }

void check_is_kept(const std::string& kept, const std::string& output, const std::string& as) {
  if (output != "-" && io::is_same_file(kept, output))
    throw UsageError(fmt::format("'{}' is {} and would be replaced; name another output", kept, as));
}

void check_writable_directory(const std::string& what, const std::string& directory) {
  if (!S_ISDIR(examine(what, directory).st_mode)) throw UsageError(fmt::format("{} '{}' is not a directory", what, directory));
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    throw UsageError(fmt::format("{} '{}' is not writable: {}", what, directory, std::strerror(errno)));
}

void check_output(const std::string& output, const std::vector<engine::fixed::Input>& inputs, const io::PosixStorage& storage) {
  struct stat info{};
  if (output == "-") {
    const int fd = storage.streams().output, flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
      throw UsageError("standard output is not open for writing; redirect it, or name a file");
    if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && is_input(info.st_dev, info.st_ino, inputs))
      throw UsageError("standard output is the input; redirect it to another file, or name one");
    return;
  }
  const io::OutputPlace place = io::resolve_free_output(output);
  check_writable_directory("output directory", place.directory);
  if (::access(place.directory.c_str(), R_OK) != 0)
    throw UsageError(fmt::format("output directory '{}' cannot be opened, which is needed to make the new name durable: {}",
                                 place.directory, std::strerror(errno)));
  if (!place.exists || ::lstat(place.path.c_str(), &info) != 0) return;
  if (is_input(info.st_dev, info.st_ino, inputs))
    throw UsageError(
        fmt::format("output '{}' is the input; name another file (to sort a file in its own space: ecosort inplace)", output));
  check_not_pinned(place.path);
  check_not_sticky(place, info);
}

std::vector<std::string> run_directories(std::vector<std::string> named, const std::string& output) {
  std::vector<std::string>& directories = named;
  if (directories.empty()) directories.push_back(output == "-" ? "." : io::resolve_output(output).directory);
  std::set<std::uint64_t> drives;
  std::erase_if(directories, [&](const std::string& directory) {
    check_writable_directory("temporary directory", directory);
    return !drives.insert(drive_of(directory)).second;
  });
  return directories;
}

void check_not_tmpfs(const std::string& directory) {
  if (!io::is_in_memory(directory)) return;
  throw RunsInMemory(fmt::format("temporary directory '{}' is a tmpfs, so that runs would take memory", directory));
}

}  // namespace ecosort::job
