#include "doubles/memory_disk.h"

#include <algorithm>
#include <cerrno>

namespace ecosort::io {

namespace {

using Kind = StoreEvent::Kind;
using Change = StoreEvent::Change;

[[nodiscard]] std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

[[nodiscard]] bool is_in(const std::string& path, const std::string& directory) {
  return path != "/" && directory_of(path) == directory;
}

}  // namespace

std::uint64_t OpenInode::of(const File& file) {
  const auto* open = dynamic_cast<const OpenInode*>(file.facts().attachment.get());
  return open == nullptr ? 0 : open->inode();
}

MemoryDisk::MemoryDisk(DiskImage initial, const MemoryStore::Options& options)
    : options_(options), directories_(std::move(initial.directories)) {
  directories_.insert("/");
  for (auto& [path, contents] : initial.files) {
    allocated_ += contents.allocated_bytes();
    files_[path] = ++last_inode_;
    inodes_[last_inode_] = {.contents = std::move(contents), .names = 1};
  }
  most_allocated_ = allocated_;
}

void MemoryDisk::record(StoreEvent event) {
  ++steps_;
  if (options_.records_events) log_.push_back(std::move(event));
}

void MemoryDisk::record_name(Kind kind, std::uint64_t inode, const std::string& name, const std::string& other_name) {
  StoreEvent event{kind};
  event.inode = inode;
  event.name = name;
  event.other_name = other_name;
  record(std::move(event));
}

void MemoryDisk::record_request(Kind kind, std::uint64_t inode, std::uint64_t request, Change change) {
  StoreEvent event{kind};
  event.inode = inode;
  event.request = request;
  event.change = std::move(change);
  record(std::move(event));
}

DiskImage MemoryDisk::snapshot() const {
  const std::lock_guard lock(mutex_);
  DiskImage image;
  image.directories = directories_;
  image.directories.erase("/");
  for (const auto& [path, number] : files_) image.files.emplace(path, inodes_.at(number).contents);
  return image;
}

std::uint64_t MemoryDisk::allocated_bytes() const {
  const std::lock_guard lock(mutex_);
  return allocated_;
}

std::uint64_t MemoryDisk::most_allocated_bytes() const {
  const std::lock_guard lock(mutex_);
  return most_allocated_;
}

std::size_t MemoryDisk::open_files() const {
  const std::lock_guard lock(mutex_);
  return open_files_;
}

std::uint64_t MemoryDisk::find(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  return found == files_.end() ? 0 : found->second;
}

bool MemoryDisk::is_directory(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return directories_.contains(path);
}

bool MemoryDisk::has_parent(const std::string& path) const { return path != "/" && directories_.contains(directory_of(path)); }

int MemoryDisk::link(std::uint64_t inode, const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (files_.contains(path) || directories_.contains(path)) return -EEXIST;
  if (!has_parent(path)) return -ENOENT;
  files_[path] = inode;
  ++inodes_.at(inode).names;
  record_name(Kind::link, inode, path);
  return 0;
}

int MemoryDisk::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  const auto source = files_.find(from);
  if (source == files_.end() || !has_parent(to)) return -ENOENT;
  if (directories_.contains(to)) return -EISDIR;
  const std::uint64_t inode = source->second;
  if (from == to) return 0;
  record_name(Kind::rename, inode, from, to);
  ++inodes_.at(inode).names;
  if (files_.contains(to)) drop_name(to);
  files_[to] = inode;
  drop_name(from);
  return 0;
}

int MemoryDisk::unlink(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return directories_.contains(path) ? -EISDIR : -ENOENT;
  record_name(Kind::unlink, found->second, path);
  if (options_.hides_removed) hide(found->second, directory_of(path));
  drop_name(path);
  return 0;
}

void MemoryDisk::hide(std::uint64_t number, const std::string& directory) {
  Inode& inode = inodes_.at(number);
  if (inode.open_files == 0 || inode.names > 1) return;
  inode.hidden_name = directory + "/.fuse_hidden" + std::to_string(number);
  files_[inode.hidden_name] = number;
  ++inode.names;
}

int MemoryDisk::make_directory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (files_.contains(path) || directories_.contains(path)) return -EEXIST;
  if (!has_parent(path)) return -ENOENT;
  directories_.insert(path);
  record_name(Kind::make_directory, 0, path);
  return 0;
}

int MemoryDisk::remove_directory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!directories_.contains(path) || path == "/") return -ENOENT;
  if (!names_in(path).empty()) return -ENOTEMPTY;
  directories_.erase(path);
  record_name(Kind::remove_directory, 0, path);
  return 0;
}

int MemoryDisk::sync_directory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!directories_.contains(path)) return -ENOENT;
  record_name(Kind::sync_directory, 0, path);
  return 0;
}

std::vector<std::string> MemoryDisk::list(const std::string& directory) const {
  const std::lock_guard lock(mutex_);
  return names_in(directory);
}

