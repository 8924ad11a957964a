// PosixStorage::publish: how an output gets its name without ever exposing half a file (promise P2).
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
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
#include "io/plain_file.h"
#include "io/posix_storage.h"
#include "io/temporary_name.h"

namespace ecosort::io {

namespace {

constexpr int most_links = 40;  // the kernel's own limit

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

// Files get their names here.
struct PublishPlace {
  OutputPlace output;
  int directory;
};

// Gives the unnamed file this name. Returns false where the name is taken.
[[nodiscard]] bool link_to(const File& file, const std::string& name, const PublishPlace& place) {
  const std::string source = fmt::format("/proc/self/fd/{}", file.fd());
  if (::linkat(AT_FDCWD, source.c_str(), place.directory, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno == EEXIST) return false;
  throw IoError::from_call("name the output for", place.output.path, errno);
}

[[nodiscard]] std::string link_to_fresh_name(const File& file, const PublishPlace& place) {
  for (int attempt = 0; attempt < name_attempts; ++attempt)
    if (std::string name = fresh_temporary_name(); link_to(file, name, place)) return name;
  throw IoError::from_call("name the output for", place.output.path, EEXIST);
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
    struct stat status{};
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

OutputPlace resolve_free_output(const std::string& path) {
  OutputPlace output = resolve_output(path);
  check_no_job(output.path);
  return output;
}

namespace {

// The name of a file that was synced. It may have a temporary one. A name that is free is taken in one step, so that no kill
// can leave a temporary name behind; what exists can only be replaced through a second name.
void give_name(const File& file, const PublishPlace& place, const BeforeStep& before_step) {
  const auto temporary = std::dynamic_pointer_cast<TemporaryName>(file.facts().attachment);
  const std::string base = base_of(place.output.path);
  call(before_step, PublishStep::link);
  if (!temporary && !place.output.exists && link_to(file, base, place)) return;
  FreshName fresh(place.directory, temporary ? std::string() : link_to_fresh_name(file, place));
  call(before_step, PublishStep::rename);
  const int renamed = temporary ? ::renameat(AT_FDCWD, temporary->path().c_str(), place.directory, base.c_str())
                                : ::renameat(place.directory, fresh.text().c_str(), place.directory, base.c_str());
  if (renamed != 0) throw IoError::from_call("rename the output to", place.output.path, errno);
  fresh.release();
  if (temporary) {
    temporary->release();
    ::flock(file.fd(), LOCK_UN);
  }
}

// After give_name() of what had no name.
[[nodiscard]] bool needs_another_sync(const File& file, const FileSystem& system) {
  return std::dynamic_pointer_cast<TemporaryName>(file.facts().attachment) == nullptr && needs_sync_with_name(system);
}

[[nodiscard]] bool take_name_away(const PublishPlace& place) {
  return !place.output.exists && ::unlinkat(place.directory, base_of(place.output.path).c_str(), 0) == 0;
}

}  // namespace

// The end of a pipe does not show whether its writer had finished or was killed. Input that is still unread was not needed: a
// merge with a limit ends before its input does, and its writer waits to write more.
void PosixStorage::demand_complete_input() {
  if (is_known_complete_ || !reads_input_ || streams_.input_complete < 0) return;
  std::array<pollfd, 2> waiting{{{streams_.input_complete, POLLIN, 0}, {streams_.input, POLLIN, 0}}};
  char byte = 0;
  for (;;) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR)
      throw IoError::from_call("wait for the end of", "standard input", errno);
    if (waiting[0].revents != 0) break;
    if ((waiting[1].revents & POLLIN) != 0) return;
    if (waiting[1].revents != 0) waiting[1].fd = -1;  // its end
  }
  if (::read(streams_.input_complete, &byte, 1) != 1)
    throw IoError("standard input: the program that writes it ended before it had written everything; no output was made");
  is_known_complete_ = true;
}

// One sync before the name appears, of data and attributes alike, and one of the directory behind it. A failed sync of
// the directory is undone where that loses nothing; where a file was replaced its old contents are gone, and the new ones,
// complete and durable, stay.
std::string PosixStorage::publish(File& file, const std::string& final_path, const BeforeStep& before_step) {
  demand_complete_input();
  const OutputPlace output = resolve_free_output(final_path);
  const Descriptor directory = open_to_publish(output.directory);
  const PublishPlace place{output, directory.get()};
  const FileSystem system = system_for_names(directory.get(), output.directory);

  call(before_step, PublishStep::attributes);
  std::string notice = take_attributes(file, output);
  sync(file);
  give_name(file, place, before_step);
  try {
    call(before_step, PublishStep::sync_directory);
    sync_names(place.directory, output.directory, system);
    if (needs_another_sync(file, system)) sync(file);
  } catch (const IoError& error) {
    if (take_name_away(place)) throw;
    throw IoError(fmt::format("{}; '{}' is complete, but may not survive a power cut", error.what(), output.path),
                  error.error_number());
  }
  const std::string doubt = doubt_about_names(output.directory, system);
  return notice.empty() || doubt.empty() ? notice + doubt : notice + "; " + doubt;
}

// Each step is one of all files, so that a journal is written once for all of them.
std::string PosixStorage::publish_all(const std::vector<Named>& files) {
  std::vector<PublishPlace> places;
  if (files.empty()) return "";
  demand_complete_input();
  const Descriptor directory = open_to_publish(resolve_output(files.front().final_path).directory);
  const FileSystem system = system_for_names(directory.get(), files.front().final_path);
  std::string notice;
  for (const Named& file : files) {
    places.push_back({resolve_free_output(file.final_path), directory.get()});
    if (places.back().output.directory != places.front().output.directory)  // through a symbolic link
      return Storage::publish_all(files);
  }
  for (std::size_t i = 0; i < files.size(); ++i)
    if (const std::string lost = take_attributes(*files[i].file, places[i].output); notice.empty()) notice = lost;
  for (const Named& file : files) sync(*file.file);
  std::size_t named = 0;
  try {
    for (; named < files.size(); ++named) give_name(*files[named].file, places[named], {});
    sync_names(directory.get(), places.front().output.directory, system);
    for (const Named& file : files)
      if (needs_another_sync(*file.file, system)) sync(*file.file);
  } catch (const Error&) {
    while (named > 0) (void)take_name_away(places[--named]);
    throw;
  }
  return notice.empty() ? doubt_about_names(places.front().output.directory, system) : notice;
}

}  // namespace ecosort::io
