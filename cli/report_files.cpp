#include "cli/report_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/errors.h"
#include "base/text.h"
#include "demsort_inplace/prepare/records.h"
#include "job/places.h"

namespace ecosort::cli {

namespace {

struct ReportFile {
  std::string_view option;
  const std::string& path;
};

template <class Inputs>
std::set<job::FileNumber> numbers_of(const Inputs& inputs) {
  std::set<job::FileNumber> numbers;
  for (const auto& input : inputs)
    if (input.file && !input.file->facts().is_stream) numbers.emplace(input.opened.device, input.opened.inode);
  return numbers;
}

[[noreturn]] void refuse_input(const ReportFile& report) {
  throw UsageError(fmt::format("{} '{}' is an input and would be overwritten", report.option, report.path));
}

[[noreturn]] void refuse_pair(std::string_view one, const ReportFile& report) {
  throw UsageError(fmt::format("{} and {} are both '{}'; name two files", one, report.option, report.path));
}

// Devices and pipes lose nothing.
bool is_special(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISBLK(info.st_mode);
}

// A report that is a device takes the place of nothing.
bool takes_place_of(const std::string& report, const std::string& other) {
  return !is_special(report) && job::are_one_file(report, other);
}

// The journal of a job that was killed, and its runs, which may be all there is of the records.
bool is_of_job(const std::string& report, const std::string& file) {
  const demsort_inplace::JobPaths paths(file);
  return job::are_one_file(report, paths.trace) || job::is_in(report, paths.directory);
}

// The output is compared later: when it is known whether it is a stream or a directory.
bool names_file(const GivenOption& given) {
  const std::vector<std::string_view> values = split(given.row->argument, '|');
  return given.word && values.back() == "FILE" && given.row->concern != Concern::output &&
         std::ranges::find(values, *given.word) == values.end();
}

void check_report_file(const ReportFile& report, const std::set<job::FileNumber>& inputs) {
  struct stat info{};
  if (report.path == "-") throw UsageError(fmt::format("{} '-' is no file; name one, such as /dev/stderr", report.option));
  if (::stat(report.path.c_str(), &info) != 0) {
    const int error = errno;
    if (error == ENOENT || error == EACCES)
      job::check_writable_directory(fmt::format("{}: directory", report.option), directory_of(report.path));
    if (error == ENOENT) return;
    throw UsageError(fmt::format("{} '{}': {}", report.option, report.path, std::strerror(error)));
  }
  if (S_ISDIR(info.st_mode)) throw UsageError(fmt::format("{} '{}' is a directory", report.option, report.path));
  if (inputs.contains({info.st_dev, info.st_ino})) refuse_input(report);
  if (::access(report.path.c_str(), W_OK) != 0)
    throw UsageError(fmt::format("{} '{}' is not writable: {}", report.option, report.path, std::strerror(errno)));
}

void check(const ReportFiles& files, const std::set<job::FileNumber>& inputs, const job::WrittenFiles& written) {
  std::vector<ReportFile> reports;
  if (!files.stats.empty()) reports.push_back({"--stats", files.stats});
  if (!files.events.empty()) reports.push_back({"--events", files.events});
  if (!files.trace.empty()) reports.push_back({"--trace", files.trace});
  if (!files.report.empty()) reports.push_back({"--report", files.report});
  for (const ReportFile& report : reports) {
    check_report_file(report, inputs);
    if (is_special(report.path)) continue;
    io::check_no_job(io::name_behind_links(report.path));
    if (const char* const role = job::role_of(report.path, written); role != nullptr)
      throw UsageError(fmt::format("{} '{}' is {}; name another file", report.option, report.path, role));
    if (!written.output.empty() && written.output != "-" && is_of_job(report.path, written.output))
      throw UsageError(
          fmt::format("{} '{}' is of the job of '{}'; name another file", report.option, report.path, written.output));
  }
  for (std::size_t i = 0; i < reports.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (takes_place_of(reports[i].path, reports[j].path)) refuse_pair(reports[j].option, reports[i]);
}

}  // namespace

void check_named_reports(const GivenWords& given) {
  for (const GivenOption& option : given.options) {
    if (option.row->concern != Concern::report || !names_file(option)) continue;
    const ReportFile report{last_spelling(option.row->name), *option.word};
    for (const std::string& operand : given.operands)
      if (takes_place_of(report.path, operand == "-" ? "/dev/stdin" : operand)) refuse_input(report);
    for (const GivenOption& other : given.options)
      if (other.row->concern != Concern::report && names_file(other) && takes_place_of(report.path, *other.word))
        refuse_pair(last_spelling(other.row->name), report);
  }
}

void check_report_files(const ReportFiles& files, const std::vector<engine::fixed::Input>& inputs,
                        const job::WrittenFiles& written) {
  check(files, numbers_of(inputs), written);
}

void check_report_files(const ReportFiles& files, const std::vector<engine::rows::LineInput>& inputs,
                        const job::WrittenFiles& written) {
  check(files, numbers_of(inputs), written);
}

void check_report_files(const ReportFiles& files, const std::vector<std::string>& inputs, const job::WrittenFiles& written) {
  check(files, job::numbers_of(inputs), written);
}

}  // namespace ecosort::cli
