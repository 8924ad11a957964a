// The plain bytes of an input that may be compressed, as those of a stream.
//
//   file | chunk | chunk | chunk ...      one is decoded in the thread pool while the next one is read
//
// The first bytes of a stream show its format: one that is not compressed is passed on as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/memory.h"
#include "base/task.h"
#include "codec/decoder.h"
#include "engine/compute.h"
#include "engine/rows/line_input.h"
#include "io/reactor.h"

namespace ecosort::engine::rows {

// Decoded inputs work with these. All of it outlives them.
struct DecodeTools {
  io::Reactor& reactor;
  Compute& compute;
  MemoryBudget& chunks;
  codec::Allowance& allowance;
  std::uint64_t memory_bytes;  // of all, for advice
  std::size_t chunk_bytes;     // whole pages
};

// Returns what `input` takes for its chunks.
[[nodiscard]] constexpr std::uint64_t decode_chunks_bytes(std::size_t chunk_bytes) noexcept { return 2 * chunk_bytes; }

// Coordinator only; one read at a time. Outlives the tasks of the group that it was given, and `input` outlives it.
class DecodedInput {
 public:
  DecodedInput(const DecodeTools& tools, LineInput& input);

  // The next bytes: fewer than `size` only at the end. What is read ahead is a task of `background`. IoError with the name and
  // the place in the file where the data is damaged or ends too early; InputRefused for what no rows come out of;
  // NotEnoughMemory.
  [[nodiscard]] Task<std::size_t> read(TaskGroup& background, std::byte* data, std::size_t size);
  // Behind a row that was refused, whether that may be due to damage: see RefusedRow. No read is on its way; `scratch` is
  // overwritten. Nothing in an input that is not compressed.
  [[nodiscard]] Task<void> check_rest(TaskGroup& background, std::span<std::byte> scratch);

 private:
  struct Chunk {
    std::byte* data = nullptr;
    std::size_t size = 0;
    bool is_here = false, is_last = false;
  };

  [[noreturn]] void refuse_too_large(const codec::TooLarge& error) const;
  Task<void> begin(TaskGroup& background);
  Task<void> load(Chunk& chunk);
  void request(TaskGroup& background, Chunk& chunk);
  Task<void> next_chunk(TaskGroup& background);
  Task<std::size_t> read_plain(std::byte* data, std::size_t size);
  Task<std::size_t> read_decoded(TaskGroup& background, std::byte* data, std::size_t size);
  Task<codec::Decoder::Step> decode(std::span<std::byte> out);

  const DecodeTools tools_;
  LineInput& input_;
  Buffer memory_;
  Chunk chunks_[2];
  unsigned present_ = 0;
  std::size_t at_ = 0;  // in the present chunk
  std::uint64_t offset_;
  bool has_begun_ = false, has_decoded_ = false;
  std::unique_ptr<codec::Decoder> decoder_;  // none: the bytes are passed on
  Signal arrived_;
};

}  // namespace ecosort::engine::rows
