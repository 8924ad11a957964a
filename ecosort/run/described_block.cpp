#include "run/described_block.h"

#include <fmt/format.h>

#include <cstring>

#include "base/errors.h"

namespace ecosort::run {

namespace {

// Returns what an intact block holds, which is made what it was. Nothing: it is none.
std::optional<BlockContents> unpacked(const Description& d, const std::byte* data, std::uint64_t stored_bytes, std::byte* to,
                                      RunPacker* coders) {
  if (stored_bytes < d.block_bytes) return coders->unpack(data, stored_bytes, to, d.block_bytes);
  if (to != data) std::memmove(to, data, stored_bytes);
  return contents_of(to, d.block_bytes);
}

}  // namespace

void open_block(const Description& d, const std::string& name, std::uint64_t block, const std::byte* data, std::byte* to,
                RunPacker* coders) {
  const std::uint64_t stored = d.bytes_of(block, 1);
  if (is_intact(data, stored, run_seed(d.job, d.run) + block)) {
    const auto contents = unpacked(d, data, stored, to, coders);
    const std::uint64_t most_carried = d.has_rows() && contents ? contents->used_bytes : 0;
    if (contents && contents->used_bytes == d.used_bytes(block) && contents->carried_bytes <= most_carried) return;
  }
  throw DamagedRun(fmt::format("the run '{}' is damaged at byte {}: what was read is not what was written (check the drive)",
                               name, d.place_of(block, 1)));
}

}  // namespace ecosort::run
