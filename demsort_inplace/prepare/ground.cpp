#include "demsort_inplace/prepare/ground.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/errors.h"
#include "base/memory.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "demsort_inplace/job_directory.h"
#include "io/durable_names.h"
#include "io/file_system.h"

namespace ecosort::demsort_inplace::prepare {

namespace {

std::uint64_t device_of(const std::string& directory) {
  struct stat info{};
  if (::stat(directory.c_str(), &info) != 0)
    throw UsageError(fmt::format("output directory '{}': {}", directory, std::strerror(errno)));
  return info.st_dev;
}

}  // namespace

void check_regular(const io::File& input) {
  struct stat info{};
  if (::fstat(input.fd(), &info) != 0 || !S_ISREG(info.st_mode))
    throw UsageError(fmt::format("'{}' is not a regular file, and cannot be read again after a crash", input.path()));
}

void check_outlives_crash(const std::string& directory) {
  if (const std::string doubt = io::doubt_about_names(directory); !doubt.empty())
    throw UsageError(
        fmt::format("{}; a job cannot outlive a crash there: name an output on another drive, or sort as usual", doubt));
  if (io::makes_fast_commits(directory))
    throw UsageError(fmt::format("a job cannot outlive a crash in '{}': {}", directory, io::fast_commits_reason));
}

Mode mode_in(const std::string& directory) {
  return io::frees_safely(io::file_system_of(directory, device_of(directory))) ? Mode::beside_input : Mode::keeping_runs;
}

std::string journal_notice(const std::string& output) {
  const std::string directory = JobPaths(output).parent;
  const io::FileSystem system = io::file_system_of(directory, device_of(directory));
  if (io::has_journal(system).value_or(true)) return {};
  return fmt::format(
      "'{}' is on {} without a journal: after a power cut the check of the file system may remove runs; the sort then begins "
      "anew "
      "(the inputs are only read)",
      directory, system.type);
}

std::uint64_t direct_unit(const std::string& directory, io::PosixStorage& storage) {
  const io::FilePtr probe = storage.create_unnamed(directory, io::Role::run, io::Caching::direct_if_possible);
  return std::max<std::uint64_t>(page_bytes, probe->alignment());
}

void check_file_size_limit(std::uint64_t largest_bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < largest_bytes)
    throw UsageError(fmt::format("files of {} ({} bytes) are needed, {} bytes are allowed (ulimit -f)",
                                 format_bytes(largest_bytes), largest_bytes, limit.rlim_cur));
}

void check_limits(const Layout& layout, bool is_in_place) {
  check_file_size_limit(std::max(layout.input_file_bytes(layout.records), is_in_place ? layout.extra_bytes() : 0));
  raise_open_files();
}

void refuse_space(const std::string& directory, std::uint64_t need_bytes, std::uint64_t free_bytes) {
  throw NotEnoughSpace(fmt::format("not enough space for the runs and the output in '{}': {} ({} bytes) needed, {} free",
                                   directory, format_bytes(need_bytes), need_bytes, format_bytes(free_bytes)),
                       NotEnoughSpace::For::job, free_bytes, need_bytes, {directory});
}

}  // namespace ecosort::demsort_inplace::prepare
