// The files of a partition: one for each part, or several where each holds sorted rows, filled through write blocks that all of
// them share.
//
//   block of a part | carry | rows ...................... | room |    at most one that is being filled; when it is full, its
//   whole
//                   ^ a whole unit of the file                         units are written and the rest becomes the next carry
//
// There is a block for every part and some more, which are being written: a task that waits for one gets it.
// The files have no names until publish(), so that whatever ends the work before leaves none of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/block_pool.h"
#include "base/task.h"
#include "engine/bench.h"
#include "hash/multiset_hash.h"
#include "io/storage.h"

namespace ecosort::engine::partition {

// The write blocks that all parts share.
struct SliceBlocks {
  std::uint64_t bytes = 0;  // of each
  unsigned count = 0;       // one for each part, and some more
};

struct SliceFile {
  std::string path;
  std::uint64_t bytes = 0;
};

// Says what a part got.
struct Slice {
  std::vector<SliceFile> files;  // one at least
  hash::MultisetHash hash;       // and number of its rows
  std::string first, last;       // the smallest and the largest row; of equal ones the first and the last one
};

// Coordinator only, but for end(), room() and add(), which the thread that fills a part calls. Must outlive its tasks.
class SliceFiles {
 public:
  SliceFiles(Bench& bench, std::vector<std::string> paths, const SliceBlocks& blocks);

  // Sets what each file begins with, less than a block. Before the first make_room().
  void begin_with(std::string top) { top_ = std::move(top); }

  // A file for every part, in the directory of its path. IoError, NameError.
  void create() { now_ = create_files(0); }

  [[nodiscard]] std::size_t parts() const noexcept { return paths_.size(); }

  // Returns what may be put behind end() of the part.
  [[nodiscard]] std::uint64_t room(std::size_t part) const noexcept {
    return now_[part]->block == nullptr ? 0 : block_bytes_ - now_[part]->used;
  }
  [[nodiscard]] std::byte* end(std::size_t part) const noexcept { return now_[part]->block + now_[part]->used; }
  void add(std::size_t part, std::uint64_t bytes) noexcept {
    now_[part]->used += bytes;
    now_[part]->bytes += bytes;
  }

  // Room for nearly a block.
  [[nodiscard]] Task<void> make_room(std::size_t part);
  // Returns how often that waited for a block that was being written.
  [[nodiscard]] std::uint64_t waits() const noexcept { return waits_; }

  // Nothing more comes into the files so far; those of the first call stay, those without rows are none. What follows goes into
  // further ones, PATH.00001 and so on. IoError, NameError.
  [[nodiscard]] Task<void> begin_next();

  // Writes what is left, and makes everything durable.
  [[nodiscard]] Task<void> finish();
  // Then: those of a part, in the order in which they were begun.
  [[nodiscard]] std::vector<SliceFile> files(std::size_t part) const;
  // After an error: waits until nothing uses the blocks or the files. Throws nothing.
  [[nodiscard]] Task<void> settle() { return writes_.settle(); }

  // Gives the files their names and closes them. Returns what a user should know; may be empty.
  [[nodiscard]] std::string publish();

 private:
  struct File {
    std::string path;
    io::FilePtr file;
    std::byte* block = nullptr;
    std::uint64_t used = 0;    // bytes in it
    std::uint64_t offset = 0;  // of the file, where the block belongs
    std::uint64_t bytes = 0;   // in all
    std::uint64_t size = 0;    // of the file, ahead of what is written
  };
  using Files = std::vector<std::unique_ptr<File>>;  // tasks refer to them
  [[nodiscard]] Files create_files(std::size_t number);
  void grow(File& file, std::uint64_t end);
  Task<void> write(File& file, std::byte* block, std::uint64_t offset, std::uint64_t size);
  Task<void> end_file(File& file);
  Task<void> end_all();

  Bench& bench_;
  std::vector<std::string> paths_;
  std::string top_;
  std::uint64_t block_bytes_;
  BlockPool blocks_;
  Files now_;  // one for each part
  std::size_t generation_ = 0;
  std::uint64_t waits_ = 0;
  std::vector<Files> ended_;  // of each part
  TaskGroup writes_;
};

}  // namespace ecosort::engine::partition
