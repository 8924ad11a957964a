#include "cli/report_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/errors.h"
#include "job/places.h"

namespace ecosort::cli {

namespace {

struct ReportFile {
  const char* option;
  const std::string& path;
};

// Returns what a name leads to, whether or not it exists yet.
std::string canonical(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path found = std::filesystem::weakly_canonical(path, ignored);
  return found.empty() ? path : std::filesystem::absolute(found, ignored).string();
}

// Returns the states of those of the inputs that are files.
template <class Inputs>
std::vector<io::FileState> states_of(const Inputs& inputs) {
  std::vector<io::FileState> states;
  for (const auto& input : inputs)
    if (input.file && !input.file->facts().is_stream) states.push_back(input.opened);
  return states;
}

std::vector<io::FileState> states_of(const std::vector<std::string>& names) {
  std::vector<io::FileState> states;
  struct stat info{};
  for (const std::string& name : names)
    if ((name == "-" ? ::fstat(STDIN_FILENO, &info) : ::stat(name.c_str(), &info)) == 0 &&
        (S_ISREG(info.st_mode) || S_ISBLK(info.st_mode)))
      states.push_back({.device = info.st_dev, .inode = info.st_ino});
  return states;
}

void check_report_file(const ReportFile& report, const std::vector<io::FileState>& inputs) {
  const std::string parent = std::filesystem::path(report.path).parent_path().string();
  struct stat info{};
  if (::stat(report.path.c_str(), &info) != 0) {
    const int error = errno;
    if (error == ENOENT || error == EACCES)
      job::check_writable_directory(fmt::format("{}: directory", report.option), parent.empty() ? "." : parent);
    if (error == ENOENT) return;
    throw UsageError(fmt::format("{} '{}': {}", report.option, report.path, std::strerror(error)));
  }
  if (S_ISDIR(info.st_mode)) throw UsageError(fmt::format("{} '{}' is a directory", report.option, report.path));
  if (std::ranges::any_of(inputs, [&](const auto& input) { return input.device == info.st_dev && input.inode == info.st_ino; }))
    throw UsageError(fmt::format("{} '{}' is an input and would be overwritten", report.option, report.path));
  if (::access(report.path.c_str(), W_OK) != 0)
    throw UsageError(fmt::format("{} '{}' is not writable: {}", report.option, report.path, std::strerror(errno)));
}

void check(const ReportFiles& files, const std::vector<io::FileState>& inputs, const std::string& output) {
  std::vector<ReportFile> reports;
  if (!files.stats.empty()) reports.push_back({"--stats", files.stats});
  if (!files.events.empty()) reports.push_back({"--events", files.events});
  if (!files.trace.empty()) reports.push_back({"--trace", files.trace});
  if (!files.report.empty()) reports.push_back({"--report", files.report});
  for (const ReportFile& report : reports) {
    check_report_file(report, inputs);
    if (output != "-" && canonical(report.path) == canonical(output))
      throw UsageError(fmt::format("{} '{}' is the output; name another file", report.option, report.path));
  }
  for (std::size_t i = 0; i < reports.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (canonical(reports[i].path) == canonical(reports[j].path))
        throw UsageError(
            fmt::format("{} and {} are both '{}'; name two files", reports[j].option, reports[i].option, reports[i].path));
}

}  // namespace

void check_report_files(const ReportFiles& files, const std::vector<engine::fixed::Input>& inputs, const std::string& output) {
  check(files, states_of(inputs), output);
}

void check_report_files(const ReportFiles& files, const std::vector<engine::rows::LineInput>& inputs, const std::string& output) {
  check(files, states_of(inputs), output);
}

void check_report_files(const ReportFiles& files, const std::vector<std::string>& inputs, const std::string& output) {
  check(files, states_of(inputs), output);
}

}  // namespace ecosort::cli
