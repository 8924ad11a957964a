#include "cli/sort_places.h"

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
#include "cli/sort_space.h"
#include "io/direct_io.h"

namespace ecosort::cli {

namespace {

struct stat examine(const char* what, const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) throw UsageError(fmt::format("{} '{}': {}", what, path, std::strerror(errno)));
  return info;
}

void check_writable_directory(const char* what, const std::string& directory) {
  if (!S_ISDIR(examine(what, directory).st_mode)) throw UsageError(fmt::format("{} '{}' is not a directory", what, directory));
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    throw UsageError(fmt::format("{} '{}' is not writable: {}", what, directory, std::strerror(errno)));
}

bool is_input(const struct stat& info, const std::vector<pipeline::Input>& inputs) {
  return std::ranges::any_of(inputs, [&](const pipeline::Input& input) {
    return !input.file->facts().is_stream && input.opened.device == info.st_dev && input.opened.inode == info.st_ino;
  });
}

// The two attributes (chattr +i, +a) and the mount that forbid a rename whatever the permissions are.
void check_not_pinned(const std::string& path) {
  struct statx facts {};
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

struct ReportFile {
  const char* option;
  const std::string& path;
};

// What a name leads to, whether or not it exists yet.
std::string canonical(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path found = std::filesystem::weakly_canonical(path, ignored);
  return found.empty() ? path : std::filesystem::absolute(found, ignored).string();
}

void check_report_file(const ReportFile& report, const std::vector<pipeline::Input>& inputs) {
  const std::string parent = std::filesystem::path(report.path).parent_path().string();
  struct stat info {};
  if (::stat(report.path.c_str(), &info) != 0) {
    if (errno != ENOENT) throw UsageError(fmt::format("{} '{}': {}", report.option, report.path, std::strerror(errno)));
    return check_writable_directory(fmt::format("{}: directory", report.option).c_str(), parent.empty() ? "." : parent);
  }
  if (S_ISDIR(info.st_mode)) throw UsageError(fmt::format("{} '{}' is a directory", report.option, report.path));
  if (is_input(info, inputs))
    throw UsageError(fmt::format("{} '{}' is an input and would be overwritten", report.option, report.path));
  if (::access(report.path.c_str(), W_OK) != 0)
    throw UsageError(fmt::format("{} '{}' is not writable: {}", report.option, report.path, std::strerror(errno)));
}

}  // namespace

void check_output(const std::string& output, const std::vector<pipeline::Input>& inputs) {
  struct stat info {};
  if (output == "-") {
    const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
      throw UsageError("standard output is not open for writing; redirect it, or name a file with -o");
    if (::fstat(STDOUT_FILENO, &info) == 0 && S_ISREG(info.st_mode) && is_input(info, inputs))
      throw UsageError("standard output is the input; redirect it to another file, or name one with -o");
    return;
  }
  const io::OutputPlace place = io::resolve_output(output);
  check_writable_directory("output directory", place.directory);
  if (::access(place.directory.c_str(), R_OK) != 0)
    throw UsageError(fmt::format("output directory '{}' cannot be opened, which making a new name durable takes: {}",
                                 place.directory, std::strerror(errno)));
  if (!place.exists || ::lstat(place.path.c_str(), &info) != 0) return;
  if (is_input(info, inputs))
    throw UsageError(
        fmt::format("output '{}' is the input; name another file (to sort a file in its own space: ecosort inplace)", output));
  check_not_pinned(place.path);
  check_not_sticky(place, info);
}

void check_report_files(const SortOptions& options, const std::vector<pipeline::Input>& inputs) {
  std::vector<ReportFile> reports;
  if (!options.stats.empty()) reports.push_back({"--stats", options.stats});
  if (!options.events.empty()) reports.push_back({"--events", options.events});
  if (!options.trace.empty()) reports.push_back({"--trace", options.trace});
  for (const ReportFile& report : reports) {
    check_report_file(report, inputs);
    if (options.output != "-" && canonical(report.path) == canonical(options.output))
      throw UsageError(fmt::format("{} '{}' is the output; name another file", report.option, report.path));
  }
  for (std::size_t i = 0; i < reports.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (canonical(reports[i].path) == canonical(reports[j].path))
        throw UsageError(
            fmt::format("{} and {} are both '{}'; name two files", reports[j].option, reports[i].option, reports[i].path));
}

std::vector<std::string> run_directories(const SortOptions& options) {
  std::vector<std::string> directories = options.temp;
  if (directories.empty()) directories.push_back(options.output == "-" ? "." : io::resolve_output(options.output).directory);
  std::set<std::uint64_t> drives;
  std::erase_if(directories, [&](const std::string& directory) {
    check_writable_directory("temporary directory", directory);
    return !drives.insert(drive_of(directory)).second;
  });
  return directories;
}

void check_not_tmpfs(const SortOptions& options, const std::vector<std::string>& directories) {
  if (!options.temp.empty() || !io::is_in_memory(directories.front())) return;
  throw UsageError(
      fmt::format("temporary directory '{}' is a tmpfs, so that runs would take memory; name a directory on a drive with --temp, "
                  "or this one if you mean it",
                  directories.front()));
}

}  // namespace ecosort::cli
