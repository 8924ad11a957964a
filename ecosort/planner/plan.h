// The plan: everything the executors will do, computed beforehand from what is wanted and what the machine has.
//
// Pure integer arithmetic on values; the same functions serve `ecosort plan` and the sort itself, so what is printed is what
// happens. Executors take `const` plans and decide nothing. Formulas: ecosort/DESIGN.md, "Memory and space".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/records/key_spec.h"
#include "planner/packing_plan.h"

namespace ecosort::planner {

// Says how the drives are asked. Fewer and smaller requests leave a fast drive idle, more and larger ones delay each other.
struct Requests {
  std::uint64_t bytes = std::uint64_t{1} << 20;          // of a read, and of a write to a run, at most; a multiple of 4096
  std::uint64_t output_bytes = std::uint64_t{16} << 20;  // of a write to the output: a whole block unless asked otherwise
  unsigned depth = 16;                                   // reads in flight at most, and as many writes
};
inline constexpr std::uint64_t least_request_bytes = std::uint64_t{16} << 10, most_request_bytes = std::uint64_t{64} << 20;
inline constexpr unsigned most_depth = 256;

// Says what is wanted. `input_records` of a stream (standard input that is a pipe) is unknown.
struct Wanted {
  records::RecordFormat format;
  std::uint64_t input_records = 0;
  bool size_unknown = false;
  bool several_inputs = false;  // files after the first need bounce blocks where direct reads land unaligned
  std::uint64_t memory_bytes = 0;
  unsigned threads = 1;
  unsigned merge_threads = 0;            // of the merge, if not the same
  std::uint64_t run_records = 0;         // most records of a stored run; 0: as many as the memory holds
  std::uint64_t input_alignment = 4096;  // of the least capable input; 1: buffered
  Requests requests = {};
  bool checksum = false;                   // of the input as valsort computes it; records of 100 bytes only
  codec::RunCompression compression = {};  // of temporary runs
  std::uint64_t assumed_ratio = 0;         // thousandths by which they will shrink at least; 0: no one knows
  std::optional<PowerModel> power = {};    // by which their codec is chosen; nothing: by time
  std::uint32_t count_bytes = 0;           // in front of each record of the output, of which there may be as many as come in

  [[nodiscard]] std::uint32_t output_record_size() const noexcept { return format.record_size + count_bytes; }
  [[nodiscard]] unsigned threads_of_merge() const noexcept { return merge_threads != 0 ? merge_threads : threads; }
};

// Each run block ends with these bytes (run/run_block.h).
inline constexpr std::uint32_t run_block_trailer_bytes = 16;

// Shape of run files. A run block is the unit of checksums: whole records, zero padding, a trailer.
struct RunBlock {
  std::uint32_t bytes = 0;    // multiple of 4096
  std::uint32_t records = 0;  // whole records in it

  // One of so many bytes, with as many records as fit.
  [[nodiscard]] static RunBlock of(std::uint64_t bytes, std::uint32_t record_size) noexcept {
    return {static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>((bytes - run_block_trailer_bytes) / record_size)};
  }
  // The least that holds a record, in whole units.
  [[nodiscard]] static std::uint64_t least_bytes(std::uint32_t record_size, std::uint64_t unit) noexcept {
    return (std::uint64_t{record_size} + run_block_trailer_bytes + unit - 1) / unit * unit;
  }
};

// Run formation (EcoSort section 4): `run_buffers` buffers rotate through read | sort | gather and write.
struct Formation {
  std::uint64_t run_records = 0;  // records of a full run; the first two of a multi-run sort are 1/3 and 2/3 of it
  unsigned run_buffers = 0;
  std::uint64_t run_buffer_bytes = 0;   // records, one alignment unit of headroom, one of slack
  std::uint64_t index_bytes = 0;        // 16 bytes per record, per run buffer
  std::uint64_t scratch_bytes = 0;      // radix sort's second array, once
  std::uint64_t read_block_bytes = 0;   // of one request
  std::uint64_t write_block_bytes = 0;  // multiple of the run block
  unsigned write_blocks = 0;
  unsigned bounce_blocks = 0;         // of read_block_bytes each
  bool hold_runs_until_full = false;  // stream: store the first run only when all run buffers are full

  [[nodiscard]] std::uint64_t records_of_run(std::uint64_t run, std::uint64_t records_left) const noexcept;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

// One k-way merge (of a group of adjacent runs into one run, or of all that is left into the output).
struct MergeStep {
  std::uint32_t first_run = 0;  // position in the list of runs at the time of the step
  std::uint32_t fan_in = 0;     // stored and resident runs
};

// Buffers that every step of the merge uses.
struct MergeBuffers {
  std::uint64_t block_bytes = 0;  // read unit; multiple of the run block and of the forecast stride
  unsigned blocks = 0;
  std::uint64_t output_block_bytes = 0;  // of a batch; written in several requests
  unsigned output_blocks = 0;
  std::uint64_t index_bytes = 0;  // of each output block, where only resident runs are merged: they need no read blocks
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return block_bytes * blocks + (output_block_bytes + index_bytes) * output_blocks;
  }
};

struct Merge {
  std::uint32_t stored_runs = 0;
  std::uint32_t resident_runs = 0;  // the last runs never leave memory
  std::vector<MergeStep> steps;     // the last one writes the output
  unsigned passes = 0;              // times a stored record is read back
  MergeBuffers intermediate;        // for all steps but the last
  MergeBuffers final;
  std::uint64_t waiting_bytes = 0;  // consumed run space that may wait to be given back, of all runs together
  std::uint64_t reserve_bytes = 0;  // output space is reserved in units of this

