#include "io/open_error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/errors.h"

namespace ecosort::io {

std::string denied_on_the_way(const std::string& path, int error_number) {
  if (error_number != EACCES) return {};
  for (std::size_t slash = path.find('/', 1); slash < path.size(); slash = path.find('/', slash + 1)) {
    const std::string directory = path.substr(0, slash);
    if (::faccessat(AT_FDCWD, directory.c_str(), X_OK, AT_EACCESS) != 0 && errno == EACCES)
      return fmt::format(" (the directory '{}' may not be entered)", directory);
  }
  return {};
}

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
      throw NameError(error.what() + denied_on_the_way(path, error_number));
    default:
      throw error;
  }
}

}  // namespace ecosort::io
