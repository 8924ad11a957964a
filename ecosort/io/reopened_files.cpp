#include "io/reopened_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "base/open_files.h"

namespace ecosort::io {

ReopenedFiles::Place ReopenedFiles::add(ReopenedFile& file) {
  const std::size_t most = open_files_share();
  for (auto next = open_.begin(); next != open_.end() && open_.size() >= most;) {
    ReopenedFile& oldest = **next++;
    if (oldest.may_be_closed()) oldest.close();
  }
  return open_.insert(open_.end(), &file);
}

ReopenedFile::ReopenedFile(std::shared_ptr<ReopenedFiles> files, int fd, std::string path, std::function<int()> open)
    : files_(std::move(files)), fd_(fd), path_(std::move(path)), open_(std::move(open)) {
  struct stat status{};
  if (::fstat(fd_, &status) != 0) throw IoError::from_call("examine", path_, errno);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  place_ = files_->add(*this);
}

ReopenedFile::~ReopenedFile() { close(); }

int ReopenedFile::fd() {
  if (fd_ < 0) open_again();
  return fd_;
}

void ReopenedFile::hold() {
  if (fd_ < 0)
    open_again();
  else
    files_->use(place_);
  ++held_;
}

// There is room for it before it is opened.
void ReopenedFile::open_again() {
  place_ = files_->add(*this);
  fd_ = open_();
  struct stat status{};
  const bool is_open = fd_ >= 0 && ::fstat(fd_, &status) == 0;
  if (is_open && status.st_dev == device_ && status.st_ino == inode_) return;
  const int error = errno;
  if (fd_ >= 0)
    close();
  else
    files_->remove(place_);
  if (!is_open) throw IoError::from_call("open again", path_, error);
  throw IoError(fmt::format("'{}' changed while it was read: its name leads to another file now", path_));
}

void ReopenedFile::close() noexcept {
  if (const int fd = release(); fd >= 0) ::close(fd);
}

int ReopenedFile::release() noexcept {
  if (fd_ >= 0) files_->remove(place_);
  return std::exchange(fd_, -1);
}

}  // namespace ecosort::io
