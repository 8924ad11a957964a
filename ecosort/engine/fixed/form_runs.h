// Run formation (EcoSort section 4): read | extract | index sort | gather | write, overlapped over rotating run buffers.
//
// A run that came in order is not sorted, and not stored where it can be read again: it lies in its input (RecordsInInput).
//
// Each run is one task that passes through the stages; the run buffers, the one sort scratch and the write blocks are
// counted resources, first come first served, so that the drives read run i+1 while run i is sorted and run i-1 is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/block_pool.h"
#include "engine/fixed/limit_records.h"
#include "engine/fixed/read_ahead.h"
#include "engine/fixed/record_tools.h"
#include "engine/fixed/records_in_input.h"
#include "engine/fixed/run_buffer.h"
#include "engine/fixed/run_writer.h"
#include "engine/pace_meter.h"
#include "engine/populate_ahead.h"
#include "planner/plan.h"

namespace ecosort::engine::fixed {

// The runs in input order: the first ones stored, the last ones still in memory, sorted through their index.
struct FormedRuns {
  std::vector<std::uint64_t> records;                    // of every run
  std::vector<std::size_t> stored;                       // numbers in the run store
  std::vector<std::optional<RecordsInInput>> in_inputs;  // of these: what lies in an input instead
  std::vector<RunBuffer> resident;
  hash::MultisetHash written;  // with a limit: of the records of all stored runs, as they were written
};

// A run to be formed: records [first, first + records) of the inputs, stored as run `stored` of the store.
struct RunPart {
  std::uint64_t first = 0, records = 0;
  std::size_t stored = 0;
};

// Is asked before a run is written, and told after all of it was: what makes runs durable, one after the other.
class RunKeeper {
 public:
  RunKeeper() = default;
  RunKeeper(const RunKeeper&) = delete;
  RunKeeper& operator=(const RunKeeper&) = delete;
  virtual ~RunKeeper() = default;

  // `part`: its position in the list of parts. Runs may ask in any order; they are read and sorted by then.
  [[nodiscard]] virtual Task<void> before_store(std::size_t part) = 0;
  // `read` is the tally of the records as they came in, `written` of those in the blocks that were written.
  [[nodiscard]] virtual Task<void> after_store(std::size_t part, Tally read, Tally written) = 0;
};

// Coordinator only; must outlive the task.
class FormRuns {
 public:
  // `packer`: learns the pace before each run; null: none.
  FormRuns(const RecordTools& tools, const planner::RecordPlan& plan, ReadAhead& reader, run::RunPacker* packer = nullptr);

  // Creates all run files of inputs of known size and reserves their space, before hours of work (promise P10).
  void create_runs();
  [[nodiscard]] Task<void> form();  // all runs of inputs of known size, after create_runs()
  // These parts, all stored, begun in this order, under the eyes of `keeper`.
  [[nodiscard]] Task<void> form_parts(const std::vector<RunPart>& parts, RunKeeper& keeper);
  [[nodiscard]] Task<void> form_stream();  // until the stream ends
  // Only what may be among the first records of the order. `records`: of inputs of known size. What fits a buffer stays in
  // memory, else all is stored.
  [[nodiscard]] Task<void> form_limited(LimitRecords& limit, std::optional<std::uint64_t> records);

  // After form_stream(): records of each run in input order; how many of the last ones are not stored; stores more of these.
  [[nodiscard]] const std::vector<std::uint64_t>& run_records() const noexcept { return formed_.records; }
  [[nodiscard]] std::uint32_t runs_in_memory() const noexcept { return static_cast<std::uint32_t>(resident_slots_.size()); }
  [[nodiscard]] Task<void> store_all_but(std::uint32_t resident_runs);

  [[nodiscard]] FormedRuns take_runs();

  // The buffers of stored runs, the scratch and the write blocks go back to the budget.
  void free_buffers();

 private:
  struct Slot {
    RunBuffer run;
    bool is_free = true;
    bool is_sorted = false;
  };

  // Records that may be wanted move to a slot of their own.
  struct Keeping {
    LimitRecords& limit;
    std::size_t slot;
    std::uint64_t turn = 0;  // number of the window that is looked at
    Signal turned;
  };

  void populate_buffers(std::uint64_t runs, std::uint64_t most_records);
  Task<void> begin_runs(TaskGroup& runs);
  Task<void> begin_parts(TaskGroup& runs, const std::vector<RunPart>& parts, RunKeeper& keeper);
  Task<void> read_stream(TaskGroup& runs);
  void check_may_store() const;
  Task<void> store_oldest();
  Task<void> form_run(std::size_t slot, std::uint64_t number, std::uint64_t first, std::uint64_t count, bool store);
  Task<void> form_part(std::size_t slot, RunPart part, std::size_t position, RunKeeper& keeper);
  [[nodiscard]] std::uint64_t window_records() const;
  Task<void> read_windows(TaskGroup& windows, Keeping& keeping, std::optional<std::uint64_t> records);
  Task<void> read_and_keep(std::size_t slot, std::uint64_t number, std::uint64_t first, std::uint64_t count, Keeping& keeping);
  Task<void> keep_first(std::size_t slot, std::uint64_t number, Keeping& keeping);
  Task<void> cut_kept(Keeping& keeping);
  Task<void> store_kept(Keeping& keeping);
  Task<void> sort_run(RunBuffer& run);
  Task<void> sort_index(RunBuffer& run);
  [[nodiscard]] std::optional<RecordsInInput> place_in_input(const RunBuffer& run, std::uint64_t first) const;
  Task<void> leave_in_input(std::size_t slot, std::uint64_t number, RecordsInInput place);
  void free_slot(std::size_t slot);
  [[nodiscard]] std::vector<const std::byte*> sample_of(const RunBuffer& run, std::uint64_t size) const;
  Task<void> store_run(std::size_t slot, std::size_t number, Tally* written = nullptr);
  Task<void> write_run(const RunBuffer& run, std::size_t number, Tally* written);
  Task<void> gather_and_write(std::size_t number, RunWriter& writer, const RunBuffer& run, std::uint64_t first_run_block,
                              std::uint64_t run_blocks, Tally* written);
  void gather(RunWriter& writer, const RunBuffer& run, RunBlocks& blocks, Tally* written) const;
  [[nodiscard]] std::size_t take_slot();

  const RecordTools tools_;
  io::Reactor& reactor_;
  Compute& compute_;
  const planner::RecordPlan& plan_;
  const records::Encoder& encoder_;
  ReadAhead& reader_;
  run::RecordRuns& store_;
  Progress& progress_;
  std::optional<PaceMeter> pace_;  // where runs may be compressed

  std::vector<Slot> slots_;
  PopulateAhead populate_ahead_;  // ends before the buffers do
  Semaphore free_slots_, scratch_free_;
  Buffer scratch_;
  std::optional<BlockPool> blocks_;  // to write
  FormedRuns formed_;
  std::uint64_t pieces_ = 0;  // of runs in inputs
  std::vector<std::size_t> resident_slots_;
};

}  // namespace ecosort::engine::fixed
