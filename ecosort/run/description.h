// A run says this of itself, so that it can be merged without the job that made it. FORMAT.md has it byte for byte.
//
//   run file of a job | description, zeros | run block | run block | ...                 in the direction of the run
//                     | description, zeros | block | block | ... | places of the blocks |   packed (block_places.h)
//                       head_bytes
//
// Written when the run is complete, before it is made durable. It lies where nothing is cut off: runs that are given up piece by
// piece are cut at their end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "codec/block_codec.h"
#include "ecosort/request.hpp"
#include "hash/multiset_hash.h"
#include "run/block_places.h"
#include "run/run_block.h"

namespace ecosort::run {

inline constexpr std::uint64_t most_head_bytes = std::uint64_t{4} << 20U;

struct Description {
  Format format = Format::records;
  Direction direction = Direction::forward;
  std::uint64_t head_bytes = 0;  // in front of the run blocks: whole pages
  std::uint64_t block_bytes = 0;
  std::uint32_t record_size = 0;  // 0: rows of any length
  std::uint64_t job = 0, run = 0;
  // Runs with equal keys keep this order: it takes the places [position, position + span) of the `of` runs that the job forms (0:
  // not known when it was written). A run that was merged from others takes theirs.
  std::uint64_t position = 0, span = 1, of = 0;
  std::uint64_t bytes = 0, longest = 0;       // of its records; of the longest row, with its end
  hash::MultisetHash hash;                    // of its records, with their count
  bool is_unique = false;                     // of records with equal keys only the first one stays
  bool is_header = false;                     // rows that stay on top, in their order; no others are in it
  bool follows_header = false;                // another run of the job is that
  std::vector<std::byte> order;               // the keys: run/order_bytes.h
  std::optional<std::string> first_row = {};  // of CSV: where the columns are
  // Blocks may be packed (packed_block.h), with this codec or lz4; none: each has block_bytes.
  codec::BlockCodec codec = codec::BlockCodec::none;
  std::uint64_t stored_bytes = 0;  // that packed blocks take together
  // The job keeps this at the end of head_bytes for itself (keys of the forecast); it is not part of the description, either.
  std::vector<std::byte> kept = {};
  std::vector<std::uint32_t> ends = {};  // of packed blocks, in pages; not part of the description: a reader of blocks reads them

  [[nodiscard]] bool has_rows() const noexcept { return format != Format::records; }
  [[nodiscard]] std::uint64_t records_per_block() const noexcept { return (block_bytes - trailer_bytes) / record_size; }
  [[nodiscard]] std::uint64_t blocks() const noexcept {
    return has_rows() ? div_up(bytes, block_bytes - trailer_bytes) : div_up(hash.count, records_per_block());
  }
  // Bytes of records in a block.
  [[nodiscard]] std::uint64_t used_bytes(std::uint64_t block) const noexcept {
    const std::uint64_t full = has_rows() ? block_bytes - trailer_bytes : records_per_block() * record_size;
    return std::min(full, bytes - block * full);
  }
  [[nodiscard]] bool is_packed() const noexcept { return codec != codec::BlockCodec::none; }
  // Returns where blocks [first, first + count) lie in the file, in the direction of the run, and what they take there.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t first, std::uint64_t count) const noexcept {
    if (is_packed()) return head_bytes + begin_of(first);
    return head_bytes + (direction == Direction::forward ? first : blocks() - first - count) * block_bytes;
  }
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t first, std::uint64_t count) const noexcept {
    return is_packed() ? begin_of(first + count) - begin_of(first) : count * block_bytes;
  }
  [[nodiscard]] std::uint64_t places_at() const noexcept { return head_bytes + stored_bytes; }
  [[nodiscard]] std::uint64_t file_bytes() const noexcept {
    return is_packed() ? places_at() + places_bytes(blocks()) : head_bytes + blocks() * block_bytes;
  }

 private:
  [[nodiscard]] std::uint64_t begin_of(std::uint64_t block) const noexcept {
    return block == 0 ? 0 : std::uint64_t{ends[block - 1]} * page_bytes;
  }
};

// `bytes`: of the table of a packed run. DamagedRun.
void take_places(Description& description, const std::string& name, std::span<const std::byte> bytes);

// Bytes in front of the run blocks, whole units, for a description of such an order and what is kept besides. UsageError where
// it is too long.
[[nodiscard]] std::uint64_t head_bytes_for(std::size_t order_bytes, std::size_t first_row_bytes, std::uint64_t unit,
                                           std::uint64_t kept_bytes = 0);

// All head_bytes of them.
[[nodiscard]] std::vector<std::byte> encode(const Description& description);

// Returns how many bytes of the file's beginning decode() wants, by its first page. Errors give `name`.
//
// UsageError for what is no run, or one of another version; DamagedRun for a description that is damaged. `first` may be shorter
// than a page.
[[nodiscard]] std::uint64_t description_bytes(std::span<const std::byte> first, const std::string& name);
// `bytes`: as many, or more. Whatever they are, the numbers fit each other and the arithmetic of this header.
[[nodiscard]] Description decode_description(std::span<const std::byte> bytes, const std::string& name);

}  // namespace ecosort::run
