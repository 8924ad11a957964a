#include "io/file.h"

#include <unistd.h>

#include <array>

#include "io/queue.h"
#include "io/reopened_files.h"

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

int File::fd_of_reopened() const { return reopened_->fd(); }

void File::hold() const {
  if (reopened_) reopened_->hold();
}

void File::let_go() const noexcept {
  if (reopened_) reopened_->let_go();
}

void File::set_synced(bool is_synced) const noexcept {
  if (reopened_) reopened_->set_synced(is_synced);
}

int File::release_descriptor() noexcept {
  if (reopened_) return reopened_->release();
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

}  // namespace ecosort::io
