// Cuts a range of records into slices: each run is read, its index brought into the order of the parts, and gathered into their
// files while the next runs are read. Where the slices are to be sorted there is one run, whose index is sorted, and cut.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/fixed/read_ahead.h"
#include "engine/partition/partition.h"
#include "engine/phase_log.h"
#include "engine/progress.h"
#include "io/queue.h"
#include "io/storage.h"
#include "plan/partition_plan.h"

namespace ecosort::engine {

// Everything is checked and opened; nothing is created yet.
struct PartitionRecordsJob {
  planner::PartitionPlan plan;
  std::vector<Input> inputs;  // one, with the range that is wanted of it
  PartitionTerms terms;
};

// VerificationError, IoError, NameError, Interrupted, io::QueueBroken as sort() does; no slice has a name then, or in the last
// moment only some have.
[[nodiscard]] PartitionReport partition_records(PartitionRecordsJob& job, io::Storage& storage, io::Queue& queue,
                                                Progress& progress, PhaseLog& log, const std::atomic<int>& interrupted);

}  // namespace ecosort::engine
