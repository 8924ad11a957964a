#include "io/posix_storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/errors.h"
#include "io/direct_io.h"
#include "io/open_error.h"
#include "io/temporary_name.h"

namespace ecosort::io {

namespace {

[[nodiscard]] struct stat status_of(int fd, const std::string& path) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) throw IoError::from_call("examine", path, errno);
  return status;
}

[[nodiscard]] std::int64_t nanoseconds(const struct timespec& time) noexcept {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

[[nodiscard]] bool lacks_unnamed_files(int error_number) noexcept {
  return error_number == EOPNOTSUPP || error_number == EISDIR || error_number == EINVAL;  // the last two: kernels before 3.11
}

// O_EXCL: a run can never be given a name. An output must be.
[[nodiscard]] Descriptor open_unnamed(const std::string& directory, Role role) {
  const int exclusive = role == Role::output ? 0 : O_EXCL;
  return Descriptor(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | exclusive, 0600));
}

[[nodiscard]] std::size_t unit_of(int fd, Caching caching) {
  return caching == Caching::direct_if_possible ? enable_direct_io(fd) : 1;
}

[[nodiscard]] bool frees_in_background(const File& file) {
  struct statfs system{};
  return ::fstatfs(file.fd(), &system) == 0 && system.f_type == XFS_SUPER_MAGIC;
}

// Serves PosixStorage::wait_for_space().
[[nodiscard]] bool wait_quietly(const File& file, unsigned attempt) {
  constexpr auto first_wait = std::chrono::milliseconds(50);
  constexpr unsigned waits = 7;  // 6.35 s in all
  if (!frees_in_background(file) || attempt > waits || ::syncfs(file.fd()) != 0) return false;
  if (attempt == 0) return true;
  std::this_thread::sleep_for(first_wait * (1U << (attempt - 1)));
  return true;
}

template <typename Call>
[[nodiscard]] int retry_interrupted(Call call) {
  int result = 0;
  do result = call();
  while (result != 0 && errno == EINTR);
  return result;
}

constexpr const char* standard_input = "(standard input)";  // what messages call it

// A device that denies what is written is named.
std::string standard_output_name(int fd) {
  struct stat status{};
  std::error_code none;
  const bool is_device = ::fstat(fd, &status) == 0 && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) && ::isatty(fd) == 0;
  if (!is_device) return "(standard output)";
  return fmt::format("(standard output, {})", std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), none).string());
}

// Makes the path of a file without a name.
std::string unnamed_path(std::string_view directory, Role role) {
  while (directory.ends_with('/')) directory.remove_suffix(1);
  return fmt::format("{}/(unnamed {})", directory, to_string(role));
}

}  // namespace

FilePtr PosixStorage::make_file(Descriptor descriptor, File::Facts facts) {
  facts.id = ++opened_;
  return std::make_unique<File>(descriptor.release(), std::move(facts));
}

FilePtr PosixStorage::make_reopened_file(Descriptor descriptor, File::Facts facts) {
  const int flags = ::fcntl(descriptor.get(), F_GETFL) & (O_ACCMODE | O_DIRECT);
  const auto open = [this, flags, path = facts.path] {
    const HeldDirectories::Place place = held_.find(path);
    return ::openat(place.directory, place.name.c_str(), flags | O_CLOEXEC | O_NOCTTY | place.open_flags());
  };
  facts.id = ++opened_;
  auto reopened = std::make_shared<ReopenedFile>(reopened_, descriptor.get(), facts.path, open);
  (void)descriptor.release();
  return std::make_unique<File>(std::move(reopened), std::move(facts));
}

FilePtr PosixStorage::open_input(const std::string& path, Caching caching) {
  if (path == "-") return open_standard_input(caching);
  const HeldDirectories::Place place = held_.find(path);
  Descriptor descriptor(::openat(place.directory, place.name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | place.open_flags()));
  if (!descriptor.is_open()) throw_open_error("open", path, errno);
  return describe_input(std::move(descriptor), {.role = Role::input, .path = path}, caching);
}

