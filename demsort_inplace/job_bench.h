// A job in this process: what every kind of job works with, and the steps that all kinds have in common.
//
//   workbench.h     of fixed records
//   lines_bench.h   of lines
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "demsort_inplace/job_status.h"
#include "engine/bench.h"
#include "run/run_store.h"

namespace ecosort::demsort_inplace {

// A job runs on these. All of it outlives the calls.
struct JobContext {
  io::NamedStorage& storage;
  io::Queue& queue;
  engine::Progress& progress;
  engine::PhaseLog& log;
  const std::atomic<int>& interrupted;  // a signal number: stop at the next checkpoint, and throw Interrupted
  bool trusts_drive = false;            // what is there of an output is not read again (recheck.h)
  bool only_completes = false;          // no one asks now to give the job up: what was begun is brought to its end

  // Returns what the engine works in.
  [[nodiscard]] engine::Environment for_engine() const { return {storage, queue, progress, log, interrupted}; }
};

// Coordinator only. Members are declared in the order in which they may be used.
struct JobBench : engine::Bench {
  JobBench(const std::string& path, const JobHeader& job_header, const engine::BenchSize& size, const JobContext& environment);

  // Drives `task` to its end; rethrows what ended it. A signal waits for the next checkpoint.
  void run(Task<void> task);

  // A job that is there already: its journal, and what that says.
  void take(JobStatus status);

  const JobPaths paths;
  const JobHeader header;
  io::NamedStorage& storage;  // as a bench has it, with names
  const bool trusts_drive, only_completes;
  JobFiles files;
  std::optional<Journal> journal;
  std::vector<RunDone> done;         // what the journal says
  std::optional<State> state;        // likewise
  bool is_complete = false;          // likewise: what is left is to clean up
  bool takes_what_is_there = false;  // given up on a drive that is trusted: zeros for what its files have lost
  std::vector<std::string> notices;  // for the user; some may be empty
  TaskGroup main;
};

// Does `work` on a bench of its own.
template <class Bench, class Plan, class Work>
auto work_on_bench(const std::string& path, const JobHeader& header, Plan&& plan, const JobContext& environment,
                   const Work& work) {
  return engine::keep_where_queue_breaks(std::make_unique<Bench>(path, header, std::forward<Plan>(plan), environment), work);
}

// Makes the journal and the names durable before anything is built upon them: after a crash of the program alone only the kernel
// may know them.
[[nodiscard]] Task<void> open_journal(JobBench& bench);

// The phase in which a job that continues opens its files, and reads again so many bytes of what they hold.
void begin_recheck(JobBench& bench, std::uint64_t bytes);

// Creates the directory and in it a journal with the job's header, durable.
[[nodiscard]] Task<void> create_journal(JobBench& bench);

// Nothing is done with them any more, and they are about to be removed: FUSE and NFS keep what is removed while it is open.
void close_files(JobBench& bench) noexcept;

// After a failure before the job began: removes what was created. Best effort: the error that led here is the one to report.
void discard_preparation(JobBench& bench) noexcept;

// Opens a file that the journal speaks of. `is_needed`: by the journal it holds something, so that it is a DamagedRun where it is
// gone; else, or where what is there is taken, an empty file.
[[nodiscard]] io::FilePtr open_file_of_job(JobBench& bench, const std::string& path, io::Role role, bool is_needed);

// Opens FILE of a job in place, which lies in its directory while it is under way. `is_needed`: as above.
[[nodiscard]] io::FilePtr open_input_in_place(JobBench& bench, io::Role role, bool is_needed);

// Opens a file without which the job can go on: creates it where it is gone.
[[nodiscard]] io::FilePtr open_or_create(JobBench& bench, const std::string& path, io::Role role, io::Caching caching);

// DamagedRun where a file is shorter than the journal says: somebody or the drive took a part of it, or the journal itself has
// lost records. In neither case may anything be cut: all lengths are looked at before the first cut. Where what is there is
// taken, zeros follow what is left, with a notice.
void check_length(JobBench& bench, io::File& file, std::uint64_t size);

// Cuts a file to the length that the journal gives it; what a crash left beyond that is not needed. Else as check_length().
void cut(JobBench& bench, io::File& file, std::uint64_t size);

// Removes files of runs that are none of these, and that a crash left: no record of the journal needs them.
void remove_other_runs(JobBench& bench, const std::vector<std::uint64_t>& known);

// Bytes [begin, end) of a file.
[[nodiscard]] Task<std::vector<std::byte>> read_bytes(JobBench& bench, const io::File& file, std::uint64_t begin,
                                                      std::uint64_t end);

// A notice of what of the runs could not be read, once the job was given up as the drive has it.
void tell_unreadable(JobBench& bench, const run::RunStore& store);

}  // namespace ecosort::demsort_inplace
