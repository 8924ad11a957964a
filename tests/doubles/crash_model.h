// A power cut leaves a disk in one of many states: a replay of the events of a MemoryStore (io/memory_store.h) that knows what is
// durable.
//
// The rules are harsher than any one file system:
// - Contents and size of a file are durable once a sync completed that was issued after they had completed. Until then each
//   change (write, set_size, release, reserve) persists or not, independently of all others; so do those still in flight.
// - A name (created, linked, renamed, removed; of a file or a directory) is durable once every directory it was or is in
//   was synced. Until then each change of names persists or not, independently; a rename is atomic. Syncing a file does not
//   make its name durable.
// - A file without a name is gone. So is all that is below a directory whose name did not persist.
// - Torn: each 512-byte sector that an unsynced write touches has its old contents, the new ones, or garbage; where an unsynced
//   set_size cuts a file inside a block of 4096 bytes, so do those of that block, also in front of the new end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "doubles/paged_bytes.h"

namespace ecosort::io {

// A disk at rest: everything in it is durable. Paths are absolute and normal; "/" always exists and is not listed. A store that
// begins with it numbers its inodes 1, 2, 3, ... in the order of the files here.
struct DiskImage {
  std::map<std::string, PagedBytes> files;
  std::set<std::string> directories;
};

// One step of a run. A request is two events, everything else one. Reads change nothing and are not recorded.
struct StoreEvent {
  enum class Kind : std::uint8_t {
    issue_change,      // inode, request, change
    complete_change,   // inode, request; change.size: bytes really changed, 0: failed
    issue_sync,        // inode, request
    complete_sync,     // inode, request
    link,              // inode, name: a created file, or an unnamed one that gets a name
    rename,            // inode, name -> other_name
    unlink,            // inode, name
    make_directory,    // name
    remove_directory,  // name
    sync_directory,    // name
  };
  struct Change {
    enum class Kind : std::uint8_t { write, set_size, release, reserve };
    Kind kind = Kind::write;
    std::uint64_t offset = 0;                                      // set_size: unused
    std::uint64_t size = 0;                                        // set_size: the new size
    std::shared_ptr<const std::vector<std::byte>> data = nullptr;  // of a write
  };
  Kind kind = Kind::link;
  std::uint64_t inode = 0;
  std::uint64_t request = 0;  // pairs issue and completion
  Change change = {};
  std::string name = {}, other_name = {};
};

void apply_change(PagedBytes& contents, const StoreEvent::Change& change);

enum class CutPolicy : std::uint8_t { all_kept, all_lost, random_subset, torn };
[[nodiscard]] const char* to_string(CutPolicy policy) noexcept;

// Not thread-safe.
class CrashModel {
 public:
  explicit CrashModel(const DiskImage& initial);

  void apply(const StoreEvent& event);

  // Returns what a power cut now leaves. The same model, policy and seed give the same image; the seed matters to random_subset
  // and torn.
  [[nodiscard]] DiskImage image(CutPolicy policy, std::uint64_t seed) const;

  // Returns whether a power cut now could lose anything. Without it, all policies give the same image.
  [[nodiscard]] bool has_unsynced() const;

 private:
  struct Pending {
    std::uint64_t request;
    StoreEvent::Change change;
  };
  struct Inode {
    PagedBytes durable;
    std::vector<Pending> completed;                // not durable, in the order of completion
    std::vector<Pending> in_flight;                // in the order of issue
    std::uint64_t completed_before = 0;            // completed ones that are durable by now
    std::map<std::uint64_t, std::uint64_t> syncs;  // in flight -> completed changes they cover
  };
  // A change of names, in order. `unsynced`: the directories it still waits for; empty: durable.
  struct NameChange {
    StoreEvent event;
    std::set<std::string> unsynced;
  };
  struct Names {
    std::map<std::string, std::uint64_t> files;
    std::set<std::string> directories;
    void apply(const StoreEvent& event);
  };

  void complete_change(const StoreEvent& event);
  void complete_sync(const StoreEvent& event);
  void change_names(const StoreEvent& event);
  void sync_directory(const std::string& directory);

  std::map<std::uint64_t, Inode> inodes_;
  Names durable_names_;
  std::vector<NameChange> name_changes_;  // after the last durable prefix
};

}  // namespace ecosort::io
