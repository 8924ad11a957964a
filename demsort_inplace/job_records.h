// The journal of a job has these record types, with these bytes; journal.h keeps them on the drive.
//
// Jobs of fixed records and jobs of lines have the same records. What only lines have is in a part of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/block_codec.h"
#include "demsort_inplace/layout.h"
#include "engine/fixed/tally.h"
#include "engine/rows/read_lines.h"
#include "formats/lines/md5.h"
#include "formats/lines/posix_rules.h"
#include "formats/records/key_spec.h"
#include "formats/row_format.h"

namespace ecosort::demsort_inplace {

// A job of lines, or of other rows, keeps this besides.
struct LineTerms {
  std::string command = "lines";           // which sorts them
  std::string request = {};                // ecosort.request/1
  std::uint64_t mark_bytes = 0;            // at the beginning of the first input, of no row
  std::optional<std::string> first_row{};  // what a format has to know of the inputs
  std::uint64_t block_bytes = 0;           // of runs
  std::uint64_t most_merged = 0;           // runs at a time, at most
  std::uint64_t run_places = 64;           // the journal has room for so many runs, and grows by as many
  std::uint64_t total_bytes = 0;           // in place: of all files but the journal, from the beginning of the job to the end

  // Keeps the command line of a job that a program of format 9 began, without a request.
  struct OldWords {
    std::vector<std::string> words;  // options and inputs, as they were given
    lines::PosixRules rules = {};    // by which they are read
    lines::Digest salt{};            // of -R
  };
  std::optional<OldWords> old = {};

  [[nodiscard]] const char* items() const noexcept { return command == "lines" ? "lines" : "rows"; }
};

// An input of a resumable sort, as it was when the job began. Not its device: that number may change when a machine starts.
struct InputIdentity {
  std::string path;  // absolute
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
  friend bool operator==(const InputIdentity&, const InputIdentity&) = default;
};

// The first record: what the job is. Never changes.
struct JobHeader {
  enum class Kind : std::uint32_t { in_place = 1, resumable_sort = 2, resumable_lines = 3, lines_in_place = 4 };

  std::uint64_t job = 0;              // random; part of every checksum
  records::RecordFormat format = {};  // of lines: none
  Layout layout = {};                 // of lines: only its unit, its interval, and what it says of runs
  std::uint64_t memory_bytes = 0;     // with which it was planned
  std::uint32_t threads = 0;          // as asked for; 0: as many as there are processors
  Kind kind = Kind::in_place;
  std::vector<InputIdentity> inputs = {};  // in their order; none of records in place; of lines in place FILE
  bool reread = false;                     // the output is read back from the device before it counts
  codec::RunCompression compression = {};  // of the runs, where the layout has packed ones
  std::optional<LineTerms> lines = {};     // of the kinds of lines

  // The job has taken FILE: its records or lines are nowhere else.
  [[nodiscard]] bool is_in_place() const noexcept { return kind == Kind::in_place || kind == Kind::lines_in_place; }
};

// Says this of a run of lines besides.
struct LineRunDone {
  std::uint64_t bytes = 0, longest = 0;  // of its lines; of the longest one, with its end
  engine::rows::ReadPlace next = {};     // in the inputs: from there on nothing is in a run yet
  hash::MultisetHash dropped = {};       // of lines equal to others (-u) that are in no run any more
  std::uint64_t first = 0, merged = 0;   // it takes the place of so many runs, from number `first` on; 0: it was formed
  std::uint64_t blank_lines = 0;         // that were dropped before it, and are counted in no run before
  std::vector<formats::KeyCounts> key_counts = {};  // of its lines, and of those dropped
  formats::RepeatedHeader repeated_header = {};     // in the inputs up to `next`
  bool is_header = false;                           // its lines are not sorted: they go first
};

// Run `run` is durable: its piece of the input, or what it was merged from, is not needed any more.
struct RunDone {
  std::uint64_t run = 0;
  engine::fixed::Tally tally;      // of its records
  std::uint64_t packed_bytes = 0;  // that its blocks take where they are packed; 0: they lie as they are
  std::optional<LineRunDone> lines = {};
};

// Says this of the output of lines besides.
struct LineState {
  std::uint64_t bytes = 0;          // of the output, with its header
  std::uint64_t last_row = 0;       // of them, those of the last line, with its end; 0: there is only the header
  std::uint64_t blank_lines = 0;    // that were dropped and are counted in no run
  hash::MultisetHash dropped = {};  // by the merge: lines equal to others (-u)
};

// Says how far the second phase is. The last one that was written holds.
struct State {
  enum class Kind : std::uint32_t {
    merging = 1,     // a checkpoint
    merged = 2,      // the output is complete, of its exact length, and durable
    abandoning = 3,  // a checkpoint; records are put one after the other, unsorted
    abandoned = 4,   // what is given back is complete, of its exact length, and durable
  };
  Kind kind = Kind::merging;
  std::uint64_t records = 0;                 // in the output, durable, so that the runs need not hold them
  hash::MultisetHash hash = {};              // of these records
  std::vector<std::uint64_t> consumed = {};  // of each run: its records among them; of lines: of each run there is, its bytes
  std::vector<std::byte> tail = {};          // the last bytes of these records, where no file holds them safely: less than a unit
  std::optional<LineState> lines = {};
};

// The payload of each, little-endian. Decoding throws IoError for bytes that cannot be such a payload.
[[nodiscard]] std::vector<std::byte> encode(const JobHeader& header);
[[nodiscard]] std::vector<std::byte> encode(const RunDone& done);
[[nodiscard]] std::vector<std::byte> encode(const State& state);
[[nodiscard]] JobHeader decode_header(std::span<const std::byte> bytes);
[[nodiscard]] RunDone decode_run(std::span<const std::byte> bytes);
[[nodiscard]] State decode_state(std::span<const std::byte> bytes);

// Bytes of the longest payload of a state.
[[nodiscard]] std::uint64_t state_bytes(const JobHeader& header) noexcept;

}  // namespace ecosort::demsort_inplace
