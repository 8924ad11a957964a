// Runs of records of fixed size: the run store with whole records in each block, and the forecast of each run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/records/encoder.h"
#include "planner/plan.h"
#include "run/forecast.h"
#include "run/packed_runs.h"

namespace ecosort::run {

// Coordinator only, but for what run_store.h and forecast.h permit other threads.
class RecordRuns final : public PackedRuns {
 public:
  // Unnamed runs, striped over the directories in units of a write block. `packer`: of their blocks; null: none. It outlives
  // this.
  RecordRuns(io::Storage& storage, io::Reactor& reactor, const planner::RecordPlan& plan, std::vector<std::string> directories,
             RunPacker* packer = nullptr);
  // Runs of a job, in files of the caller's. `packer` as above; runs that are packed go forward.
  RecordRuns(io::Storage& storage, io::Reactor& reactor, const planner::RecordPlan& plan, const KeptRuns& kept,
             RunPacker* packer = nullptr);

  // Creates the files of a run and reserves its space where the file system can. Returns the run's number.
  [[nodiscard]] std::size_t create(std::uint64_t records);

  // Takes a file that holds, or is to hold, `records` records of run number `identity` of the job, from its run block
  // `first_run_block` on. Its space and its length are the caller's business. Returns the run's number here.
  [[nodiscard]] std::size_t adopt(io::FilePtr file, std::uint64_t identity, std::uint64_t records, std::uint64_t first_run_block);

  [[nodiscard]] const planner::RunBlock& run_block() const noexcept { return run_block_; }
  [[nodiscard]] Forecast& forecast() noexcept { return forecast_; }
  [[nodiscard]] const Forecast& forecast() const noexcept { return forecast_; }

  // Reads the keys of a run's forecast from its file: every stride-th run block from `first` on, which is checked. A key that is
  // wrong would let the merge go too far before the run block itself is loaded, and a checkpoint could make that durable. As many
  // are read at a time as `memory` has room for; the run holds so many records.
  [[nodiscard]] Task<void> read_forecast(std::size_t number, std::uint64_t records, std::uint64_t first,
                                         const records::Encoder& encoder, std::span<std::byte> memory);

  // Makes run blocks [first, first + count) of a run of so many records, which were read as they are on the drive to the end of
  // `memory`, what they were, each in its place. By any thread while the run is open. DamagedRun.
  void open_run_blocks(const StoredRun& run, std::uint64_t records, std::uint64_t first, std::uint64_t count,
                       std::byte* memory) const;

  // Pads and checksums a run block that holds `records` records. Thread-safe for different blocks.
  void seal_records(const StoredRun& run, std::uint64_t run_block, std::uint32_t records, std::byte* data) const noexcept {
    seal(run, run_block, data, {.used_bytes = records * record_size_});
  }

 private:
  Task<void> read_forecast_keys(std::size_t number, std::uint64_t records, const records::Encoder& encoder, std::byte* memory,
                                std::uint64_t& next_block);
  void closed(std::size_t number) override {
    PackedRuns::closed(number);
    forecast_.drop_run(number);
  }

  planner::RunBlock run_block_;
  std::uint32_t record_size_;
  Forecast forecast_;
};

}  // namespace ecosort::run
