// The files of a partition: one for each part, filled through write blocks that all of them share.
//
//   block of a part | carry | rows ...................... | room |    at most one that is being filled; when it is full, its
//   whole
//                   ^ a whole unit of the file                         units are written and the rest becomes the next carry
//
// There is a block for every part and some more, which are being written: whoever waits for one gets it.
// The files have no names until publish(), so that whatever ends the work before leaves none of them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/block_pool.h"
#include "base/task.h"
#include "engine/progress.h"
#include "hash/multiset_hash.h"
#include "io/reactor.h"
#include "io/storage.h"

namespace ecosort::engine {

// What a part got.
struct Slice {
  std::string path;
  std::uint64_t bytes = 0;
  records::MultisetHash hash;  // and number of its rows
  std::string first, last;     // the smallest and the largest row; of equal ones the first and the last one
};

// Coordinator only, but for end(), room() and add(), which whoever fills a part calls. Must outlive its tasks.
class SliceFiles {
 public:
  SliceFiles(io::Storage& storage, io::Reactor& reactor, std::vector<std::string> paths, Buffer memory, std::uint64_t block_bytes,
             unsigned blocks, Progress& progress);

  // What each file begins with, less than a block. Before the first make_room().
  void begin_with(std::string top) { top_ = std::move(top); }

  // Every file, in the directory of its path. IoError, NameError.
  void create();

  [[nodiscard]] std::size_t parts() const noexcept { return parts_.size(); }

  // What may be put behind end() of the part.
  [[nodiscard]] std::uint64_t room(std::size_t part) const noexcept {
    return parts_[part].block == nullptr ? 0 : block_bytes_ - parts_[part].used;
  }
  [[nodiscard]] std::byte* end(std::size_t part) const noexcept { return parts_[part].block + parts_[part].used; }
  void add(std::size_t part, std::uint64_t bytes) noexcept {
    parts_[part].used += bytes;
    parts_[part].bytes += bytes;
  }
  [[nodiscard]] std::uint64_t bytes(std::size_t part) const noexcept { return parts_[part].bytes; }

  // Room for nearly a block.
  [[nodiscard]] Task<void> make_room(std::size_t part);

  // Writes what is left, and makes everything durable.
  [[nodiscard]] Task<void> finish();
  // After an error: waits until nothing uses the blocks or the files. Throws nothing.
  [[nodiscard]] Task<void> settle() { return writes_.settle(); }

  // Gives the files their names and closes them. Returns what a user should know; may be empty.
  [[nodiscard]] std::string publish();

 private:
  struct Part {
    io::FilePtr file;
    std::byte* block = nullptr;
    std::uint64_t used = 0;    // bytes in it
    std::uint64_t offset = 0;  // of the file, where the block belongs
    std::uint64_t bytes = 0;   // in all
  };
  Task<void> write(Part& part, std::byte* block, std::uint64_t offset, std::uint64_t size);
  Task<void> finish_part(Part& part);

  io::Storage& storage_;
  io::Reactor& reactor_;
  std::vector<std::string> paths_;
  std::string top_;
  std::uint64_t block_bytes_;
  Progress& progress_;
  BlockPool blocks_;
  std::vector<Part> parts_;
  TaskGroup writes_;
};

}  // namespace ecosort::engine
