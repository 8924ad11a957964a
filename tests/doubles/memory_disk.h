// MemoryStore and its queues share inodes, names, space, the log.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "doubles/memory_store.h"
#include "doubles/paged_bytes.h"

namespace ecosort::io {

// Thread-safe. Errors are the caller's to throw: calls return 0 or -errno unless said otherwise. Paths are normal.
class MemoryDisk {
 public:
  MemoryDisk(DiskImage initial, const MemoryStore::Options& options);

  [[nodiscard]] const MemoryStore::Options& options() const noexcept { return options_; }
  [[nodiscard]] const std::vector<StoreEvent>& log() const noexcept { return log_; }  // only while no one changes the disk
  [[nodiscard]] DiskImage snapshot() const;
  [[nodiscard]] std::uint64_t allocated_bytes() const;
  [[nodiscard]] std::uint64_t most_allocated_bytes() const;
  [[nodiscard]] std::size_t open_files() const;

  // Names. `find` returns 0 where there is no such file.
  [[nodiscard]] std::uint64_t find(const std::string& path) const;
  [[nodiscard]] bool is_directory(const std::string& path) const;
  [[nodiscard]] int link(std::uint64_t inode, const std::string& path);
  [[nodiscard]] int rename(const std::string& from, const std::string& to);
  [[nodiscard]] int unlink(const std::string& path);
  [[nodiscard]] int make_directory(const std::string& path);
  [[nodiscard]] int remove_directory(const std::string& path);
  [[nodiscard]] int sync_directory(const std::string& path);
  [[nodiscard]] std::vector<std::string> list(const std::string& directory) const;

  // Inodes. They go when they have neither a name nor an open file.
  [[nodiscard]] std::uint64_t create_inode();  // opened
  void open(std::uint64_t inode);
  void close(std::uint64_t inode);
  [[nodiscard]] FileState state(std::uint64_t inode) const;
  [[nodiscard]] std::uint64_t next_file_id();

  // Contents. A change is issued, then completed: in between a power cut may or may not find it.
  [[nodiscard]] std::int64_t read(std::uint64_t inode, std::uint64_t offset, std::byte* data, std::size_t size) const;
  [[nodiscard]] std::uint64_t issue(std::uint64_t inode, StoreEvent::Change change);  // returns its number
  [[nodiscard]] std::int64_t complete(std::uint64_t inode, std::uint64_t number, const StoreEvent::Change& change);
  [[nodiscard]] std::uint64_t issue_sync(std::uint64_t inode);
  void complete_sync(std::uint64_t inode, std::uint64_t number);
  // Returns whether anything came free late, or will.
  [[nodiscard]] bool wait_for_space(unsigned attempt);

 private:
  struct Inode {
    PagedBytes contents;
    unsigned names = 0, open_files = 0;
    std::string hidden_name = {};  // of a file that was removed while it was open
    std::uint64_t changed = 0;     // the disk's step at the last change
  };

  void record(StoreEvent event);
  void record_name(StoreEvent::Kind kind, std::uint64_t inode, const std::string& name, const std::string& other_name = {});
  void record_request(StoreEvent::Kind kind, std::uint64_t inode, std::uint64_t request, StoreEvent::Change change = {});
  [[nodiscard]] std::vector<std::string> names_in(const std::string& directory) const;
  [[nodiscard]] std::uint64_t allow(Inode& inode, const StoreEvent::Change& change);
  void apply(Inode& inode, const StoreEvent::Change& change);
  void drop_name(const std::string& path);
  void hide(std::uint64_t number, const std::string& directory);
  void drop_if_unused(std::uint64_t number);
  [[nodiscard]] bool has_parent(const std::string& path) const;

  const MemoryStore::Options options_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Inode> inodes_;
  std::map<std::string, std::uint64_t> files_;
  std::set<std::string> directories_;
  std::uint64_t last_inode_ = 0, last_request_ = 0, last_file_ = 0, steps_ = 0;
  std::uint64_t allocated_ = 0, most_allocated_ = 0;
  std::uint64_t late_ = 0;  // bytes that were given up, but are not free yet
  std::size_t open_files_ = 0;
  std::vector<StoreEvent> log_;
};

// A File of the store carries it: it keeps its inode open.
class OpenInode : public Attachment {
 public:
  OpenInode(std::shared_ptr<MemoryDisk> disk, std::uint64_t inode) : disk_(std::move(disk)), inode_(inode) {}
  ~OpenInode() override { disk_->close(inode_); }
  [[nodiscard]] std::uint64_t inode() const noexcept { return inode_; }

  // The inode of a file of a memory store; 0 for any other file.
  [[nodiscard]] static std::uint64_t of(const File& file);

 private:
  const std::shared_ptr<MemoryDisk> disk_;
  const std::uint64_t inode_;
};

}  // namespace ecosort::io
