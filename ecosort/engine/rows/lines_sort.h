// The external sort of rows of any length, and the merge of sorted files of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/bench.h"
#include "engine/claim.h"
#include "engine/group_policy.h"
#include "engine/rows/first_look.h"
#include "engine/rows/packed_sink.h"
#include "engine/rows/read_lines.h"
#include "engine/rows/set_aside.h"
#include "engine/rows/split_sink.h"
#include "engine/work_report.h"
#include "formats/row_format.h"
#include "planner/line_plan.h"
#include "planner/packing_plan.h"

namespace ecosort::engine::rows {

// Says what is decompressed and compressed on the way, with memory besides the plan's.
struct Codecs {
  std::uint64_t memory_bytes = 0;  // of all, of which these are parts
  std::size_t chunk_bytes = 0;     // of compressed inputs, read at a time
  std::uint64_t input_bytes = 0;   // memory for decompression; 0: no input is decompressed
  std::uint64_t output_bytes = 0;  // memory for compression
  std::optional<Packing> packing;  // of the output
  planner::PackingPlan runs;       // of temporary runs
  [[nodiscard]] std::uint64_t bytes() const noexcept { return input_bytes + output_bytes + runs.bytes(); }
};

// Runs of jobs hold this together.
struct RunContents {
  std::string top;               // what stays on top
  hash::MultisetHash hash = {};  // by their descriptions: of all rows, with those on top
};

// Everything is checked and opened; nothing is created yet.
struct LinesJob {
  planner::LinePlan plan;
  std::unique_ptr<formats::RowFormat> format;
  std::vector<LineInput> inputs;
  std::string output;                    // "-": standard output
  std::vector<std::string> directories;  // for runs
  std::string compress_program;          // through which they go; empty: none
  std::uint64_t header_bytes = 0;        // most that what stays on top may have, besides the plan's memory
  GroupPolicy groups;
  std::optional<std::uint64_t> limit;  // only so many rows go out, those that are first in order; with groups, of different ones
  std::uint64_t skip = 0;              // rows that are first in order do not go out
  bool leaves_in_inputs = true;        // rows that come in order are not stored, where they can be read again
  bool merge = false;                  // the inputs are sorted
  bool checks_order = false;           // of these inputs
  std::optional<RunContents> kept;     // the inputs are runs of jobs
  std::vector<RowsRest> rest;          // of the inputs of these jobs, which goes out behind the runs as it is
  std::uint64_t reserved_bytes = 0;    // of the output, before it is written; 0: none
  SetAsideTerms set_aside;             // where rows go that cannot be sorted, if the format leaves them out
  std::optional<SplitJob> split;       // the output is several files; `output` is their pattern
  bool reread = false;                 // also read the output back from the device
  ClaimText claim = {};
  FirstLook look;  // at each input
  // Divides the memory anew, by what streams begin with; empty: no stream may be compressed. Keeps the depths of requests.
  std::function<void(LinesJob&)> plan_again;
  Codecs codecs;

  // Returns what of the memory is neither the plan's nor that of codecs.
  [[nodiscard]] std::uint64_t besides_bytes() const noexcept {
    return header_bytes + set_aside.memory_bytes + (split ? split->memory_bytes : 0);
  }
};

struct LinesReport : WorkReport {
  bool is_merge = false;         // of sorted inputs
  unsigned merge_parts = 0;      // of the last merge, at the same time; 0: there was none
  std::size_t longest_line = 0;  // bytes, with its end; of what went through a merge
  std::uint64_t top_lines = 0;   // of the records, on top
  // Count what of the records was left out, besides those dropped: lines that hold nothing, comments, rows that cannot be
  // sorted.
  std::uint64_t blank_lines = 0, comments = 0, bad_rows = 0;
  std::vector<std::string> named_bad_rows;  // the first ones, and what is wrong with them
  std::string set_aside;                    // the file that has all of them; empty: there is none
  std::uint64_t set_aside_bytes = 0;
  std::uint64_t files = 0;  // of an output that is split
  std::vector<formats::KeyCounts> key_counts;
  std::uint64_t skipped = 0;       // of the records, first in order
  std::uint64_t packed_bytes = 0;  // of the output, where it is compressed; output_bytes are those of its lines
};

// Throws VerificationError, IoError, UsageError (a line that does not fit the memory), Interrupted, io::QueueBroken: as
// fixed::sort does.
[[nodiscard]] LinesReport sort_lines(LinesJob& job, const Environment& environment);

}  // namespace ecosort::engine::rows
