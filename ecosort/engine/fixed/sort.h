// The external sort: run formation, merge, verification, publication. The driver reads like the paper's section list.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/fixed/read_ahead.h"
#include "engine/fixed/tally.h"
#include "engine/phase_log.h"
#include "engine/progress.h"
#include "engine/resumed.h"
#include "io/queue.h"
#include "io/storage.h"
#include "plan/plan.h"

namespace ecosort::engine {

// Everything is checked and opened beforehand; nothing is created yet.
struct SortJob {
  planner::Plan plan;
  std::vector<Input> inputs;
  std::string output;                    // "-": standard output
  std::vector<std::string> directories;  // for runs
  bool runs_give_back = true;            // their file systems let the output take the space of what the merge has consumed
  bool unique = false;
  bool reread = false;  // also read the output back from the device
};

struct SortReport {
  planner::Plan plan;  // as followed: complete also where the size was unknown before
  std::uint64_t records = 0, dropped = 0;
  Tally tally;  // of the input, equal to that of the output (plus what --unique dropped)
  io::Traffic traffic;
  std::uint64_t peak_temp_bytes = 0, peak_memory_bytes = 0;
  std::uint64_t demand_reads = 0;
  std::uint64_t runs = 0;
  std::optional<Resumed> resumed;  // nothing: the job began in this run
  std::string notice;              // something the user should know although all went well; usually empty
};

// Sorts. Throws VerificationError, IoError, UsageError (a stream that ends inside a record), Interrupted; the output then
// does not exist (or is what it was), and no space stays taken. Two sorts in one process do not disturb each other.
// io::QueueBroken: the same, but everything the sort used (job, storage, queue, progress, log) must live on, and its memory is
// never given back; the program had better end without destroying them. Its unnamed files vanish with the process.
[[nodiscard]] SortReport sort(SortJob& job, io::Storage& storage, io::Queue& queue, Progress& progress, PhaseLog& log,
                              const std::atomic<int>& interrupted);

}  // namespace ecosort::engine