// An inherited description is shared with all that hold it: opening the file anew gives us flags of our own. Where that is not
// permitted, a duplicate serves, buffered.
FilePtr PosixStorage::open_standard_input(Caching caching) {
  File::Facts facts{.role = Role::input, .path = standard_input};
  reads_input_ = true;
  Descriptor descriptor(::fcntl(streams_.input, F_DUPFD_CLOEXEC, 3));
  if (!descriptor.is_open()) throw IoError::from_call("open", facts.path, errno);
  if (S_ISREG(status_of(descriptor.get(), facts.path).st_mode)) {
    const off_t position = ::lseek(descriptor.get(), 0, SEEK_CUR);
    if (position < 0) throw IoError::from_call("seek in", facts.path, errno);
    facts.start_offset = static_cast<std::uint64_t>(position);
    Descriptor own(::open(fmt::format("/proc/self/fd/{}", streams_.input).c_str(), O_RDONLY | O_CLOEXEC));
    if (own.is_open())
      descriptor = std::move(own);
    else
      caching = Caching::buffered;
  }
  return describe_input(std::move(descriptor), std::move(facts), caching);
}

FilePtr PosixStorage::describe_input(Descriptor descriptor, File::Facts facts, Caching caching) {
  const int fd = descriptor.get();
  const struct stat status = status_of(fd, facts.path);
  if (S_ISDIR(status.st_mode)) throw UsageError(fmt::format("'{}' is a directory", facts.path));
  if (S_ISREG(status.st_mode)) {
    facts.size_bytes = static_cast<std::uint64_t>(status.st_size);
    facts.alignment = unit_of(fd, caching);
    if (facts.start_offset % facts.alignment != 0) {
      facts.alignment = 1;
      if (::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_DIRECT) != 0) throw IoError::from_call("open", facts.path, errno);
    }
  } else if (S_ISBLK(status.st_mode)) {
    const off_t end = ::lseek(fd, 0, SEEK_END);
    if (end < 0) throw IoError::from_call("find the size of", facts.path, errno);
    facts.size_bytes = static_cast<std::uint64_t>(end);
  } else {
    facts.is_stream = true;
  }
  const bool has_name = S_ISREG(status.st_mode) && facts.path != standard_input;
  return has_name ? make_reopened_file(std::move(descriptor), std::move(facts))
                  : make_file(std::move(descriptor), std::move(facts));
}

FilePtr PosixStorage::create_unnamed(const std::string& directory, Role role, Caching caching) {
  if (unnamed_ == Unnamed::never) return create_with_temporary_name(directory, role, caching);
  Descriptor descriptor = open_unnamed(directory, role);
  if (!descriptor.is_open()) {
    if (lacks_unnamed_files(errno)) return create_with_temporary_name(directory, role, caching);
    throw_open_error("create a file in", directory, errno);
  }
  const std::size_t unit = unit_of(descriptor.get(), caching);
  return make_file(std::move(descriptor), {.role = role, .path = unnamed_path(directory, role), .alignment = unit});
}

bool PosixStorage::has_unnamed_files(const std::string& directory) {
  if (unnamed_ == Unnamed::never) return false;
  if (open_unnamed(directory, Role::output).is_open()) return true;
  if (lacks_unnamed_files(errno)) return false;
  throw_open_error("create a file in", directory, errno);
}

