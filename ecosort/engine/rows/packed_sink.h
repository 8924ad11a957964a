// The output compressed: each block becomes a member of its own in the thread pool, and all of them follow each other in the
// file.
//
//   blocks of lines   | 0 | 1 | 2 |        compressed side by side, by as many encoders as there is memory for
//   members           |0|1| 2|             in their order put together in blocks that are written as the file's unit demands
//   file              | 0 1 | 2  |
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "codec/encoder.h"
#include "engine/rows/line_blocks.h"

namespace ecosort::engine::rows {

// Says how an output is compressed, within how much memory.
struct Packing {
  codec::OutputCodec output;
  unsigned encoders = 1;  // at a time
};

// Returns what packing takes, with blocks of so many bytes.
[[nodiscard]] std::uint64_t packing_bytes(const Packing& packing, std::size_t block_bytes) noexcept;

class PackedSink : public LineSink {
 public:
  // `memory`: packing_bytes(), of which the encoders take their part themselves.
  PackedSink(const RowTools& tools, io::File& file, MemoryBudget& memory, const Packing& packing);

  [[nodiscard]] std::size_t capacity() const noexcept override { return block_bytes_; }
  void complete(std::byte* block, run::BlockContents contents, std::uint64_t /*before*/) override {
    take_marks_away(block, contents.used_bytes);
  }
  void put(std::byte* block, std::size_t bytes) override;

  // All was put: writes what is left. Without lines the output is an empty member.
  [[nodiscard]] Task<void> finish();
  // After finish(): of the file, which may be longer by less than a page.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }

 private:
  struct Worker {
    std::unique_ptr<codec::MemberEncoder> encoder;
    std::span<std::byte> member;
  };

  Task<void> pack(std::byte* block, std::size_t bytes, std::uint64_t number);
  Task<void> append(std::span<const std::byte> member);
  Task<void> write_packed(std::byte* block, std::size_t size, std::uint64_t offset);

  io::File& file_;
  Compute& compute_;
  Buffer members_;
  BlockPool packed_;
  std::vector<Worker> workers_;
  std::vector<Worker*> idle_;
  std::string_view ending_;  // of the output
  Semaphore free_workers_;
  Signal turned_;
  std::uint64_t put_ = 0, appended_ = 0;  // blocks
  std::byte* filling_ = nullptr;          // a block of members
  std::size_t filled_ = 0;
  std::uint64_t file_bytes_ = 0;  // appended
};

}  // namespace ecosort::engine::rows