  // Counts the runs of the step that writes the output; without intermediate steps these are all of them.
  [[nodiscard]] std::uint64_t stored_runs_of_last_step() const noexcept { return steps.back().fan_in - resident_runs; }
};

enum class Shape : std::uint8_t { empty, one_pass, two_pass, multi_pass, unknown, gathered };
[[nodiscard]] const char* to_string(Shape shape) noexcept;

// Large records are not moved twice: their keys are sorted, and each record is read once, when its turn comes (gather_plan.h).
struct Gathering {
  std::uint64_t begin = 0, end = 0;  // of each record the bytes with its key, which are read first
  std::uint64_t key_bytes = 0;       // kept of each record, encoded
  unsigned reads = 0;                // in flight, each with a block of its own
  std::uint64_t read_block_bytes = 0;
  std::uint64_t index_bytes = 0;  // keys, checksums, entries and scratch of all records
};

struct RecordPlan {
  Wanted wanted;
  Shape shape = Shape::empty;
  RunBlock run_block;
  Formation formation;
  Merge merge;                             // empty while the size is unknown
  Gathering gathering;                     // of Shape::gathered, which has no runs
  std::uint32_t forecast_stride = 1;       // run blocks per forecast entry
  std::uint32_t most_forecast_stride = 1;  // of a stream, whose stride grows: with more, not even two runs could be merged
  std::uint64_t forecast_bytes = 0;        // memory for the forecast tables
  std::uint64_t forecast_window = 0;       // entries of each run in memory, the rest is read again; 0: all
  PackingPlan packing;                     // of stored runs
  // Returns what the plan counts that is no buffer.
  [[nodiscard]] std::uint64_t table_bytes() const noexcept {
    return forecast_bytes + (packing.coders == 0 ? 0 : packing.index_bytes);
  }
  unsigned read_depth = 0, write_depth = 0;
  bool is_small = false;            // one thread sorts it sooner than others, or an io_uring, are there
  std::vector<std::uint64_t> runs;  // records of each, in the order of the input; none while the size is unknown
  // These bytes will move; resident records move once in and once out. Of runs that are compressed, these are upper bounds.
  std::uint64_t stored_records = 0;
  std::uint64_t run_bytes = 0;       // of all run files after run formation
  std::uint64_t temp_bytes = 0;      // reserved for all run files at their peak: intermediate steps need more
  std::uint64_t remerged_bytes = 0;  // of run files that intermediate steps write, and the next step reads, once more
  std::uint64_t bytes_read = 0, bytes_written = 0;
  std::uint64_t peak_memory_bytes = 0;

  // (purpose, bytes) of each phase, for people.
  using Ledger = std::vector<std::pair<std::string, std::uint64_t>>;
  [[nodiscard]] Ledger formation_ledger() const;
  [[nodiscard]] Ledger merge_ledger() const;
};

// UsageError for more bytes than a sum of a plan's numbers can hold.
void check_countable(const Wanted& wanted);

// Throws UsageError with the smallest memory that works when `memory_bytes` does not.
[[nodiscard]] RecordPlan make_plan(const Wanted& wanted);

// A file to read: where its records begin and how many it has.
struct InputExtent {
  std::uint64_t start_bytes = 0, records = 0, alignment = 1;
};

// Adds to the bytes moved what whole alignment units take more: where two runs share a unit of an input it is read twice, and
// the last unit of the output is written whole. For a plan whose size is known.
void account_edges(RecordPlan& plan, const std::vector<InputExtent>& inputs, std::uint64_t output_unit);

// A stream has ended: `runs` lists the records of each run in input order, of which the last `runs_in_memory` are not stored.
// Plans the merge, and how many of these had better be stored nevertheless. UsageError if the memory cannot merge so many.
void complete_plan(RecordPlan& plan, const std::vector<std::uint64_t>& runs, std::uint32_t runs_in_memory);

// Runs that somebody else lays out: all of `run_records` (the last one perhaps fewer), all stored in run blocks of this kind.
struct EqualRuns {
  RunBlock run_block;
  std::uint64_t run_records = 0;
  std::uint64_t most_batch_bytes = 0;   // of an output block
  std::uint64_t most_kept_entries = 0;  // a run keeps so many entries of its forecast, so that they can be read again
};
// A plan that merges them in one step. Nothing if the memory does not allow it.
[[nodiscard]] std::optional<RecordPlan> plan_equal_runs(const Wanted& wanted, const EqualRuns& equal);

// The least `--memory` with which this input can be sorted. UsageError where no memory is enough.
[[nodiscard]] std::uint64_t minimum_memory_bytes(Wanted wanted);

inline constexpr std::uint64_t entry_bytes = 16;  // sorting::Entry
inline constexpr std::uint64_t forecast_entry_bytes = 16;
// A run costs up to 1 KiB that is not counted in `memory_bytes` (its files and its place in the tables), and a descriptor per
// temporary directory. So many fit the fixed overhead; an input that would need more is refused: more memory makes longer runs.
inline constexpr std::uint64_t most_runs = 16'384;
inline constexpr std::uint64_t least_run_records = 3;
inline constexpr std::uint64_t least_memory_bytes = std::uint64_t{2} << 20;

}  // namespace ecosort::planner
