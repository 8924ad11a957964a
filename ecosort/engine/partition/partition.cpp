#include "engine/partition/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace ecosort::engine::partition {

PartitionReport PartitionDriver::run() {
  main_.spawn(partition());
  bench_.reactor.run(main_, bench_.interrupted);
  bench_.begin("publish", Phase::sync, 0);
  if (std::string told = files_.publish(); report_.notice.empty()) report_.notice = std::move(told);
  bench_.end();
  report_.traffic = bench_.reactor.traffic();
  report_.peak_memory_bytes += bench_.memory.peak_bytes();
  bench_.progress.begin(Phase::done, 0);
  return std::move(report_);
}

Task<void> PartitionDriver::partition() {
  files_.create();
  const std::uint64_t moved = std::max<std::uint64_t>(cutter_.bytes(), 1);
  bench_.progress.plan_job(1, moved);
  bench_.begin("partition", Phase::partition, moved, moved);
  cutter_.begin(work_);
  co_await work_.settle();
  co_await files_.settle();
  bench_.reactor.scope().throw_if_failed();
  bench_.end();
  report_.slices.resize(files_.parts());
  cutter_.sum_up(report_);
  verify();
  bench_.begin("sync", Phase::sync, 0);
  co_await files_.finish();
  bench_.end();
  for (std::size_t part = 0; part < files_.parts(); ++part) report_.slices[part].files = files_.files(part);
  report_.notice = cutter_.check_input();
}

// Promise P1: what was read is what the slices hold.
void PartitionDriver::verify() const {
  hash::MultisetHash all;
  for (const Slice& slice : report_.slices) all += slice.hash;
  if (all == report_.hash) return;
  throw VerificationError(
      fmt::format("verification failed: {} rows with hash {} were read, {} with hash {} would be in the slices; none was written",
                  report_.hash.count, report_.hash.to_hex(), all.count, all.to_hex()));
}

}  // namespace ecosort::engine::partition
