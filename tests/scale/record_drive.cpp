// A drive for sorts of terabytes on a small machine: a FUSE file system that keeps the numbers of the Sort Benchmark's ASCII
// records instead of the records.
//
//   record_drive DIRECTORY MOUNTPOINT DISK_BYTES RECORDS
//
//   disk      DISK_BYTES to be written and read, for losetup; 10^10 records take 4.6 % of their size in DIRECTORY
//   records   RECORDS records from number 0 on, made when they are read
//   records.0 ... records.9   tenths of them
//   rows.csv  a table of that size (numbered_rows.h), likewise
//   stats     what was moved, and what the files in DIRECTORY take, as JSON
//
// Records that are written are made again from the numbers and compared before their bytes are dropped; other bytes are kept as
// they are. All is gone when the process ends, so there is nothing to sync: not for power cuts.
#define FUSE_USE_VERSION 35
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "scale/drive_store.h"
#include "scale/numbered_rows.h"

namespace ecosort::scale {
namespace {

constexpr std::size_t request_bytes = std::size_t{1} << 20U;

std::unique_ptr<DriveStore> store;
std::unique_ptr<const NumberedRows> rows;
std::uint64_t record_count = 0;

bool is_disk(std::string_view path) { return path == "/disk"; }
bool is_rows(std::string_view path) { return path == "/rows.csv"; }
bool is_stats(std::string_view path) { return path == "/stats"; }

struct Range {
  std::uint64_t begin = 0, end = 0;  // bytes
};

// Returns which of all records a file holds; nothing where it is no file of records.
std::optional<Range> records_of(std::string_view path) {
  constexpr std::string_view all = "/records";
  if (path == all) return Range{0, record_count * record_bytes};
  if (!path.starts_with(all) || path.size() != all.size() + 2 || path[all.size()] != '.') return std::nullopt;
  const auto tenth = static_cast<std::uint64_t>(path.back() - '0');
  if (tenth > 9) return std::nullopt;
  const auto begin_of = [](std::uint64_t number) { return record_count * number / 10 * record_bytes; };
  return Range{begin_of(tenth), begin_of(tenth + 1)};
}

// Returns what the calls return: a count, or a negative errno.
template <class Work>
int answer(const Work& work) noexcept {
  try {
    return static_cast<int>(work());
  } catch (const std::system_error& error) {
    return -error.code().value();
  } catch (const std::exception&) {
    return -EIO;
  }
}

void* on_init(fuse_conn_info* connection, fuse_config* config) {
  connection->max_write = connection->max_read = request_bytes;  // as `max_read` says in the options
  connection->max_background = 64;
  connection->congestion_threshold = 48;
  config->attr_timeout = config->entry_timeout = 1e6;
  config->nullpath_ok = 0;
  return nullptr;
}

int on_getattr(const char* path, struct stat* status, fuse_file_info* /*file*/) {
  *status = {};
  status->st_nlink = 1;
  status->st_mode = is_disk(path) ? S_IFREG | 0600 : S_IFREG | 0444;
  if (std::string_view(path) == "/")
    status->st_mode = S_IFDIR | 0755;
  else if (is_disk(path))
    status->st_size = static_cast<off_t>(store->size_bytes());
  else if (const auto records = records_of(path))
    status->st_size = static_cast<off_t>(records->end - records->begin);
  else if (is_rows(path))
    status->st_size = static_cast<off_t>(rows->size_bytes());
  else if (is_stats(path))
    status->st_size = static_cast<off_t>(store->report().size());
  else
    return -ENOENT;
  status->st_blksize = request_bytes;
  status->st_blocks = status->st_size / 512;
  return 0;
}

int on_open(const char* path, fuse_file_info* file) {
  if (!is_disk(path) && (file->flags & O_ACCMODE) != O_RDONLY) return -EACCES;
  file->direct_io = 1;  // no second copy in the page cache
  return 0;
}

int on_read(const char* path, char* to, std::size_t size, off_t offset, fuse_file_info* /*file*/) {
  const auto from = static_cast<std::uint64_t>(offset);
  auto* const bytes = reinterpret_cast<std::byte*>(to);
  const auto up_to = [&](std::uint64_t end) { return from >= end ? 0 : std::min<std::uint64_t>(size, end - from); };
  return answer([&]() -> std::uint64_t {
    if (is_stats(path)) {
      const std::string text = store->report();
      const std::uint64_t part = up_to(text.size());
      std::memcpy(to, text.data() + std::min<std::uint64_t>(from, text.size()), part);
      return part;
    }
    if (const auto records = records_of(path)) {
      const std::uint64_t part = up_to(records->end - records->begin);
      make_bytes(records->begin + from, part, bytes);
      return part;
    }
    const std::uint64_t part = up_to(is_disk(path) ? store->size_bytes() : rows->size_bytes());
    if (is_disk(path))
      store->read(from, {bytes, part});
    else
      rows->make(from, part, bytes);
    return part;
  });
}

int on_write(const char* path, const char* bytes, std::size_t size, off_t offset, fuse_file_info* /*file*/) {
  const auto from = static_cast<std::uint64_t>(offset);
  if (!is_disk(path)) return -EACCES;
  if (from + size > store->size_bytes()) return -ENOSPC;
  return answer([&] {
    store->write(from, {reinterpret_cast<const std::byte*>(bytes), size});
    return size;
  });
}

int on_fallocate(const char* path, int mode, off_t offset, off_t size, fuse_file_info* /*file*/) {
  const auto from = static_cast<std::uint64_t>(offset), bytes = static_cast<std::uint64_t>(size);
  const bool clears = (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) != 0;
  if (!is_disk(path) || !clears || from + bytes > store->size_bytes()) return -EOPNOTSUPP;
  return answer([&] {
    store->clear(from, bytes);
    return 0;
  });
}

int on_fsync(const char* /*path*/, int /*data_only*/, fuse_file_info* /*file*/) { return 0; }

fuse_operations make_operations() {
  fuse_operations operations{};
  operations.init = on_init;
  operations.getattr = on_getattr;
  operations.open = on_open;
  operations.read = on_read;
  operations.write = on_write;
  operations.fallocate = on_fallocate;
  operations.fsync = on_fsync;
  return operations;
}

std::uint64_t number_in(const char* text) {
  std::uint64_t value = 0;
  const char* const end = text + std::strlen(text);
  if (const auto [at, error] = std::from_chars(text, end, value); error != std::errc{} || at != end) return UINT64_MAX;
  return value;
}

int run(char** words) {
  const std::uint64_t size = number_in(words[3]);
  record_count = number_in(words[4]);
  if (record_count > most_records || size > std::uint64_t{1} << 50U) {
    std::fputs("record_drive: too large\n", stderr);
    return 2;
  }
  store = std::make_unique<DriveStore>(words[1], size, record_count);
  rows = std::make_unique<NumberedRows>(record_count * record_bytes);
  std::string name = words[0], foreground = "-f",
              options = "-oallow_other,fsname=record_drive,clone_fd,max_threads=24,max_read=1048576";
  char* arguments[] = {name.data(), foreground.data(), options.data(), words[2]};
  const fuse_operations operations = make_operations();
  return fuse_main(4, arguments, &operations, nullptr);
}

}  // namespace
}  // namespace ecosort::scale

int main(int count, char** words) {
  if (count != 5) {
    std::fputs("usage: record_drive DIRECTORY MOUNTPOINT DISK_BYTES RECORDS\n", stderr);
    return 2;
  }
  try {
    return ecosort::scale::run(words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "record_drive: %s\n", error.what());
    return 1;
  }
}
