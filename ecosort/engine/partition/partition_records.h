// Cuts a range of records into slices: each run is read, its index brought into the order of the parts, and gathered into their
// files while the next runs are read. Where the slices are to be sorted, the index of each run is sorted, and cut: every run
// makes files of its own.
#pragma once

#include <cstdint>

#include "engine/bench.h"
#include "engine/fixed/read_ahead.h"
#include "engine/partition/partition.h"
#include "planner/partition_plan.h"

namespace ecosort::engine::partition {

// Everything is checked and opened; nothing is created yet.
struct PartitionRecordsJob {
  planner::PartitionPlan plan;
  std::vector<fixed::Input> inputs;  // one, with the range that is wanted of it
  PartitionTerms terms;
};

// VerificationError, IoError, NameError, Interrupted, io::QueueBroken as sort() does; no slice has a name then, or in the last
// moment only some have.
[[nodiscard]] PartitionReport partition_records(PartitionRecordsJob& job, const Environment& environment);

}  // namespace ecosort::engine::partition
