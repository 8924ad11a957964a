#include "run/run_block.h"

#include <cstring>
#include <span>

#include "base/random.h"
#include "hash/block_checksum.h"

namespace ecosort::run {
namespace {

// The last bytes of a block, in the byte order of the machine that wrote it: runs do not leave it.
struct Trailer {
  BlockContents contents;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(Trailer) == trailer_bytes);

constexpr std::size_t block_checksum_bytes = sizeof(Trailer::checksum);

}  // namespace

std::uint64_t run_seed(std::uint64_t job, std::uint64_t run) noexcept { return Random(job + run).next(); }

std::uint64_t random_job() {
  std::uint64_t job = 0;
  draw_random_bytes(std::as_writable_bytes(std::span(&job, 1)));
  return job;
}

void seal_block(std::byte* block, std::size_t block_bytes, std::uint64_t seed, BlockContents contents) noexcept {
  std::byte* const trailer = block + block_bytes - trailer_bytes;
  std::memset(block + contents.used_bytes, 0, block_bytes - trailer_bytes - contents.used_bytes);
  std::memcpy(trailer, &contents, sizeof contents);
  const std::uint64_t checksum = hash::block_checksum(block, block_bytes - block_checksum_bytes, seed);
  std::memcpy(trailer + sizeof contents, &checksum, sizeof checksum);
}

bool is_intact(const std::byte* block, std::size_t block_bytes, std::uint64_t seed) noexcept {
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, block + block_bytes - block_checksum_bytes, sizeof checksum);
  return checksum == hash::block_checksum(block, block_bytes - block_checksum_bytes, seed);
}

BlockContents contents_of(const std::byte* block, std::size_t block_bytes) noexcept {
  BlockContents contents;
  std::memcpy(&contents, block + block_bytes - trailer_bytes, sizeof contents);
  return contents;
}

}  // namespace ecosort::run
