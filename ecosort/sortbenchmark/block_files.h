// Files of 100-byte records, made or examined block by block by several threads (generator and validator).
//
// A few threads more than may compute each own one block buffer: while some wait in a transfer, the others compute, so that
// both the drive and the processors stay busy without any queue between them. Memory: (threads + 8) blocks of 4 MB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "io/plain_file.h"

namespace ecosort::sortbenchmark {

inline constexpr std::size_t record_bytes = 100;
inline constexpr std::size_t block_records = 40'960;
inline constexpr std::size_t block_bytes = block_records * record_bytes;  // also a multiple of 4096, for direct transfers

struct BlockFileOptions {
  unsigned compute_threads = 1;  // how many calls of `produce` or `consume` may run at the same time
  io::FileCaching caching = io::FileCaching::automatic;
};

// Fills `block` with the records from number `first_record` on. Called from several threads.
using Produce = std::function<void(std::uint64_t first_record, std::span<std::byte> block)>;

// Looks at block number `index`. Called from several threads, in any order; only the last block is shorter than block_bytes,
// and its size may be no multiple of a record.
using Consume = std::function<void(std::uint64_t index, std::span<const std::byte> block)>;

// Both throw what a callback throws, and IoError with the line "NAME: reason"; the first error stops all threads.

// Creates or truncates the file and writes it in place, at stable storage when it returns. After an error a regular file is
// left empty. The name "/dev/null" makes the records but writes none.
void write_record_file(const std::string& name, std::uint64_t records, const BlockFileOptions& options, const Produce& produce);

// Reads to the end. IoError also when a regular file changes meanwhile. Returns the number of bytes.
std::uint64_t read_record_file(const std::string& name, const BlockFileOptions& options, const Consume& consume);

}  // namespace ecosort::sortbenchmark
