// Files that can be opened again by their names. Where a process may have few files open, those that no one uses at the moment
// are closed, so that a sort takes any number of inputs.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

namespace ecosort::io {

class ReopenedFile;

// Knows which of them are open. Coordinator only.
class ReopenedFiles {
 public:
  using Place = std::list<ReopenedFile*>::iterator;

  // One more is open: where that makes more than open_files_share(), the ones are closed whose last use is longest ago.
  [[nodiscard]] Place add(ReopenedFile& file);
  void use(Place place) noexcept { open_.splice(open_.end(), open_, place); }
  void remove(Place place) noexcept { open_.erase(place); }

 private:
  std::list<ReopenedFile*> open_;  // the last one was used last
};

// The descriptor of one of them. Any thread may ask for it while the file is held; everything else is the coordinator's.
class ReopenedFile {
 public:
  // `open` opens it anew, or returns -1 with errno. `path` is for messages.
  ReopenedFile(std::shared_ptr<ReopenedFiles> files, int fd, std::string path, std::function<int()> open);
  ~ReopenedFile();
  ReopenedFile(const ReopenedFile&) = delete;
  ReopenedFile& operator=(const ReopenedFile&) = delete;

  // Opens the file where it is closed. IoError where it cannot be opened, or its name leads to another file by now.
  [[nodiscard]] int fd();
  // The file stays open from hold() to let_go(): a request is in flight.
  void hold();
  void let_go() noexcept { --held_; }
  // A write that is not synced must not be forgotten: a failure may be reported to this descriptor only.
  void set_synced(bool is_synced) noexcept { is_synced_ = is_synced; }

  [[nodiscard]] bool may_be_closed() const noexcept { return held_ == 0 && is_synced_; }
  void close() noexcept;
  // The caller closes it; -1: it is closed.
  [[nodiscard]] int release() noexcept;

 private:
  void open_again();

  std::shared_ptr<ReopenedFiles> files_;
  int fd_;
  ReopenedFiles::Place place_;  // while it is open
  unsigned held_ = 0;
  bool is_synced_ = true;
  std::uint64_t device_ = 0, inode_ = 0;
  const std::string path_;
  const std::function<int()> open_;
};

}  // namespace ecosort::io
