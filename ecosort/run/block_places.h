// Keeps where the blocks of a packed run of a job lie: a table in its file behind them, so that a process that comes after a
// crash finds them. FORMAT.md has it byte for byte.
//
//   run file of a job | description, zeros | block | block | ... | end, end, ... | zeros | checksum |
//                                                                  4 bytes each            8 bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ecosort::run {

// Returns the size of the table of so many blocks: whole pages.
[[nodiscard]] std::uint64_t places_bytes(std::uint64_t blocks) noexcept;
// Returns the size of the tables of `runs` runs with so many blocks together, at most.
[[nodiscard]] std::uint64_t most_places_bytes(std::uint64_t runs, std::uint64_t blocks) noexcept;

// The table. `ends`: of each block, in pages from the first one on; `seed`: run_seed() of the run.
[[nodiscard]] std::vector<std::byte> encode_places(std::span<const std::uint32_t> ends, std::uint64_t seed);

// Reads the places of `blocks` blocks that take at most `block_bytes` each, and `stored_bytes` together; `bytes` are those of the
// table. Nothing: it is damaged, or of another run.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> decode_places(std::span<const std::byte> bytes, std::uint64_t blocks,
                                                                      std::uint64_t block_bytes, std::uint64_t stored_bytes,
                                                                      std::uint64_t seed);

// Reads the places of the run with this name. DamagedRun.
[[nodiscard]] std::vector<std::uint32_t> places_of_run(const std::string& name, std::span<const std::byte> bytes,
                                                       std::uint64_t blocks, std::uint64_t block_bytes,
                                                       std::uint64_t stored_bytes, std::uint64_t seed);

}  // namespace ecosort::run
