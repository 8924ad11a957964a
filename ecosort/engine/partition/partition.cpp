#include "engine/partition/partition.h"

#include <fmt/format.h>

#include "base/errors.h"

namespace ecosort::engine {

void check_slices(const PartitionReport& report) {
  records::MultisetHash all;
  for (const Slice& slice : report.slices) all += slice.hash;
  if (all == report.hash) return;
  throw VerificationError(
      fmt::format("verification failed: {} rows with hash {} were read, {} with hash {} would be in the slices; none was written",
                  report.hash.count, report.hash.to_hex(), all.count, all.to_hex()));
}

}  // namespace ecosort::engine
