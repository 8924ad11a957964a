// A disk in memory: both seams on it, deterministic from a seed, with a log of every step for the power-cut sweep.
//
// Threaded, asynchronous I/O makes sweeps irreproducible. Here requests complete inside wait(), one at a time, in an order that a
// seeded scheduler draws; CrashModel (io/crash_model.h) then returns what a power cut after each step may leave. A run that
// starts from such an image has its own log, so that a second cut during recovery is the same thing again:
//
//   MemoryStore store(image, options);  run on store and store.make_queue(depth) ...
//   CrashModel model(image);
//   for (const StoreEvent& event : store.log()) { model.apply(event); ... resume on MemoryStore(model.image(policy, seed)) ... }
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "doubles/crash_model.h"
#include "io/named_storage.h"
#include "io/queue.h"

namespace ecosort::io {

class MemoryDisk;

// Paths may be given in any form; "a", "./a" and "/a" are the same. Standard input and output do not exist here (UsageError).
// Attributes, permissions and symbolic links do not either. Thread-safety as in io/storage.h.
class MemoryStore : public NamedStorage {
 public:
  struct Options {
    std::uint64_t seed = 1;           // of the scheduler
    bool completes_in_order = false;  // instead of drawing: first in, first out, all at once
    std::uint64_t capacity_bytes = std::numeric_limits<std::uint64_t>::max();  // in pages of 4096 bytes; then ENOSPC
    bool hides_removed = false;   // a file that is removed while it is open gets another name until it is closed, as with FUSE
    bool frees_late = false;      // what is cut off stays taken until somebody waits for it, the second time
    std::size_t alignment = 512;  // of files opened with Caching::direct_if_possible
    bool records_events = true;   // without, log() stays empty and written data is not kept twice
  };

  MemoryStore() : MemoryStore(DiskImage{}) {}
  explicit MemoryStore(DiskImage initial) : MemoryStore(std::move(initial), Options{}) {}
  MemoryStore(DiskImage initial, const Options& options);
  ~MemoryStore() override;  // its queues and files may live on

  // Single-threaded but for notify(). wait(block) completes at least one request; wait(!block) may complete none.
  [[nodiscard]] std::unique_ptr<Queue> make_queue(unsigned depth);

  [[nodiscard]] const std::vector<StoreEvent>& log() const;
  [[nodiscard]] DiskImage snapshot() const;  // as a running program sees it; files without a name are left out
  [[nodiscard]] std::string contents(const std::string& path) const;  // UsageError if there is no such file
  [[nodiscard]] std::uint64_t allocated_bytes() const;  // of all files, also of those without a name that are still open
  [[nodiscard]] std::uint64_t most_allocated_bytes() const;
  [[nodiscard]] std::size_t open_files() const;

  [[nodiscard]] FilePtr open_input(const std::string& path, Caching caching) override;
  [[nodiscard]] FilePtr create_unnamed(const std::string& directory, Role role, Caching caching) override;
  [[nodiscard]] FilePtr open_standard_output() override;
  [[nodiscard]] bool reserve(File& file, std::uint64_t offset, std::uint64_t size_bytes) override;
  [[nodiscard]] bool wait_for_space(const File& file, unsigned attempt) override;
  void set_size(File& file, std::uint64_t size_bytes) override;
  void sync(File& file) override;
  [[nodiscard]] std::string publish(File& file, const std::string& final_path, const BeforeStep& before_step = {}) override;
  void close(FilePtr file) override;
  [[nodiscard]] FileState state(const File& file) override;
  [[nodiscard]] std::uint64_t free_bytes(const std::string& directory) override;

  [[nodiscard]] FilePtr create_named(const std::string& path, Role role, Caching caching) override;
  [[nodiscard]] FilePtr open_named(const std::string& path, Role role, Caching caching) override;
  [[nodiscard]] std::string adopt_attributes(File& file, const std::string& of) override;
  void rename(const std::string& from, const std::string& to) override;
  void rename_new(const std::string& from, const std::string& to) override;
  void remove(const std::string& path) override;
  void make_directory(const std::string& path) override;
  void remove_directory(const std::string& path) override;
  void sync_directory(const std::string& path) override;
  [[nodiscard]] FilePtr open_directory(const std::string& path) override;
  [[nodiscard]] bool leads_to(const std::string& path, const File& directory) override;
  [[nodiscard]] std::vector<std::string> list(const std::string& directory) override;
  [[nodiscard]] bool exists(const std::string& path) override;

 private:
  [[nodiscard]] FilePtr make_file(std::uint64_t inode, Role role, const std::string& path, Caching caching);
  void replace(std::uint64_t inode, const std::string& path, const BeforeStep& reach);

  std::shared_ptr<MemoryDisk> disk_;
};

// A disk with these files, and the directories they are in.
[[nodiscard]] DiskImage make_image(const std::map<std::string, std::string>& files);

}  // namespace ecosort::io
