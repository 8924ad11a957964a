// The merge (EcoSort section 3): successive batches from one prefetch sequence to one sequential front.
//
// A round looks at what is in memory and finds how far it may be merged: no run may have a record, not yet in memory, that
// comes earlier. Batches of the size of an output block follow until that is used up. Consumed blocks return to the
// prefetcher, consumed run space to the file system.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/fixed/checked_output.h"
#include "engine/fixed/merge_batch.h"
#include "engine/fixed/prefetch.h"
#include "engine/fixed/run_sink.h"
#include "engine/fixed/split.h"
#include "planner/plan.h"

namespace ecosort::engine::fixed {

// A batch that has been put into the output took this from the runs.
struct MergedBatch {
  const std::vector<MergedRun>& sources;  // `consumed` of each holds already
  hash::MultisetHash appended;            // of the records in the output block
};

// Decides in place of the merge when consumed run space is given back.
class ReleaseHook {
 public:
  ReleaseHook() = default;
  ReleaseHook(const ReleaseHook&) = delete;
  ReleaseHook& operator=(const ReleaseHook&) = delete;
  virtual ~ReleaseHook() = default;

  // Before `bytes` more are merged into the output. May take its time: the merge waits.
  [[nodiscard]] virtual Task<void> before_batch(std::uint64_t bytes) = 0;
  virtual void after_batch(const MergedBatch& batch) = 0;
};

// Says whether an output is complete when a merge into it is.
enum class Ending : std::uint8_t { complete, more_to_come };

// Coordinator only; must outlive its task. One object per step of the plan.
class MergeRuns {
 public:
  MergeRuns(const RecordTools& tools, const planner::MergeBuffers& buffers, std::uint64_t waiting_bytes,
            std::vector<MergedRun> sources);

  // VerificationError if the output would not be in order (promise P1).
  [[nodiscard]] Task<void> merge_to_output(CheckedOutput& output);

  // Merges runs whose space is `hook`'s: none of it is given back here. Without --unique.
  [[nodiscard]] Task<void> merge_to_output(CheckedOutput& output, ReleaseHook& hook, Ending ending);

  // With a hook: all records that batches have taken from the runs, as they were when their run blocks were verified
  // (Prefetch::keep_sums). Between two batches, or when all are merged.
  [[nodiscard]] Task<hash::MultisetHash> consumed();

  // Merges no more than what `records` of the output take. Before merge_to_output(), without a hook; stored runs only.
  void stop_after(std::uint64_t records) noexcept { most_output_ = records; }
  // After that: the records that the merge took from the runs, likewise.
  [[nodiscard]] const hash::MultisetHash& taken() const noexcept { return taken_; }

  // Into a new run of the store, whose number is `run`.
  [[nodiscard]] Task<void> merge_to_run(std::size_t run);

  [[nodiscard]] std::uint64_t demand_reads() const noexcept { return prefetch_.demand_reads(); }

 private:
  struct Round {
    std::vector<RunView> views;
    std::vector<RunRange> ranges;  // what may be merged
    std::uint64_t records = 0;
    std::optional<std::uint32_t> blocking;  // the run whose missing block ends the round
  };

  Task<void> finish();
  Task<void> wait_for_data(std::uint64_t batch_records);
  Task<Round> next_round(std::uint64_t batch_records);
  [[nodiscard]] Round look() const;
  void limit(Round& round) const;
  Task<void> merge_all(CheckedOutput& output, ReleaseHook* hook, Ending ending);
  Task<BatchResult> merge_next(Round& round, std::uint64_t count, BatchTarget target);
  [[nodiscard]] std::uint64_t most_waiting_bytes() const;
  void release_consumed(const BatchResult& batch);
  Task<void> put_batches(CheckedOutput& output, ReleaseHook* hook, Ending ending);
  Task<void> fill_run(RunSink& sink);

  const RecordTools tools_;
  io::Reactor& reactor_;
  Compute& compute_;
  run::RecordRuns& store_;
  const records::Encoder& encoder_;
  planner::MergeBuffers buffers_;
  std::uint64_t waiting_bytes_;
  MemoryBudget& memory_;
  std::vector<MergedRun> sources_;
  Prefetch prefetch_;
  TaskGroup background_;    // releases
  std::uint64_t left_ = 0;  // records not merged yet
  std::optional<std::uint64_t> most_output_;
  hash::MultisetHash taken_;
};

}  // namespace ecosort::engine::fixed
