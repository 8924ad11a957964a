#include "base/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/open_files.h"

namespace ecosort {

namespace {

// So many files are enough for any number of inputs and runs.
constexpr std::uint64_t enough_open_files = 32;

std::string limit_told(int error_number) {
  if (error_number != EMFILE) return {};
  const std::uint64_t allowed = open_files_allowed();
  return allowed < enough_open_files
             ? fmt::format(" ({} are allowed, {} are enough: ulimit -n {})", allowed, enough_open_files, enough_open_files)
             : fmt::format(" ({} are allowed: raise that with ulimit -n)", allowed);
}

}  // namespace

IoError IoError::from_call(const char* call, const std::string& path, int error_number, std::uint64_t offset,
                           std::uint64_t size_bytes) {
  const std::string reason = std::strerror(error_number) + limit_told(error_number);
  if (size_bytes == 0) return IoError(fmt::format("cannot {} '{}': {}", call, path, reason), error_number);
  return IoError(fmt::format("cannot {} '{}' at offset {} ({} bytes): {}", call, path, offset, size_bytes, reason), error_number);
}

Interrupted::Interrupted(int signal_number)
    : std::runtime_error(signal_number > 0 ? fmt::format("interrupted by signal {} ({})", signal_number, strsignal(signal_number))
                                           : "stopped as asked"),
      signal_(std::max(signal_number, 0)) {}

}  // namespace ecosort
