#include "doubles/memory_store.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>

#include "base/errors.h"
#include "doubles/memory_disk.h"
#include "doubles/memory_queue.h"
#include "io/open_error.h"

namespace ecosort::io {

namespace {

using Change = StoreEvent::Change;

[[nodiscard]] std::string normal(const std::string& path) {
  std::string text = ("/" + path);
  text = std::filesystem::path(text).lexically_normal().string();
  while (text.starts_with("//")) text.erase(0, 1);
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

[[nodiscard]] std::string directory_of(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

void check(int result, const char* call, const std::string& path) {
  if (result != 0) throw_open_error(call, path, -result);
}

[[noreturn]] void refuse_standard_streams() { throw UsageError("a store in memory has no standard input and output"); }

}  // namespace

DiskImage make_image(const std::map<std::string, std::string>& files) {
  DiskImage image;
  for (const auto& [path, text] : files) {
    const std::string name = normal(path);
    for (std::string directory = directory_of(name); directory != "/"; directory = directory_of(directory))
      image.directories.insert(directory);
    image.files[name].write(0, reinterpret_cast<const std::byte*>(text.data()), text.size());
  }
  return image;
}

MemoryStore::MemoryStore(DiskImage initial, const Options& options)
    : disk_(std::make_shared<MemoryDisk>(std::move(initial), options)) {}

MemoryStore::~MemoryStore() = default;

std::unique_ptr<Queue> MemoryStore::make_queue(unsigned depth) { return std::make_unique<MemoryQueue>(disk_, depth); }

const std::vector<StoreEvent>& MemoryStore::log() const { return disk_->log(); }

DiskImage MemoryStore::snapshot() const { return disk_->snapshot(); }

std::string MemoryStore::contents(const std::string& path) const {
  const std::uint64_t inode = disk_->find(normal(path));
  if (inode == 0) throw_open_error("open", path, ENOENT);
  std::string text(disk_->state(inode).size_bytes, '\0');
  (void)disk_->read(inode, 0, reinterpret_cast<std::byte*>(text.data()), text.size());
  return text;
}

std::uint64_t MemoryStore::allocated_bytes() const { return disk_->allocated_bytes(); }

std::uint64_t MemoryStore::most_allocated_bytes() const { return disk_->most_allocated_bytes(); }

std::size_t MemoryStore::open_files() const { return disk_->open_files(); }

// The inode has been opened for it.
FilePtr MemoryStore::make_file(std::uint64_t inode, Role role, const std::string& path, Caching caching) {
  File::Facts facts{.role = role, .path = path};
  facts.alignment = caching == Caching::direct_if_possible ? disk_->options().alignment : 1;
  facts.size_bytes = disk_->state(inode).size_bytes;
  facts.id = disk_->next_file_id();
  facts.attachment = std::make_shared<OpenInode>(disk_, inode);
  return std::make_unique<File>(-1, std::move(facts));
}

FilePtr MemoryStore::open_named(const std::string& path, Role role, Caching caching) {
  const std::uint64_t inode = disk_->find(normal(path));
  if (disk_->is_directory(normal(path))) throw UsageError(fmt::format("'{}' is a directory", path));
  if (inode == 0) throw_open_error("open", path, ENOENT);
  disk_->open(inode);
  return make_file(inode, role, path, caching);
}

FilePtr MemoryStore::open_input(const std::string& path, Caching caching) {
  if (path == "-") refuse_standard_streams();
  return open_named(path, Role::input, caching);
}

FilePtr MemoryStore::open_standard_output() { refuse_standard_streams(); }

FilePtr MemoryStore::create_unnamed(const std::string& directory, Role role, Caching caching) {
  if (!disk_->is_directory(normal(directory))) throw_open_error("create a file in", directory, ENOENT);
  return make_file(disk_->create_inode(), role, fmt::format("{}/(unnamed {})", directory, to_string(role)), caching);
}

FilePtr MemoryStore::create_named(const std::string& path, Role role, Caching caching) {
  FilePtr file = make_file(disk_->create_inode(), role, path, caching);
  check(disk_->link(OpenInode::of(*file), normal(path)), "create", path);
  return file;
}

bool MemoryStore::reserve(File& file, std::uint64_t offset, std::uint64_t size_bytes) {
  if (size_bytes == 0) return true;
  const std::uint64_t inode = OpenInode::of(file);
  const Change change{.kind = Change::Kind::reserve, .offset = offset, .size = size_bytes};
  const std::int64_t result = disk_->complete(inode, disk_->issue(inode, change), change);
  if (result < 0) throw IoError::from_call("reserve space in", file.path(), static_cast<int>(-result), offset, size_bytes);
  return true;
}

bool MemoryStore::wait_for_space(const File& /*file*/, unsigned attempt) { return disk_->wait_for_space(attempt); }

void MemoryStore::set_size(File& file, std::uint64_t size_bytes) {
  const std::uint64_t inode = OpenInode::of(file);
  const Change change{.kind = Change::Kind::set_size, .size = size_bytes};
  (void)disk_->complete(inode, disk_->issue(inode, change), change);
}

void MemoryStore::sync(File& file) {
  const std::uint64_t inode = OpenInode::of(file);
  disk_->complete_sync(inode, disk_->issue_sync(inode));
}

void MemoryStore::replace(std::uint64_t inode, const std::string& path, const BeforeStep& reach) {
  const std::string directory = directory_of(path);
  const std::string fresh = fmt::format("{}/.ecosort-{:08}.tmp", directory == "/" ? "" : directory, disk_->next_file_id());
  check(disk_->link(inode, fresh), "name the output for", path);
  try {
    reach(PublishStep::rename);
    check(disk_->rename(fresh, path), "rename the output to", path);
  } catch (...) {
    (void)disk_->unlink(fresh);
    throw;
  }
}

// The same steps as on a real file system (posix_publish.cpp), so that a power cut falls between the same changes.
std::string MemoryStore::publish(File& file, const std::string& final_path, const BeforeStep& before_step) {
  const std::string path = normal(final_path);
  const std::string directory = directory_of(path);
  if (disk_->is_directory(path)) throw UsageError(fmt::format("'{}' is a directory", final_path));
  const bool is_new = disk_->find(path) == 0;
  const auto reach = [&](PublishStep step) {
    if (before_step) before_step(step);
  };
  reach(PublishStep::attributes);
  sync(file);
  reach(PublishStep::link);
  if (is_new)
    check(disk_->link(OpenInode::of(file), path), "name the output for", final_path);
  else
    replace(OpenInode::of(file), path, reach);
  try {
    reach(PublishStep::sync_directory);
  } catch (...) {
    if (is_new) (void)disk_->unlink(path);
    throw;
  }
  check(disk_->sync_directory(directory), "sync the directory", directory);
  return {};
}

void MemoryStore::close(FilePtr file) { file.reset(); }

FileState MemoryStore::state(const File& file) { return disk_->state(OpenInode::of(file)); }

std::uint64_t MemoryStore::free_bytes(const std::string& directory) {
  if (!disk_->is_directory(normal(directory))) throw_open_error("ask for the free space of", directory, ENOENT);
  const std::uint64_t capacity = disk_->options().capacity_bytes;
  return capacity - std::min(capacity, disk_->allocated_bytes());
}

std::string MemoryStore::adopt_attributes(File& /*file*/, const std::string& /*of*/) { return {}; }

void MemoryStore::rename(const std::string& from, const std::string& to) {
  check(disk_->rename(normal(from), normal(to)), "rename a file to", to);
}

void MemoryStore::rename_new(const std::string& from, const std::string& to) {
  if (exists(to)) throw_open_error("rename a file to", to, EEXIST);
  rename(from, to);
}

FilePtr MemoryStore::open_directory(const std::string& path) {
  if (!disk_->is_directory(normal(path))) throw_open_error("open the directory", path, ENOENT);
  return std::make_unique<File>(-1, File::Facts{.role = Role::journal, .path = path, .id = disk_->next_file_id()});
}

bool MemoryStore::leads_to(const std::string& path, const File& directory) {
  return normal(path) == normal(directory.path()) && disk_->is_directory(normal(path));
}

void MemoryStore::remove(const std::string& path) { check(disk_->unlink(normal(path)), "remove", path); }

void MemoryStore::make_directory(const std::string& path) {
  check(disk_->make_directory(normal(path)), "create the directory", path);
}

void MemoryStore::remove_directory(const std::string& path) {
  check(disk_->remove_directory(normal(path)), "remove the directory", path);
}

void MemoryStore::sync_directory(const std::string& path) {
  check(disk_->sync_directory(normal(path)), "sync the directory", path);
}

std::vector<std::string> MemoryStore::list(const std::string& directory) {
  if (!disk_->is_directory(normal(directory))) throw_open_error("list the directory", directory, ENOENT);
  return disk_->list(normal(directory));
}

bool MemoryStore::exists(const std::string& path) { return disk_->find(normal(path)) != 0 || disk_->is_directory(normal(path)); }

}  // namespace ecosort::io
