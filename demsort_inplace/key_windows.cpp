#include "demsort_inplace/key_windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "demsort_inplace/kept_keys.h"
#include "hash/block_checksum.h"

namespace ecosort::demsort_inplace {

namespace {

std::uint32_t sum_of(std::span<const std::byte> keys, std::uint64_t run, std::uint64_t first) {
  return static_cast<std::uint32_t>(hash::block_checksum(keys.data(), keys.size(), run << 32U | first));
}

}  // namespace

void KeyWindows::keep(std::size_t number, std::uint64_t run, std::span<const std::byte> keys, std::uint64_t before) {
  const Layout& layout = bench_.layout;
  const std::uint64_t table = kept_keys_bytes(layout.run_run_blocks(run), layout.key_stride);
  if (runs_.size() <= number) runs_.resize(number + 1);
  Kept& kept = runs_[number];
  kept = {.run = run, .begin = layout.head_bytes - table + before * kept_key_bytes, .sums = {}};
  keys = keys.subspan(before * kept_key_bytes);
  kept.sums.reserve(div_up(keys.size() / kept_key_bytes, piece_));
  for (std::uint64_t first = 0; first * kept_key_bytes < keys.size(); first += piece_) {
    const std::span<const std::byte> rest = keys.subspan(first * kept_key_bytes);
    kept.sums.push_back(sum_of(rest.first(std::min(rest.size(), piece_ * kept_key_bytes)), run, first));
  }
}

Task<std::vector<run::ForecastKey>> KeyWindows::read(std::size_t number, std::uint64_t first, std::uint64_t count) {
  const Kept& kept = runs_[number];
  const io::File& file = bench_.store->run(number).file();
  const std::uint64_t begin = kept.begin + first * kept_key_bytes, end = begin + count * kept_key_bytes;
  const std::uint64_t from = round_down(begin, bench_.layout.unit);
  std::vector<run::ForecastKey> keys;
  co_await reads_.take();
  {
    const Buffer memory = budget_.allocate(round_up(end, bench_.layout.unit) - from, "keys of a run");
    co_await bench_.reactor.read(file, from, memory.data(), memory.size(), end - from);
    const std::span<const std::byte> bytes(memory.data() + (begin - from), end - begin);
    if (sum_of(bytes, kept.run, first) != kept.sums[first / piece_])
      throw IoError(fmt::format("the keys in '{}' are not what was written there (check the drive and the memory)", file.path()));
    keys = keys_in(bytes);
  }
  reads_.give();
  co_return keys;
}

}  // namespace ecosort::demsort_inplace
