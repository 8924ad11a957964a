#include "io/durable_names.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.h"
#include "base/errors.h"
#include "io/file_system.h"

namespace ecosort::io {

namespace {

[[nodiscard]] FileSystem system_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? file_system_of(path, status.st_dev) : FileSystem();
}

}  // namespace

FileSystem system_for_names(int directory, const std::string& path) {
  struct statfs system{};
  struct stat status{};
  if (::fstatfs(directory, &system) != 0 || ::fstat(directory, &status) != 0) throw IoError::from_call("examine", path, errno);
  if (system.f_type == EXT4_SUPER_MAGIC) return {.type = "ext4", .device = device_name_of(status.st_dev)};
  if (system.f_type == XFS_SUPER_MAGIC) return {.type = "xfs"};
  return file_system_of(path, status.st_dev);
}

void sync_names(int directory, const std::string& path) { sync_names(directory, path, system_for_names(directory, path)); }

// Fast commits are counted after the sync: had that been one, it would count.
void sync_names(int directory, const std::string& path, const FileSystem& system) {
  if (::fsync(directory) != 0) throw IoError::from_call("sync the directory", path, errno);
  if (fast_commits(system) > 0 && ::syncfs(directory) != 0) throw IoError::from_call("sync the file system of", path, errno);
}

bool needs_sync_with_name(const FileSystem& system) { return system.type != "xfs" && !has_journal(system).value_or(false); }

std::string doubt_about_names(const std::string& directory) { return doubt_about_names(directory, system_of(directory)); }

std::string doubt_about_names(const std::string& directory, const FileSystem& system) {
  if (system.type == "overlay" && ("," + system.options + ",").find(",volatile,") != std::string::npos)
    return fmt::format("'{}' is on an overlay that is mounted volatile: nothing there outlives a power cut", directory);
  if (system.type == "tmpfs" || system.type == "ramfs")
    return fmt::format("'{}' is kept in memory ({}): nothing there outlives a power cut", directory, system.type);
  return {};
}

bool makes_fast_commits(const std::string& directory) {
  constexpr int attempts = 3;  // the first commit after others' changes may be a full one
  const FileSystem system = system_of(directory);
  if (system.type != "ext4") return false;
  const Descriptor file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  for (int i = 0; i < attempts && file.is_open() && fast_commits(system) == 0; ++i)
    if (::pwrite(file.get(), "", 1, i) == 1 && ::fsync(file.get()) != 0)
      throw IoError::from_call("sync a file in", directory, errno);
  return fast_commits(system) > 0;
}

}  // namespace ecosort::io
