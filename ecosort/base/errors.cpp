#include "base/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ecosort {

IoError IoError::from_call(const char* call, const std::string& path, int error_number, std::uint64_t offset,
                           std::uint64_t size_bytes) {
  const char* reason = std::strerror(error_number);
  if (size_bytes == 0) return IoError(fmt::format("cannot {} '{}': {}", call, path, reason), error_number);
  return IoError(fmt::format("cannot {} '{}' at offset {} ({} bytes): {}", call, path, offset, size_bytes, reason), error_number);
}

Interrupted::Interrupted(int signal_number)
    : std::runtime_error(signal_number > 0 ? fmt::format("interrupted by signal {} ({})", signal_number, strsignal(signal_number))
                                           : "stopped as asked"),
      signal_(std::max(signal_number, 0)) {}

}  // namespace ecosort
