#include "demsort_inplace/run_bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ecosort::demsort_inplace {

RunBytes::RunBytes(JobBench& bench, std::vector<std::uint64_t> taken, std::size_t chunk_bytes)
    : bench_(bench),
      store_(bench.storage, bench.reactor, bench.header.lines->block_bytes,
             {run::Direction::forward, bench.header.job, bench.header.layout.head_bytes}),
      taken_(std::move(taken)),
      memory_(bench.memory.allocate(chunk_bytes, "blocks of runs", Pages::small)) {
  if (bench.trusts_drive) store_.take_as_it_is();
}

Task<void> RunBytes::add(std::uint64_t number, io::FilePtr file) {
  run::RowRun run{.bytes = bench_.done[number].lines->bytes};
  co_await store_.adopt(run, std::move(file), number, 0);
  runs_.push_back(std::move(run));
}

Task<void> RunBytes::take(std::byte* to, std::size_t size) {
  const std::uint64_t payload = store_.block_bytes() - run::trailer_bytes;
  for (std::size_t done = 0; done < size;) {
    if (taken_[present_] == runs_[present_].bytes) {
      ++present_;
      first_block_ = end_block_ = 0;
      continue;
    }
    const std::uint64_t at = taken_[present_], block = at / payload;
    if (block >= end_block_ || block < first_block_) co_await read();
    const std::uint64_t end = std::min((block + 1) * payload, runs_[present_].bytes);
    const std::size_t part = std::min<std::uint64_t>(size - done, end - at);
    const std::byte* const from = memory_.data() + (block - first_block_) * store_.block_bytes() + at % payload;
    std::memcpy(to + done, from, part);
    done += part;
    taken_[present_] += part;
  }
}

// From the block on that holds the next byte.
Task<void> RunBytes::read() {
  const run::RowRun& run = runs_[present_];
  const std::uint64_t block_bytes = store_.block_bytes();
  first_block_ = taken_[present_] / (block_bytes - run::trailer_bytes);
  end_block_ = std::min(first_block_ + memory_.size() / block_bytes, run.blocks(block_bytes));
  co_await store_.read(run.stored, first_block_, memory_.data(), (end_block_ - first_block_) * block_bytes);
  for (std::uint64_t block = first_block_; block < end_block_; ++block)
    store_.check(store_.run(run.stored), block, memory_.data() + (block - first_block_) * block_bytes);
}

}  // namespace ecosort::demsort_inplace
