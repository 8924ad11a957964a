#include "io/open_error.h"

#include <cerrno>

#include "base/errors.h"

namespace ecosort::io {

void throw_open_error(const char* call, const std::string& path, int error_number) {
  const IoError error = IoError::from_call(call, path, error_number);
  switch (error_number) {
    case ENOENT:
    case EACCES:
    case EPERM:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case EROFS:
      throw NameError(error.what());
    default:
      throw error;
  }
}

}  // namespace ecosort::io
