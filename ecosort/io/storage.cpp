#include "io/storage.h"

#include <cerrno>

#include "base/errors.h"

namespace ecosort::io {

bool is_full(int error_number) noexcept { return error_number == ENOSPC || error_number == EDQUOT; }

bool Storage::reserve_patiently(File& file, std::uint64_t offset, std::uint64_t size_bytes) {
  for (unsigned attempt = 0;; ++attempt) {
    try {
      return reserve(file, offset, size_bytes);
    } catch (const IoError& error) {
      if (!is_full(error.error_number()) || !wait_for_space(file, attempt)) throw;
    }
  }
}

}  // namespace ecosort::io
