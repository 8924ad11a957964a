#include "io/storage.h"

#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "base/full_drive.h"

namespace ecosort::io {

bool Storage::reserve_patiently(File& file, std::uint64_t offset, std::uint64_t size_bytes) {
  for (unsigned attempt = 0;; ++attempt) {
    try {
      return reserve(file, offset, size_bytes);
    } catch (const IoError& error) {
      if (!is_full(error.error_number()) || !wait_for_space(file, attempt)) throw;
    }
  }
}

std::string Storage::publish_all(const std::vector<Named>& files) {
  std::string notice;
  for (const Named& file : files)
    if (std::string told = publish(*file.file, file.final_path); notice.empty()) notice = std::move(told);
  return notice;
}

}  // namespace ecosort::io
