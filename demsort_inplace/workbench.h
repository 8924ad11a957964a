// A job in this process: what it works with, and the steps that every kind of job has in common.
//
//   first_phase.h    pieces of the input become durable runs
//   second_phase.h   the runs become the output, checkpoint by checkpoint
//   finish.h         the result is verified, durable, named; the rest is removed
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/memory.h"
#include "demsort_inplace/job_status.h"
#include "engine/compute.h"
#include "engine/fixed/read_ahead.h"
#include "engine/fixed/sort.h"
#include "engine/phase_log.h"
#include "engine/progress.h"
#include "io/reactor.h"
#include "run/run_store.h"

namespace ecosort::inplace {

// What a job runs on. All of it outlives the calls.
struct Environment {
  io::NamedStorage& storage;
  io::Queue& queue;
  engine::Progress& progress;
  engine::PhaseLog& log;
  const std::atomic<int>& interrupted;  // a signal number: stop at the next checkpoint, and throw Interrupted
  bool trusts_drive = false;            // what stands of an output is not read again (recheck.h)
};

// Coordinator only. Members are declared in the order in which they may be used; what computes or waits dies before what it uses.
struct Workbench {
  Workbench(const std::string& path, const JobHeader& job_header, const planner::Plan& engine, const Environment& environment);

  // Drives `task` to its end; rethrows what ended it. A signal waits for the next checkpoint.
  void run(Task<void> task);

  // A job that is there already: its journal, and what that says.
  void take(JobStatus status);

  // Phases follow each other.
  void begin(const char* name, engine::Phase phase, std::uint64_t bytes);
  std::uint64_t begin_of_job(engine::Phase phase, std::uint64_t bytes);
  void end();

  [[nodiscard]] std::uint64_t consumed(std::uint64_t run) const { return state ? state->consumed[run] : 0; }

  const JobPaths paths;
  const JobHeader header;
  const Layout& layout;
  const planner::Plan plan;
  io::NamedStorage& storage;
  engine::Progress& progress;
  engine::PhaseLog& log;
  const std::atomic<int>& interrupted;
  const bool trusts_drive;
  const records::Encoder encoder;
  MemoryBudget memory;
  io::Reactor reactor;
  engine::Compute compute;
  engine::SortReport report;
  JobFiles files;
  std::vector<engine::Input> inputs;  // of the first phase
  std::optional<Journal> journal;
  std::vector<RunDone> done;      // what the journal says
  std::optional<State> state;     // likewise
  bool is_complete = false;       // likewise: what is left is to clean up
  std::uint64_t output_room = 0;  // bytes of the output that were allocated beforehand
  std::optional<engine::RunStore> store;
  std::vector<std::size_t> numbers;  // of every run in the store; runs that hold nothing any more have none
  TaskGroup main;
};

// Does `work` on a bench of its own. Where the queue breaks, the system may still use what is on the bench: it then lives as long
// as the process.
template <class Work>
engine::SortReport on_bench(const std::string& path, const JobHeader& header, const planner::Plan& plan,
                            const Environment& environment, Work work) {
  auto bench = std::make_unique<Workbench>(path, header, plan, environment);
  try {
    return work(*bench);
  } catch (const io::QueueBroken&) {
    (void)bench.release();
    throw;
  }
}

// Makes the journal and the names durable before anything is built upon them: after a crash of the program alone only the kernel
// may know them.
[[nodiscard]] Task<void> open_journal(Workbench& bench);

// Creates the directory and in it a journal with the job's header, durable.
[[nodiscard]] Task<void> create_journal(Workbench& bench);

// After a failure before the job began: removes what was created. Best effort: the error that led here is the one to tell.
void discard_preparation(Workbench& bench) noexcept;

// IoError where a file is shorter than the journal says: somebody or the drive took a part of it, or the journal itself has lost
// records. In neither case may anything be cut: all lengths are looked at before the first cut.
void check_length(Workbench& bench, const io::File& file, std::uint64_t size);

// Cuts a file to the length that the journal gives it; what a crash left beyond that is not needed. IoError if it is shorter.
void cut(Workbench& bench, io::File& file, std::uint64_t size);

// Bytes [begin, end) of a file.
[[nodiscard]] Task<std::vector<std::byte>> read_bytes(Workbench& bench, const io::File& file, std::uint64_t begin,
                                                      std::uint64_t end);

}  // namespace ecosort::inplace
