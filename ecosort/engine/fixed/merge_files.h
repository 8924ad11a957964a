// The merge of files that are sorted already, by any program, and of the runs of jobs: `ecosort merge`.
//
// A round merges what is certain: no file may have a record, not yet in memory, that comes earlier. So it ends behind the record
// that is the smallest among the last ones in memory of the files that continue; the block that follows it is the one that will
// be needed first (forecasting, Knuth 5.4.9). Records with equal keys keep the order of the files. More files than the memory can
// merge at a time are merged in passes, adjacent ones first, so that the order stays. What is written between passes may be
// compressed: then it is a run, which is read as those of jobs are.
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
#include "formats/records/encoder.h"
#include "planner/files_plan.h"
#include "planner/packing_plan.h"

namespace ecosort::engine::fixed {

// Everything is checked and opened; nothing is created yet.
struct MergeFilesJob {
  records::RecordFormat format = {};
  std::uint64_t memory_bytes = 0;
  unsigned threads = 1;
  planner::FilesPlan plan;
  planner::PackingPlan unpacking = {};  // coders of inputs that are packed runs, within the memory; records of blocks up to
  std::size_t most_block_bytes = 0;     // so many bytes
  std::vector<Input> inputs;            // regular files, or runs of jobs
  std::vector<Input> rest;              // of these jobs' inputs, read through the page cache: goes out behind them as it is
  std::vector<std::byte> head = {};     // goes out in front of the records
  std::string output;                   // "-": standard output
  std::string directory;                // for files that are merged again
  RecordGroups groups = {};             // one record of each goes out
  bool reread = false;                  // also read the output back from the device
  ClaimText claim = {};
  bool checksum = false;  // valsort's, of the records read
  // The caller has hashed them all and knows this; then they are hashed when they are written only.
  std::optional<hash::MultisetHash> expected = std::nullopt;

  [[nodiscard]] bool is_of_runs() const noexcept { return !inputs.empty() && inputs.front().run; }
};

// NotSorted for a file that is not in order; VerificationError for others than expected; DamagedRun, IoError, Interrupted,
// io::QueueBroken as sort() does.
[[nodiscard]] WorkReport merge_files(MergeFilesJob& job, const Environment& environment);

}  // namespace ecosort::engine::fixed
