// PosixStorage: files and directories that keep their names (io/named_storage.h).
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/errors.h"
#include "io/direct_io.h"
#include "io/file_attributes.h"
#include "io/open_error.h"
#include "io/posix_storage.h"

namespace ecosort::io {

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

void check(int result, const char* call, const std::string& path) {
  if (result != 0) throw_open_error(call, path, errno);
}

// A file of our own; fails otherwise.
[[nodiscard]] bool make_accessible(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::chmod(path.c_str(), 0600) == 0) return true;
  errno = EACCES;
  return false;
}

}  // namespace

FilePtr PosixStorage::create_named(const std::string& path, Role role, Caching caching) {
  Descriptor descriptor(::open(path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600));
  if (!descriptor.is_open()) throw_open_error("create", path, errno);
  const std::size_t unit = caching == Caching::direct_if_possible ? enable_direct_io(descriptor.get()) : 1;
  return make_file(std::move(descriptor), {.role = role, .path = path, .alignment = unit});
}

FilePtr PosixStorage::open_named(const std::string& path, Role role, Caching caching) {
  const auto open = [&] { return Descriptor(::open(path.c_str(), O_NOFOLLOW | O_RDWR | O_CLOEXEC | O_NONBLOCK)); };
  Descriptor descriptor = open();
  // An output that has its final mode already may be closed to its owner.
  if (!descriptor.is_open() && errno == EACCES && role == Role::output && make_accessible(path)) descriptor = open();
  if (!descriptor.is_open()) throw_open_error("open", path, errno);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) throw IoError::from_call("examine", path, errno);
  if (!S_ISREG(status.st_mode)) throw UsageError(fmt::format("'{}' is not a regular file", path));
  const std::size_t unit = caching == Caching::direct_if_possible ? enable_direct_io(descriptor.get()) : 1;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  return make_file(std::move(descriptor), {.role = role, .path = path, .alignment = unit, .size_bytes = size});
}

std::string PosixStorage::adopt_attributes(File& file, const std::string& of) {
  if (exists(of)) return io::adopt_attributes(file.fd(), file.path(), of);
  const std::string directory = std::filesystem::path(of).parent_path().string();
  adopt_default_mode(file.fd(), file.path(), directory.empty() ? "." : directory);
  return {};
}

void PosixStorage::rename(const std::string& from, const std::string& to) {
  check(::rename(from.c_str(), to.c_str()), "rename a file to", to);
}

void PosixStorage::rename_new(const std::string& from, const std::string& to) {
  check(::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE), "rename a file to", to);
}

void PosixStorage::remove(const std::string& path) { check(::unlink(path.c_str()), "remove", path); }

void PosixStorage::make_directory(const std::string& path) { check(::mkdir(path.c_str(), 0700), "create the directory", path); }

void PosixStorage::remove_directory(const std::string& path) { check(::rmdir(path.c_str()), "remove the directory", path); }

void PosixStorage::sync_directory(const std::string& path) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  check(directory.is_open() ? 0 : -1, "open the directory", path);
  if (::fsync(directory.get()) != 0) throw IoError::from_call("sync the directory", path, errno);
}

FilePtr PosixStorage::open_directory(const std::string& path) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  check(directory.is_open() ? 0 : -1, "open the directory", path);
  return make_file(std::move(directory), {.role = Role::journal, .path = path});
}

bool PosixStorage::leads_to(const std::string& path, const File& directory) {
  struct stat named {
  }, open{};
  if (::fstat(directory.fd(), &open) != 0) throw IoError::from_call("examine", path, errno);
  if (::lstat(path.c_str(), &named) == 0) return named.st_dev == open.st_dev && named.st_ino == open.st_ino;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw_open_error("examine", path, errno);
}

std::vector<std::string> PosixStorage::list(const std::string& directory) {
  const std::unique_ptr<DIR, CloseDirectory> stream(::opendir(directory.c_str()));
  check(stream ? 0 : -1, "list the directory", directory);
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) throw IoError::from_call("list the directory", directory, errno);
  std::sort(names.begin(), names.end());
  return names;
}

bool PosixStorage::exists(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw_open_error("examine", path, errno);
}

}  // namespace ecosort::io
