// Seam 2 of 2: names and space (LevelDB's Env, cut down to what a sorter does). Data moves through io/queue.h.
//
// Every call is synchronous, checks every result and throws IoError with call, path and reason. A failed sync or close is
// final (promise P3): it is thrown once and never tried again. A name that cannot work (missing, a directory, no permission,
// a read-only file system) is a NameError that says why.
// Thread-safety: calls on different files may run concurrently.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/file.h"

namespace ecosort::io {

// Says whether to ask for O_DIRECT: `if_possible` falls back to buffered where the file system refuses it.
enum class Caching : std::uint8_t { direct_if_possible, buffered };

struct FileState {
  std::uint64_t device = 0, inode = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t allocated_bytes = 0;             // st_blocks * 512: space is counted as allocated blocks
  std::int64_t modified_ns = 0, changed_ns = 0;  // mtime and ctime since the epoch
};

// The steps of publish(), in order. `before_step` is called ahead of each; what it throws is treated as that step's failure,
// so that a test can fail every one.
enum class PublishStep : std::uint8_t { attributes, link, rename, sync_directory };
using BeforeStep = std::function<void(PublishStep)>;

class Storage {
 public:
  virtual ~Storage() = default;

  // Opens an existing file, or standard input for "-", for reading. Follows symbolic links (an input may be one).
  [[nodiscard]] virtual FilePtr open_input(const std::string& path, Caching caching) = 0;

  // A new file without a name in `directory`, mode 0600 (promises P2, P4, P10): O_TMPFILE, or where the file system has
  // none: for runs a name unlinked right after opening, for outputs a recognisable temporary name.
  [[nodiscard]] virtual FilePtr create_unnamed(const std::string& directory, Role role, Caching caching) = 0;

  // The output as a stream: standard output for "-".
  [[nodiscard]] virtual FilePtr open_standard_output() = 0;

  // Allocates blocks for [offset, offset+size) so that no one else can take them. False: the file system cannot reserve.
  [[nodiscard]] virtual bool reserve(File& file, std::uint64_t offset, std::uint64_t size_bytes) = 0;

  // After a reservation failed for lack of space (ENOSPC, EDQUOT): gives the file system time to give back what it frees in the
  // background. True: it is worth another attempt. False: it was the last one. `attempt`: 0, 1, 2, ... of the same
  // reservation. May take seconds.
  [[nodiscard]] virtual bool wait_for_space(const File& file, unsigned attempt) = 0;

  // reserve() with as many attempts as wait_for_space() allows. The reactor's reserve does the same.
  [[nodiscard]] bool reserve_patiently(File& file, std::uint64_t offset, std::uint64_t size_bytes);

  virtual void set_size(File& file, std::uint64_t size_bytes) = 0;  // ftruncate
  virtual void sync(File& file) = 0;                                // fsync

  // Gives an unnamed output its final name, replacing what is there (fsync, linkat to a fresh name, rename, fsync of the
  // directory); a replaced file's owner, mode, ACL and extended attributes are kept; a symbolic link stays and its target is
  // replaced. Returns a notice if something could not be kept, or if the file may not outlive a power cut, else an empty text. On
  // failure the final name is as before, with one exception that the message names: the last step, the directory's sync, failed
  // after a file was replaced.
  [[nodiscard]] virtual std::string publish(File& file, const std::string& final_path, const BeforeStep& before_step = {}) = 0;

  // publish() of several files of one directory; each is complete and durable before any name appears, and the directory is
  // synced once for all. After a failure some may have their names.
  struct Named {
    File* file = nullptr;
    std::string final_path;
  };
  [[nodiscard]] virtual std::string publish_all(const std::vector<Named>& files);

  // IoError if the program that writes standard input ended before it had written everything, where it says so. publish() calls
  // it; other ways for an output to end do, too.
  virtual void demand_complete_input() {}

  virtual void close(FilePtr file) = 0;  // checked close

  // Returns what the file is right now; comparing two states shows an input that changed while it was read.
  [[nodiscard]] virtual FileState state(const File& file) = 0;

  // Bytes an unprivileged writer may still allocate in the file system of `directory`.
  [[nodiscard]] virtual std::uint64_t free_bytes(const std::string& directory) = 0;

  // Returns the free bytes, but waits for what the file system frees in the background where it is less than `wanted_bytes`.
  [[nodiscard]] virtual std::uint64_t settled_free_bytes(const std::string& directory, std::uint64_t wanted_bytes) {
    (void)wanted_bytes;
    return free_bytes(directory);
  }
};

}  // namespace ecosort::io