std::vector<std::string> MemoryDisk::names_in(const std::string& directory) const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& path) {
    if (is_in(path, directory)) names.push_back(path.substr(path.rfind('/') + 1));
  };
  for (const std::string& path : directories_) add(path);
  for (const auto& [path, inode] : files_) add(path);
  std::sort(names.begin(), names.end());
  return names;
}

void MemoryDisk::drop_name(const std::string& path) {
  const auto found = files_.find(path);
  const std::uint64_t number = found->second;
  files_.erase(found);
  --inodes_.at(number).names;
  drop_if_unused(number);
}

void MemoryDisk::drop_if_unused(std::uint64_t number) {
  const Inode& inode = inodes_.at(number);
  if (inode.names > 0 || inode.open_files > 0) return;
  allocated_ -= inode.contents.allocated_bytes();
  if (options_.frees_late) late_ += inode.contents.allocated_bytes();
  inodes_.erase(number);
}

std::uint64_t MemoryDisk::create_inode() {
  const std::lock_guard lock(mutex_);
  inodes_[++last_inode_].open_files = 1;
  ++open_files_;
  return last_inode_;
}

void MemoryDisk::open(std::uint64_t inode) {
  const std::lock_guard lock(mutex_);
  ++inodes_.at(inode).open_files;
  ++open_files_;
}

void MemoryDisk::close(std::uint64_t inode) {
  const std::lock_guard lock(mutex_);
  Inode& closed = inodes_.at(inode);
  --closed.open_files;
  --open_files_;
  if (const std::string hidden = closed.hidden_name; closed.open_files == 0 && !hidden.empty()) return drop_name(hidden);
  drop_if_unused(inode);
}

std::uint64_t MemoryDisk::next_file_id() {
  const std::lock_guard lock(mutex_);
  return ++last_file_;
}

FileState MemoryDisk::state(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const Inode& inode = inodes_.at(number);
  const auto when = static_cast<std::int64_t>(inode.changed);
  return {.device = 1,
          .inode = number,
          .size_bytes = inode.contents.size(),
          .allocated_bytes = inode.contents.allocated_bytes(),
          .modified_ns = when,
          .changed_ns = when};
}

std::int64_t MemoryDisk::read(std::uint64_t inode, std::uint64_t offset, std::byte* data, std::size_t size) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(inodes_.at(inode).contents.read(offset, data, size));
}

std::uint64_t MemoryDisk::issue(std::uint64_t inode, Change change) {
  const std::lock_guard lock(mutex_);
  ++last_request_;
  record_request(Kind::issue_change, inode, last_request_, std::move(change));
  return last_request_;
}

// Returns how many bytes of the change there is space for: all of it, a part of a write, or none.
std::uint64_t MemoryDisk::allow(Inode& inode, const Change& change) {
  if (change.kind == Change::Kind::set_size || change.kind == Change::Kind::release) return change.size;
  const std::uint64_t available = options_.capacity_bytes - std::min(options_.capacity_bytes, allocated_ + late_);
  if (inode.contents.missing_bytes(change.offset, change.size) <= available) return change.size;
  if (change.kind == Change::Kind::reserve) return 0;
  constexpr std::uint64_t page = PagedBytes::page_bytes;
  std::uint64_t fits = 0;
  for (std::uint64_t end = (change.offset / page + 1) * page; end < change.offset + change.size; end += page) {
    if (inode.contents.missing_bytes(change.offset, end - change.offset) > available) break;
    fits = end - change.offset;
  }
  return fits;
}

void MemoryDisk::apply(Inode& inode, const Change& change) {
  const std::uint64_t before = inode.contents.allocated_bytes();
  apply_change(inode.contents, change);
  const std::uint64_t after = inode.contents.allocated_bytes();
  if (options_.frees_late && after < before) late_ += before - after;
  allocated_ = allocated_ - before + after;
  most_allocated_ = std::max(most_allocated_, allocated_);
  inode.changed = steps_;
}

std::int64_t MemoryDisk::complete(std::uint64_t number, std::uint64_t request, const Change& change) {
  const std::lock_guard lock(mutex_);
  Inode& inode = inodes_.at(number);
  Change done = change;
  done.size = allow(inode, change);
  record_request(Kind::complete_change, number, request, {.kind = done.kind, .offset = done.offset, .size = done.size});
  if (done.size == 0 && change.size > 0) return -ENOSPC;
  apply(inode, done);
  return change.kind == Change::Kind::write ? static_cast<std::int64_t>(done.size) : 0;
}

bool MemoryDisk::wait_for_space(unsigned attempt) {
  const std::lock_guard lock(mutex_);
  if (late_ == 0) return false;
  if (attempt > 0) late_ = 0;
  return true;
}

std::uint64_t MemoryDisk::issue_sync(std::uint64_t inode) {
  const std::lock_guard lock(mutex_);
  record_request(Kind::issue_sync, inode, ++last_request_);
  return last_request_;
}

void MemoryDisk::complete_sync(std::uint64_t inode, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  record_request(Kind::complete_sync, inode, number);
}

}  // namespace ecosort::io
