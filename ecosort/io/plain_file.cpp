#include "io/plain_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/errors.h"
#include "base/text.h"
#include "io/open_error.h"

namespace ecosort::io {
namespace {

constexpr std::uint64_t worth_direct_bytes = 8'000'000;  // below, the page cache is as fast and keeps the data at hand

[[noreturn]] void fail(const std::string& name, int error) {
  throw IoError(fmt::format("{}: {}", name, std::strerror(error)), error);
}

[[noreturn]] void fail_at(const std::string& name, int error, const char* call, std::size_t size, std::uint64_t offset) {
  throw IoError(fmt::format("{}: {} ({} of {} bytes at byte {})", name, std::strerror(error), call, size, offset), error);
}

// Repeats a call that a signal interrupted.
template <class Call>
auto uninterrupted(Call call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

// The directory of the name denied it, where there is no such file yet.
[[noreturn]] void fail_to_open(const std::string& name, int error) {
  std::string denier = denied_on_the_way(name, error);
  const bool is_new = ::access(name.c_str(), F_OK) != 0 && errno == ENOENT;
  if (denier.empty() && is_new && (error == EACCES || error == EROFS))
    denier = fmt::format(" (in the directory '{}')", directory_of(name));
  throw IoError(fmt::format("{}: {}{}", name, std::strerror(error), denier), error);
}

int open_named(const std::string& name, const char* standard_name, int standard_fd, int flags) {
  const int fd = name == standard_name ? ::fcntl(standard_fd, F_DUPFD_CLOEXEC, 0)
                                       : uninterrupted([&] { return ::open(name.c_str(), flags | O_CLOEXEC | O_NOCTTY, 0666); });
  if (fd < 0) fail_to_open(name, errno);
  return fd;
}

struct stat stat_of(int fd, const std::string& name) {
  struct stat facts{};
  if (::fstat(fd, &facts) != 0) fail(name, errno);
  return facts;
}

}  // namespace

PlainFile::PlainFile(int fd, std::string name, bool by_name) : fd_(fd), name_(std::move(name)) {
  const mode_t mode = stat_of(fd_, name_).st_mode;
  is_durable_ = S_ISREG(mode) || S_ISBLK(mode);
  has_positions_ = S_ISREG(mode) && by_name;
}

PlainFile::PlainFile(PlainFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      name_(std::move(other.name_)),
      is_durable_(other.is_durable_),
      has_positions_(other.has_positions_) {}

PlainFile::~PlainFile() {
  if (fd_ >= 0) ::close(fd_);
}

PlainFile PlainFile::open_for_reading(const std::string& name) {
  return {open_named(name, "/dev/stdin", STDIN_FILENO, O_RDONLY), name, name != "/dev/stdin"};
}

PlainFile PlainFile::create(const std::string& name) {
  check_no_job(name_behind_links(name));
  return {open_named(name, "/dev/stdout", STDOUT_FILENO, O_WRONLY | O_CREAT | O_TRUNC), name, name != "/dev/stdout"};
}

PlainFile::State PlainFile::state() const {
  const struct stat facts = stat_of(fd_, name_);
  return {.size_bytes = static_cast<std::uint64_t>(facts.st_size),
          .modified_ns = std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

void PlainFile::choose_caching(FileCaching caching, std::uint64_t size_bytes) {
  if (caching == FileCaching::buffered ||
      (caching == FileCaching::automatic && (!has_positions_ || size_bytes < worth_direct_bytes)))
    return;
  const int flags = ::fcntl(fd_, F_GETFL);
  const bool granted = has_positions_ && flags >= 0 && ::fcntl(fd_, F_SETFL, flags | O_DIRECT) == 0;
  if (!granted && caching == FileCaching::direct)
    throw IoError(fmt::format("{}: direct I/O is not possible here; leave ',dir' out", name_));
}

bool PlainFile::drop_direct() const noexcept {
  const int flags = ::fcntl(fd_, F_GETFL);
  return flags >= 0 && (flags & O_DIRECT) != 0 && ::fcntl(fd_, F_SETFL, flags & ~O_DIRECT) == 0;
}

std::size_t PlainFile::read(std::span<std::byte> data) {
  std::size_t done = 0;
  while (done < data.size()) {
    const ssize_t count = uninterrupted([&] { return ::read(fd_, data.data() + done, data.size() - done); });
    if (count < 0) fail(name_, errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

// EINVAL is how the kernel refuses a direct transfer: a file system with larger units, or the rest of a transfer that was cut
// off at an odd place. The page cache can serve it.
std::size_t PlainFile::read_at(std::uint64_t offset, std::span<std::byte> data) {
  std::size_t done = 0;
  while (done < data.size()) {
    const ssize_t count =
        uninterrupted([&] { return ::pread(fd_, data.data() + done, data.size() - done, static_cast<off_t>(offset + done)); });
    if (count < 0 && errno == EINVAL && drop_direct()) continue;
    if (count < 0) fail_at(name_, errno, "read", data.size() - done, offset + done);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

void PlainFile::write(std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t count = uninterrupted([&] { return ::write(fd_, data.data(), data.size()); });
    if (count <= 0) fail(name_, count < 0 ? errno : EIO);  // nothing taken and no reason given
    data = data.subspan(static_cast<std::size_t>(count));
  }
}

void PlainFile::write_at(std::uint64_t offset, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t count = uninterrupted([&] { return ::pwrite(fd_, data.data(), data.size(), static_cast<off_t>(offset)); });
    if (count < 0 && errno == EINVAL && drop_direct()) continue;
    if (count <= 0) fail_at(name_, count < 0 ? errno : EIO, "write", data.size(), offset);
    data = data.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

void PlainFile::reserve(std::uint64_t size_bytes) {
  if (uninterrupted([&] { return ::fallocate(fd_, 0, 0, static_cast<off_t>(size_bytes)); }) == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS) fail_at(name_, errno, "reservation", size_bytes, 0);
}

void PlainFile::set_size(std::uint64_t size_bytes) {
  if (uninterrupted([&] { return ::ftruncate(fd_, static_cast<off_t>(size_bytes)); }) != 0) fail(name_, errno);
}

void PlainFile::try_to_empty() noexcept {
  if (::ftruncate(fd_, 0) != 0) return;  // the failure that led here is the one to report
}

void PlainFile::sync() {
  if (is_durable_ && ::fsync(fd_) != 0) fail(name_, errno);
}

void PlainFile::close() {
  if (::close(std::exchange(fd_, -1)) != 0) fail(name_, errno);
}

std::vector<std::byte> read_whole_file(const std::string& name) {
  PlainFile file = PlainFile::open_for_reading(name);
  std::vector<std::byte> content;
  constexpr std::size_t step = 1 << 16;
  for (std::size_t size = 0;;) {
    content.resize(size + step);
    const std::size_t count = file.read(std::span(content).subspan(size));
    size += count;
    content.resize(size);
    if (count < step) return content;
  }
}

std::string name_behind_links(const std::string& path) {
  constexpr int most_links = 40;
  std::error_code error;
  std::filesystem::path at = path;
  for (int links = 0; links < most_links && std::filesystem::is_symlink(at, error); ++links)
    at = at.parent_path() / std::filesystem::read_symlink(at, error);
  const std::filesystem::path found = std::filesystem::weakly_canonical(std::filesystem::absolute(at, error), error);
  return found.empty() ? path : found.string();
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat facts_a{}, facts_b{};
  const bool is_there = ::stat(a.c_str(), &facts_a) == 0, is_other_there = ::stat(b.c_str(), &facts_b) == 0;
  if (is_there && is_other_there) return facts_a.st_dev == facts_b.st_dev && facts_a.st_ino == facts_b.st_ino;
  return !is_there && !is_other_there && name_behind_links(a) == name_behind_links(b);
}

// Leaves out inputs that are not there, which is reported when they are opened.
std::set<FileNumber> numbers_of(const std::vector<std::string>& inputs) {
  std::set<FileNumber> numbers;
  for (const std::string& input : inputs) {
    struct stat facts{};
    const bool is_there = (input == "-" ? ::fstat(STDIN_FILENO, &facts) : ::stat(input.c_str(), &facts)) == 0;
    if (is_there && (S_ISREG(facts.st_mode) || S_ISBLK(facts.st_mode))) numbers.emplace(facts.st_dev, facts.st_ino);
  }
  return numbers;
}

bool is_one_of(const std::string& path, const std::set<FileNumber>& files) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 && files.contains({facts.st_dev, facts.st_ino});
}

void check_no_job(const std::string& file) {
  struct stat status{};
  if (::lstat((job_directory_of(file) + "/journal").c_str(), &status) != 0) {
    if (errno == EACCES) throw_open_error("examine", file, errno);
    return;
  }
  throw UsageError(fmt::format(
      "'{}' holds a job that was interrupted; continue with: ecosort resume {}, or give it up with: ecosort resume --abandon {}",
      job_directory_of(file), file, file));
}

}  // namespace ecosort::io
