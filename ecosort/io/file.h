// An open file as every backend sees it: a descriptor and the facts a request must respect.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/memory.h"

namespace ecosort::io {

// Says what a file is to the sort. Fault injection and traces address operations by (role, operation, n-th), because the global
// order of asynchronous operations is not reproducible.
enum class Role : std::uint8_t { input, run, output, journal };
[[nodiscard]] const char* to_string(Role role) noexcept;

// A Storage keeps it beside a file and lets go of it with the file: a name to remove, an inode in memory.
struct Attachment {
  Attachment() = default;
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
  virtual ~Attachment() = default;
};

class ReopenedFile;

// Owns the descriptor. Not thread-safe; the coordinator holds it, backends only borrow it while a request is in flight.
class File {
 public:
  // `alignment` is the unit that offsets, sizes and memory addresses of requests must be multiples of: 1 for a buffered
  // file, the file system's direct-I/O unit (statx STATX_DIOALIGN, else probed) for one opened with O_DIRECT.
  // `is_stream`: a pipe, socket or terminal; requests are served in order at the current position, offsets are ignored.
  struct Facts {
    Role role = Role::input;
    std::string path;  // for messages; unnamed files carry "DIR/(unnamed run)" or the like
    std::size_t alignment = 1;
    bool is_stream = false;
    std::uint64_t size_bytes = 0;    // at open; 0 for streams
    std::uint64_t start_offset = 0;  // where reading begins (an inherited standard input may be past its start); aligned
    std::uint64_t id = 0;            // number within its Storage in order of opening, from 1; never used twice
    std::shared_ptr<Attachment> attachment = nullptr;  // the Storage's own; everybody else only carries it

    // From where reading begins; an inherited standard input may even be past the end.
    [[nodiscard]] std::uint64_t bytes_to_read() const noexcept { return size_bytes - std::min(size_bytes, start_offset); }
  };

  File(int fd, Facts facts) : fd_(fd), facts_(std::move(facts)) {}
  // One that may be closed while no one uses it (reopened_files.h).
  File(std::shared_ptr<ReopenedFile> reopened, Facts facts) : fd_(-1), reopened_(std::move(reopened)), facts_(std::move(facts)) {}
  ~File();  // closes without checking: error paths only. Storage::close() reports a failed close.
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Opens the file where it was closed meanwhile; IoError where that fails. By the coordinator, or while the file is held.
  [[nodiscard]] int fd() const { return reopened_ ? fd_of_reopened() : fd_; }
  [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
  [[nodiscard]] Role role() const noexcept { return facts_.role; }
  [[nodiscard]] const std::string& path() const noexcept { return facts_.path; }
  [[nodiscard]] std::size_t alignment() const noexcept { return facts_.alignment; }
  [[nodiscard]] bool is_direct() const noexcept { return facts_.alignment > 1; }

  // Writes begin and end at multiples of this. Direct writes of a part of a file system's block, which the alignment may permit,
  // are done one at a time: ext4 takes its lock exclusively for them and waits for those under way (ext4_dio_write_checks).
  [[nodiscard]] std::size_t write_unit() const noexcept { return is_direct() ? std::max(facts_.alignment, page_bytes) : 1; }
  // The caller closes it; -1: there is none at the moment.
  [[nodiscard]] int release_descriptor() noexcept;

  // It stays open between these two: a request is in flight. IoError.
  void hold() const;
  void let_go() const noexcept;
  // Notes whether all that was written is durable.
  void set_synced(bool is_synced) const noexcept;

 private:
  [[nodiscard]] int fd_of_reopened() const;

  int fd_;
  std::shared_ptr<ReopenedFile> reopened_;  // instead of it
  Facts facts_;
};

using FilePtr = std::unique_ptr<File>;

}  // namespace ecosort::io
