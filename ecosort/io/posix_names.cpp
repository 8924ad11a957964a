// PosixStorage: files and directories that keep their names (io/named_storage.h).
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>

#include "base/errors.h"
#include "base/text.h"
#include "io/direct_io.h"
#include "io/durable_names.h"
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

// A file of our own; fails otherwise. chmod knows no O_NOFOLLOW: it goes by a descriptor.
[[nodiscard]] bool make_accessible(const HeldDirectories::Place& place) {
  const Descriptor file(::openat(place.directory, place.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (file.is_open() && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
      ::chmod(fmt::format("/proc/self/fd/{}", file.get()).c_str(), 0600) == 0)
    return true;
  errno = EACCES;
  return false;
}

// A device or a pipe that has this name is not ours. What is absent is reported by the call that follows.
void demand_file(const HeldDirectories::Place& place, const std::string& path) {
  struct stat status{};
  if (::fstatat(place.directory, place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))
    throw NameError(fmt::format("'{}' is not a regular file, and is neither replaced nor removed; move it away", path));
}

}  // namespace

// A run is needed now and then only; everything else stays open, with its locks.
FilePtr PosixStorage::make_named_file(Descriptor descriptor, File::Facts facts) {
  return facts.role == Role::run ? make_reopened_file(std::move(descriptor), std::move(facts))
                                 : make_file(std::move(descriptor), std::move(facts));
}

FilePtr PosixStorage::create_named(const std::string& path, Role role, Caching caching) {
  const HeldDirectories::Place place = held_.find(path);
  Descriptor descriptor(::openat(place.directory, place.name.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600));
  if (!descriptor.is_open()) throw_open_error("create", path, errno);
  const std::size_t unit = caching == Caching::direct_if_possible ? enable_direct_io(descriptor.get()) : 1;
  return make_named_file(std::move(descriptor), {.role = role, .path = path, .alignment = unit});
}

FilePtr PosixStorage::open_named(const std::string& path, Role role, Caching caching) {
  const HeldDirectories::Place place = held_.find(path);
  const auto open = [&] {
    return Descriptor(::openat(place.directory, place.name.c_str(), O_NOFOLLOW | O_RDWR | O_CLOEXEC | O_NONBLOCK));
  };
  Descriptor descriptor = open();
  // An output that has its final mode already may be closed to its owner.
  if (!descriptor.is_open() && errno == EACCES && role == Role::output && make_accessible(place)) descriptor = open();
  if (!descriptor.is_open()) throw_open_error("open", path, errno);
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0) throw IoError::from_call("examine", path, errno);
  if (!S_ISREG(status.st_mode)) throw UsageError(fmt::format("'{}' is not a regular file", path));
  const std::size_t unit = caching == Caching::direct_if_possible ? enable_direct_io(descriptor.get()) : 1;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  return make_named_file(std::move(descriptor), {.role = role, .path = path, .alignment = unit, .size_bytes = size});
}

std::string PosixStorage::adopt_attributes(File& file, const std::string& of) {
  if (exists(of)) return io::adopt_attributes(file.fd(), file.path(), held_.find(of).path());
  adopt_default_mode(file.fd(), file.path(), directory_of(of));
  return {};
}

void PosixStorage::rename(const std::string& from, const std::string& to) {
  const HeldDirectories::Place old = held_.find(from), fresh = held_.find(to);
  demand_file(fresh, to);
  check(::renameat(old.directory, old.name.c_str(), fresh.directory, fresh.name.c_str()), "rename a file to", to);
}

void PosixStorage::rename_new(const std::string& from, const std::string& to) {
  const HeldDirectories::Place old = held_.find(from), fresh = held_.find(to);
  check(::renameat2(old.directory, old.name.c_str(), fresh.directory, fresh.name.c_str(), RENAME_NOREPLACE), "rename a file to",
        to);
}

void PosixStorage::remove(const std::string& path) {
  const HeldDirectories::Place place = held_.find(path);
  demand_file(place, path);
  check(::unlinkat(place.directory, place.name.c_str(), 0), "remove", path);
}

void PosixStorage::make_directory(const std::string& path) { check(::mkdir(path.c_str(), 0700), "create the directory", path); }

void PosixStorage::remove_directory(const std::string& path) { check(::rmdir(path.c_str()), "remove the directory", path); }

void PosixStorage::sync_directory(const std::string& path) {
  if (const int held = held_.directory(path); held >= 0) return sync_names(held, path);
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  check(directory.is_open() ? 0 : -1, "open the directory", path);
  sync_names(directory.get(), path);
}

FilePtr PosixStorage::open_directory(const std::string& path) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  check(directory.is_open() ? 0 : -1, "open the directory", path);
  const int fd = directory.get();
  return make_file(std::move(directory), {.role = Role::journal, .path = path, .attachment = held_.hold(path, fd)});
}

bool PosixStorage::leads_to(const std::string& path, const File& directory) {
  struct stat named{}, open{};
  if (::fstat(directory.fd(), &open) != 0) throw IoError::from_call("examine", path, errno);
  if (::lstat(path.c_str(), &named) == 0) return named.st_dev == open.st_dev && named.st_ino == open.st_ino;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw_open_error("examine", path, errno);
}

std::vector<std::string> PosixStorage::list(const std::string& directory) {
  const int held = held_.directory(directory);
  Descriptor open(held >= 0 ? ::openat(held, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                            : ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  check(open.is_open() ? 0 : -1, "list the directory", directory);
  const std::unique_ptr<DIR, CloseDirectory> stream(::fdopendir(open.get()));
  check(stream ? 0 : -1, "list the directory", directory);
  (void)open.release();  // the stream closes it
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
  const HeldDirectories::Place place = held_.find(path);
  struct stat status{};
  if (::fstatat(place.directory, place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw_open_error("examine", path, errno);
}

}  // namespace ecosort::io
