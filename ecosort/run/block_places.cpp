#include "run/block_places.h"

#include <fmt/format.h>

#include <cstring>

#include "base/errors.h"
#include "base/memory.h"
#include "hash/block_checksum.h"

namespace ecosort::run {
namespace {

constexpr std::uint64_t place_bytes = sizeof(std::uint32_t), places_checksum_bytes = sizeof(std::uint64_t);

// Computes it as if the table were the block behind the last one: no block has this seed.
std::uint64_t checksum_of(const std::byte* bytes, std::size_t size, std::uint64_t seed, std::uint64_t blocks) {
  return hash::block_checksum(bytes, size, seed + blocks);
}

// Each block takes whole pages, at least one.
bool are_possible(const std::vector<std::uint32_t>& ends, std::uint64_t block_bytes, std::uint64_t stored_bytes) {
  std::uint64_t before = 0;
  for (const std::uint64_t end : ends) {
    if (end <= before || (end - before) * page_bytes > block_bytes) return false;
    before = end;
  }
  return before * page_bytes == stored_bytes;
}

}  // namespace

std::uint64_t places_bytes(std::uint64_t blocks) noexcept {
  return round_up(blocks * place_bytes + places_checksum_bytes, page_bytes);
}

std::uint64_t most_places_bytes(std::uint64_t runs, std::uint64_t blocks) noexcept {
  return round_up(blocks * place_bytes + runs * (places_checksum_bytes + page_bytes), page_bytes);
}

std::vector<std::byte> encode_places(std::span<const std::uint32_t> ends, std::uint64_t seed) {
  std::vector<std::byte> bytes(places_bytes(ends.size()));
  std::memcpy(bytes.data(), ends.data(), ends.size_bytes());
  const std::size_t checked = bytes.size() - places_checksum_bytes;
  const std::uint64_t checksum = checksum_of(bytes.data(), checked, seed, ends.size());
  std::memcpy(bytes.data() + checked, &checksum, sizeof checksum);
  return bytes;
}

std::optional<std::vector<std::uint32_t>> decode_places(std::span<const std::byte> bytes, std::uint64_t blocks,
                                                        std::uint64_t block_bytes, std::uint64_t stored_bytes,
                                                        std::uint64_t seed) {
  if (bytes.size() != places_bytes(blocks)) return std::nullopt;
  const std::size_t checked = bytes.size() - places_checksum_bytes;
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + checked, sizeof checksum);
  if (checksum_of(bytes.data(), checked, seed, blocks) != checksum) return std::nullopt;
  std::vector<std::uint32_t> ends(blocks);
  std::memcpy(ends.data(), bytes.data(), blocks * place_bytes);
  if (!are_possible(ends, block_bytes, stored_bytes)) return std::nullopt;
  return ends;
}

std::vector<std::uint32_t> places_of_run(const std::string& name, std::span<const std::byte> bytes, std::uint64_t blocks,
                                         std::uint64_t block_bytes, std::uint64_t stored_bytes, std::uint64_t seed) {
  if (auto ends = decode_places(bytes, blocks, block_bytes, stored_bytes, seed)) return *std::move(ends);
  throw DamagedRun(
      fmt::format("the table of the run '{}' is damaged: what was read is not what was written (check the drive)", name));
}

}  // namespace ecosort::run
