#include "io/file.h"

#include <unistd.h>

#include <array>

#include "io/queue.h"

namespace ecosort::io {

const char* to_string(Role role) noexcept {
  static constexpr std::array names{"input", "run", "output", "journal"};
  return names[static_cast<std::size_t>(role)];
}

const char* to_string(Operation operation) noexcept {
  static constexpr std::array names{"read", "write", "sync", "release", "reserve"};
  return names[static_cast<std::size_t>(operation)];
}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

int File::release_descriptor() noexcept {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

}  // namespace ecosort::io
