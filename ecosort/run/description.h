// What a run says of itself, so that it can be merged without the job that made it. FORMAT.md has it byte for byte.
//
//   run file of a job | description, zeros | run block | run block | ...
//                       head_bytes           in the direction of the run
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
#include "formats/row_format.h"
#include "hash/multiset_hash.h"
#include "run/run_block.h"

namespace ecosort::run {

inline constexpr std::uint64_t most_head_bytes = std::uint64_t{4} << 20U;

struct Description {
  enum class Format : std::uint8_t { records = 1, lines = 2, csv = 3, jsonl = 4 };

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
  records::MultisetHash hash;                 // of its records, with their count
  bool is_unique = false;                     // of records with equal keys only the first one stays
  bool is_header = false;                     // rows that stay on top, in their order; no others are in it
  bool follows_header = false;                // another run of the job is that
  std::vector<std::byte> order;               // the keys: run/order_bytes.h
  std::optional<std::string> first_row = {};  // of CSV: where the columns are

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
  // Where blocks [first, first + count) lie in the file, in the direction of the run.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t first, std::uint64_t count) const noexcept {
    return head_bytes + (direction == Direction::forward ? first : blocks() - first - count) * block_bytes;
  }
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return head_bytes + blocks() * block_bytes; }
};

// DamagedRun unless `data` is what was sealed as that block of the run, and holds as many bytes as it should. Thread-safe.
void check_block(const Description& description, const std::string& name, std::uint64_t block, const std::byte* data);

// In a description, of rows.
[[nodiscard]] Description::Format format_of(rows::Kind kind) noexcept;

// Bytes in front of the run blocks, whole units, for a description of such an order. UsageError where it is too long.
[[nodiscard]] std::uint64_t head_bytes_for(std::size_t order_bytes, std::size_t first_row_bytes, std::uint64_t unit);

// All head_bytes of them.
[[nodiscard]] std::vector<std::byte> encode(const Description& description);

// How many bytes of the file's beginning decode() wants, by its first page. `name` is told.
//
// UsageError for what is no run, or one of another version; DamagedRun for a description that is damaged. `first` may be shorter
// than a page.
[[nodiscard]] std::uint64_t description_bytes(std::span<const std::byte> first, const std::string& name);
// `bytes`: as many, or more. Whatever stands in them, the numbers fit each other and the arithmetic of this header.
[[nodiscard]] Description decode_description(std::span<const std::byte> bytes, const std::string& name);

}  // namespace ecosort::run
