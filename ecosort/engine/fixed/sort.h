// The external sort of fixed records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/bench.h"
#include "engine/claim.h"
#include "engine/fixed/group_records.h"
#include "engine/fixed/read_ahead.h"
#include "engine/work_report.h"
#include "planner/plan.h"
#include "sortbenchmark/valsort_crc.h"

namespace ecosort::engine::fixed {

// Everything is checked and opened beforehand; nothing is created yet.
struct SortJob {
  planner::RecordPlan plan;
  std::vector<Input> inputs;
  std::vector<std::byte> head = {};      // what each input has in front of its records, and the output begins with
  std::string output;                    // "-": standard output
  std::vector<std::string> directories;  // for runs
  bool runs_give_back = true;            // their file systems let the output take the space of what the merge has consumed
  RecordGroups groups;
  std::optional<std::uint64_t> limit;  // only so many go out, those that are first in order; with groups, of different ones
  bool reread = false;                 // also read the output back from the device
  ClaimText claim = {};
};

struct SortReport : WorkReport {
  planner::RecordPlan plan;  // as followed: complete also where the size was unknown before
  std::uint64_t demand_reads = 0;
};

// Sorts. Throws VerificationError, IoError, UsageError (a stream that ends inside a record), Interrupted; the output then
// does not exist (or is what it was), and no space stays taken. Two sorts in one process do not disturb each other.
// io::QueueBroken: the same, but everything the sort used (job and environment) must live on, and its memory is never given back;
// the program had better end without destroying them. Its unnamed files vanish with the process.
[[nodiscard]] SortReport sort(SortJob& job, const Environment& environment);

}  // namespace ecosort::engine::fixed
