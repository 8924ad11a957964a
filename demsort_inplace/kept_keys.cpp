#include "demsort_inplace/kept_keys.h"

#include "base/byte_stream.h"
#include "base/errors.h"
#include "hash/block_checksum.h"
#include "run/run_block.h"

namespace ecosort::demsort_inplace {

namespace {

constexpr std::uint64_t checksum_bytes = sizeof(std::uint64_t);

std::uint64_t checksum_of(const JobHeader& header, std::uint64_t run, std::span<const std::byte> keys) {
  return hash::block_checksum(keys.data(), keys.size(), run::run_seed(header.job, run));
}

void fail() { throw InternalError("a table of keys that was checked has too few bytes"); }

}  // namespace

std::uint64_t kept_keys_bytes(std::uint64_t run_blocks, std::uint64_t key_stride) noexcept {
  return key_stride == 0 ? 0 : div_up(run_blocks, key_stride) * kept_key_bytes + checksum_bytes;
}

std::vector<std::byte> encode_keys(const JobHeader& header, std::uint64_t run, std::span<const run::ForecastKey> keys) {
  ByteWriter out;
  for (const run::ForecastKey& key : keys) {
    out.add(key.prefix);
    out.add(std::uint64_t{key.extension});
  }
  out.add(checksum_of(header, run, out.bytes()));
  return out.take();
}

std::vector<run::ForecastKey> keys_in(std::span<const std::byte> bytes) {
  ByteReader in(bytes, fail);
  std::vector<run::ForecastKey> keys(bytes.size() / kept_key_bytes);
  for (run::ForecastKey& key : keys) {
    key.prefix = in.next();
    key.extension = in.next_32();
  }
  return keys;
}

std::optional<std::vector<run::ForecastKey>> decode_keys(const JobHeader& header, std::uint64_t run,
                                                         std::span<const std::byte> bytes) {
  const std::span<const std::byte> of_keys = bytes.first(bytes.size() - checksum_bytes);
  ByteReader behind(bytes.last(checksum_bytes), fail);
  if (behind.next() != checksum_of(header, run, of_keys)) return std::nullopt;
  return keys_in(of_keys);
}

}  // namespace ecosort::demsort_inplace
