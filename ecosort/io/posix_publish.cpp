// PosixStorage::publish: how an output gets its name without ever exposing half a file (promise P2).
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "base/errors.h"
#include "io/durable_names.h"
#include "io/file_attributes.h"
#include "io/open_error.h"
#include "io/posix_storage.h"
#include "io/temporary_name.h"

namespace ecosort::io {

namespace {

constexpr int most_links = 40;  // the kernel's own limit
constexpr int name_attempts = 100;

[[nodiscard]] std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

[[nodiscard]] std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

[[nodiscard]] std::string target_of(const std::string& link) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
  if (size < 0) throw_open_error("read the symbolic link", link, errno);
  const std::string text(target.data(), static_cast<std::size_t>(size));
  return text.starts_with('/') ? text : directory_of(link) + "/" + text;
}

void check_replaceable(const std::string& path, mode_t mode) {
  if (S_ISDIR(mode)) throw NameError(fmt::format("'{}' is a directory", path));
  if (!S_ISREG(mode))
    throw NameError(
        fmt::format("'{}' is not a regular file and cannot be replaced (to write into it, use -o - and redirect)", path));
}

// The directory and the temporary name in it that becomes the final one. Goes by descriptor, so that a directory that is
// moved meanwhile stays the same one.
class FreshName {
 public:
  FreshName(int directory, std::string name) : directory_(directory), name_(std::move(name)) {}
  ~FreshName() {
    if (!name_.empty()) ::unlinkat(directory_, name_.c_str(), 0);
  }
  FreshName(const FreshName&) = delete;
  FreshName& operator=(const FreshName&) = delete;
  [[nodiscard]] const std::string& text() const noexcept { return name_; }
  void release() noexcept { name_.clear(); }

 private:
  const int directory_;
  std::string name_;
};

// Gives the unnamed file a fresh name in the directory, or returns the one it has.
[[nodiscard]] std::string link_to_fresh_name(const File& file, int directory, const OutputPlace& place) {
  const std::string source = fmt::format("/proc/self/fd/{}", file.fd());
  for (int attempt = 0; attempt < name_attempts; ++attempt) {
    std::string name = fresh_temporary_name();
    if (::linkat(AT_FDCWD, source.c_str(), directory, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return name;
    if (errno != EEXIST) break;
  }
  throw IoError::from_call("name the output for", place.path, errno);
}

[[nodiscard]] Descriptor open_to_publish(const std::string& path) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) throw_open_error("open the directory", path, errno);
  return directory;
}

[[nodiscard]] std::string take_attributes(const File& file, const OutputPlace& place) {
  if (!place.exists) {
    adopt_default_mode(file.fd(), file.path(), place.directory);
    return {};
  }
  const std::string lost = adopt_attributes(file.fd(), file.path(), place.path);
  return lost.empty() ? lost : fmt::format("could not keep of the replaced '{}': {}", place.path, lost);
}

void call(const BeforeStep& before_step, PublishStep step) {
  if (before_step) before_step(step);
}

}  // namespace

OutputPlace resolve_output(const std::string& path) {
  std::string at = path;
  for (int links = 0; links < most_links; ++links) {
    struct stat status {};
    if (base_of(at).empty()) throw NameError(fmt::format("'{}' is a directory", path));
    if (::lstat(at.c_str(), &status) != 0) {
      if (errno != ENOENT) throw_open_error("examine", at, errno);
      return {at, directory_of(at), false};
    }
    if (!S_ISLNK(status.st_mode)) {
      check_replaceable(at, status.st_mode);
      return {at, directory_of(at), true};
    }
    at = target_of(at);
  }
  throw_open_error("open", path, ELOOP);
}

// fsync before the name appears: the attributes must be as durable as the data that was synced before them. A failed sync of
// the directory is undone where that loses nothing; where a file was replaced its old contents are gone, and the new ones,
// complete and durable, stay.
std::string PosixStorage::publish(File& file, const std::string& final_path, const BeforeStep& before_step) {
  const OutputPlace place = resolve_output(final_path);
  const Descriptor directory = open_to_publish(place.directory);
  const auto temporary = std::dynamic_pointer_cast<TemporaryName>(file.facts().attachment);

  call(before_step, PublishStep::attributes);
  std::string notice = take_attributes(file, place);
  sync(file);
  call(before_step, PublishStep::link);
  FreshName fresh(directory.get(), temporary ? std::string() : link_to_fresh_name(file, directory.get(), place));
  call(before_step, PublishStep::rename);
  const std::string base = base_of(place.path);
  const int renamed = temporary ? ::renameat(AT_FDCWD, temporary->path().c_str(), directory.get(), base.c_str())
                                : ::renameat(directory.get(), fresh.text().c_str(), directory.get(), base.c_str());
  if (renamed != 0) throw IoError::from_call("rename the output to", place.path, errno);
  fresh.release();
  if (temporary) {
    temporary->release();
    ::flock(file.fd(), LOCK_UN);
  }
  try {
    call(before_step, PublishStep::sync_directory);
    sync_names(directory.get(), place.directory);
    if (!temporary) sync(file);  // that it has a name now: without a journal e2fsck takes what was unnamed for removed
  } catch (const IoError& error) {
    if (!place.exists && ::unlinkat(directory.get(), base.c_str(), 0) == 0) throw;
    throw IoError(fmt::format("{}; '{}' is complete, but may not survive a power cut", error.what(), place.path),
                  error.error_number());
  }
  const std::string doubt = doubt_about_names(place.directory);
  return notice.empty() || doubt.empty() ? notice + doubt : notice + "; " + doubt;
}

}  // namespace ecosort::io
