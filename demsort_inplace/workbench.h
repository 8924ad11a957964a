// A job of fixed records in this process: what it works with besides what every job has (job_bench.h).
//
//   keep_runs.h      pieces of the input become durable runs
//   second_phase.h   the runs become the output, checkpoint by checkpoint
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "demsort_inplace/job_bench.h"
#include "engine/fixed/read_ahead.h"
#include "engine/fixed/sort.h"
#include "run/record_runs.h"

namespace ecosort::demsort_inplace {

class KeyWindows;

// Coordinator only.
struct Workbench : JobBench {
  Workbench(const std::string& path, const JobHeader& job_header, const planner::RecordPlan& engine,
            const JobContext& environment);
  ~Workbench();

  // Says of the progress what the whole job moves, and what of that was done before; `recheck` bytes are read again
  // before it continues. Before the first phase.
  void plan_sort(std::uint64_t recheck);
  void plan_put_back(std::uint64_t recheck, std::uint64_t records_there);

  [[nodiscard]] std::uint64_t consumed(std::uint64_t run) const { return state ? state->consumed[run] : 0; }
  // The first record of a run that the store takes in: blocks of the merge begin where they did at first, whatever was given up.
  [[nodiscard]] std::uint64_t first_adopted(std::uint64_t run) const {
    return round_down(consumed(run), std::uint64_t{layout.run_block.records} * plan.forecast_stride);
  }
  // The length of the file of a run, by the journal: 0 where it does not know the run yet, or it holds nothing any more.
  [[nodiscard]] std::uint64_t durable_run_bytes(std::uint64_t run) const;
  // Bytes that are read and written to form the runs from this one on.
  [[nodiscard]] std::uint64_t formation_bytes(std::uint64_t first_run) const;

  const Layout& layout;
  const planner::RecordPlan plan;
  records::Encoder encoder;
  engine::fixed::SortReport report;
  std::vector<engine::fixed::Input> inputs;  // of the first phase
  std::uint64_t output_room = 0;             // bytes of the output that were allocated beforehand
  std::unique_ptr<run::RunPacker> packer;    // where runs may be packed
  std::unique_ptr<KeyWindows> key_windows;   // where the memory has no room for all keys of the forecast
  std::optional<run::RecordRuns> store;
  std::vector<std::size_t> numbers;  // of every run in the store; runs that hold nothing any more have none
};

}  // namespace ecosort::demsort_inplace