// An output keeps its name, and a lock that shows the next run that it is alive, until it is published; the others lose their
// name at once.
FilePtr PosixStorage::create_with_temporary_name(const std::string& directory, Role role, Caching caching) {
  Descriptor descriptor;
  std::string path;
  for (int attempt = 0; attempt < name_attempts && !descriptor.is_open(); ++attempt) {
    path = directory + "/" + fresh_temporary_name();
    descriptor = Descriptor(::open(path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600));
    if (!descriptor.is_open() && errno != EEXIST) break;
  }
  if (!descriptor.is_open()) throw_open_error("create a file in", directory, errno);
  auto name = std::make_shared<TemporaryName>(path);
  if (role == Role::output) {
    ::flock(descriptor.get(), LOCK_EX | LOCK_NB);  // a courtesy; not every file system has locks
  } else {
    if (::unlink(path.c_str()) != 0) throw IoError::from_call("remove", path, errno);
    name->release();
    name = nullptr;
    path = unnamed_path(directory, role);
  }
  const std::size_t unit = unit_of(descriptor.get(), caching);
  return make_file(std::move(descriptor), {.role = role, .path = path, .alignment = unit, .attachment = std::move(name)});
}

FilePtr PosixStorage::open_standard_output() {
  File::Facts facts{.role = Role::output, .path = standard_output_name(streams_.output), .is_stream = true};
  Descriptor descriptor(::fcntl(streams_.output, F_DUPFD_CLOEXEC, 3));
  if (!descriptor.is_open()) throw IoError::from_call("open", facts.path, errno);
  return make_file(std::move(descriptor), std::move(facts));
}

bool PosixStorage::reserve(File& file, std::uint64_t offset, std::uint64_t size_bytes) {
  const auto call = [&] { return ::fallocate(file.fd(), 0, static_cast<off_t>(offset), static_cast<off_t>(size_bytes)); };
  if (size_bytes == 0 || retry_interrupted(call) == 0) return true;
  if (errno == EOPNOTSUPP || errno == ENOSYS) return false;
  throw IoError::from_call("reserve space in", file.path(), errno, offset, size_bytes);
}

// XFS gives back the space of what was cut off or removed in the background, after its log was written.
bool PosixStorage::wait_for_space(const File& file, unsigned attempt) {
  if (attempt == 1 && on_wait_ && frees_in_background(file)) on_wait_(file);
  return wait_quietly(file, attempt);
}

void PosixStorage::set_size(File& file, std::uint64_t size_bytes) {
  if (retry_interrupted([&] { return ::ftruncate(file.fd(), static_cast<off_t>(size_bytes)); }) != 0)
    throw IoError::from_call("set the size of", file.path(), errno);
}

void PosixStorage::sync(File& file) {
  if (::fsync(file.fd()) != 0) throw IoError::from_call("sync", file.path(), errno);
  file.set_synced(true);
}

void PosixStorage::close(FilePtr file) {
  const int fd = file->release_descriptor();
  if (fd >= 0 && ::close(fd) != 0) throw IoError::from_call("close", file->path(), errno);
}

FileState PosixStorage::state(const File& file) {
  const struct stat status = status_of(file.fd(), file.path());
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size_bytes = static_cast<std::uint64_t>(status.st_size),
          .allocated_bytes = static_cast<std::uint64_t>(status.st_blocks) * 512,
          .modified_ns = nanoseconds(status.st_mtim),
          .changed_ns = nanoseconds(status.st_ctim)};
}

std::uint64_t PosixStorage::free_bytes(const std::string& directory) {
  struct statvfs system{};
  if (::statvfs(directory.c_str(), &system) != 0) throw_open_error("ask for the free space of", directory, errno);
  return std::uint64_t{system.f_bavail} * system.f_frsize;
}

std::uint64_t PosixStorage::settled_free_bytes(const std::string& directory, std::uint64_t wanted_bytes) {
  if (const std::uint64_t now = free_bytes(directory); now >= wanted_bytes) return now;
  const File open(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), {.path = directory});
  constexpr unsigned attempts = 3;  // 50 + 100 ms: a plan is refused sooner than a job is
  for (unsigned attempt = 0; attempt < attempts && open.fd() >= 0 && wait_quietly(open, attempt); ++attempt)
    if (const std::uint64_t now = free_bytes(directory); now >= wanted_bytes) return now;
  return free_bytes(directory);
}

}  // namespace ecosort::io
