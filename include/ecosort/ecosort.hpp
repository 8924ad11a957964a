// EcoSort as a library: sorts what is larger than memory, records of a fixed size, lines of text, rows of CSV or JSON lines.
//
//   ecosort::SortSpec spec;
//   spec.inputs = {"in.dat"};
//   spec.output = "out.dat";
//   spec.memory_bytes = 256 << 20;
//   const ecosort::Report report = ecosort::sort(spec);
//
// Promises: the output exists under its name only when it is complete, verified and on stable storage; the order is stable, and
// the same bytes come out for any memory and any number of threads; memory_bytes bounds every buffer; a failure leaves nothing
// behind. The library installs no signal handlers, changes no limits of the process, prints nothing and never ends the process.
//
// Thread-safety: any number of sorts may run at a time, each called from a thread of its own; a SortSpec or a Sorter is used by
// one thread at a time. A sort starts `threads` compute threads, with all signals blocked, and ends them before it returns.
// Errors: errors.hpp. Should the system's I/O queue itself break (an io_uring that the kernel refuses to enter), that sort throws
// IoError, and its buffers stay allocated until the process ends, because the system may still write to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "ecosort/errors.hpp"

namespace ecosort {

enum class Format : std::uint8_t { records, lines, csv, jsonl };  // as ecosort_format has them

// How text lines are ordered: the keys of GNU sort in the C locale. Without keys the whole line is the key.
struct LineTerms {
  std::vector<std::string> keys;        // as `sort -k` takes them, e.g. "2,2n"
  std::string ordering;                 // letters for keys that have none of their own, and for the whole line: bdfghiMnRrV
  std::optional<char> field_separator;  // of the fields; none: from non-blank to blank
  char terminator = '\n';               // or '\0'
  bool stable = false;                  // lines with equal keys stay in input order, instead of being compared as a whole
  std::uint64_t header_lines = 0;       // of each input; all are alike, and one stays in front
};

// How rows of CSV and JSON lines are ordered. Rows go out byte for byte as they came in; rows with equal keys stay in input
// order. Values that are empty (of JSON: missing, or null), or cannot be read as what the key says, stand together behind the
// others, or in front of them.
struct TableTerms {
  // "NAME[:TYPE][:desc]", the first decides first. Types: text, nocase, number, integer, date, version, length. CSV: a column by
  // its name in the header, or by its number from 1 on where there is no header. JSON lines: a path, such as user.tags[0], where
  // double quotes stand around names that have other signs in them.
  std::vector<std::string> keys;
  bool nulls_first = false;
  bool strict = false;         // a value that cannot be read as what its key says is an error
  bool allow_missing = false;  // of JSON lines: a path that leads nowhere in all of them is none
  std::string date_format;     // like that of strptime; empty: ISO 8601
  bool merge = false;          // every input is in order already
};

// Joules of a sort = idle_w * seconds + core_w * CPU seconds + gb_j * 10^9 bytes moved.
struct EnergyTerms {
  double idle_w = 0, core_w = 0, gb_j = 0;
};

// Of lines and rows: what is compressed on the way in and out (gzip, zstd, lz4, xz, bzip2). Damaged or truncated input is an
// IoError that tells the place in the compressed file. Of records, too: temporary runs.
struct CompressionTerms {
  bool decompress = false;      // inputs that are compressed, by their beginning or their name
  std::string output = "none";  // or a name of the above; "auto": by the ending of the output's name (.gz .zst .lz4 .xz .bz2)
  std::optional<int> level;     // of the output; none: the usual one
  // Of temporary runs: "none", "lz4", "zstd", "zstd:LEVEL"; "auto": for each run what the drives and its first rows show to pay;
  // empty: "auto" for lines and rows, "none" for records.
  std::string runs;
  std::uint64_t assumed_ratio = 0;    // thousandths by which runs will shrink: so much less space is reserved; 0: all of it
  std::optional<EnergyTerms> energy;  // "auto" takes what needs the fewest joules; none: the least time
};

// How rows of CSV (RFC 4180) are read.
struct CsvTerms {
  std::optional<char> delimiter;    // none: a tab where all files are named .tsv, else a comma
  std::optional<char> quote = '"';  // none: quotes mean nothing
  bool header = true;               // the first row of every input; all must be alike, and it goes out once
};

// What is to be sorted, and with which means. The defaults are right for this machine.
struct SortSpec {
  Format format = Format::records;
  std::vector<std::string> inputs;  // files; "-" alone: standard input
  std::string output;               // replaced when the result is complete; "-": standard output

  // Records.
  std::uint64_t record_size = 100;  // bytes, 1 to 1 MiB
  std::vector<std::string> keys;    // "OFFSET:LENGTH[:TYPE][:desc]" or "OFFSET:TYPE[:desc]", the first decides first; none: 0:10
  bool reverse = false;             // the direction of every key
  // Lines.
  LineTerms lines;
  // CSV and JSON lines.
  TableTerms table;
  // CSV.
  CsvTerms csv;

  CompressionTerms compression;  // of records: runs alone

  bool unique = false;  // of records, lines or rows with equal keys only the first one stays

  std::uint64_t memory_bytes = 0;             // bound of all buffers; 0: what this process may take
  unsigned threads = 0;                       // that compute; 0: as many as this process has processors
  std::vector<std::string> temp_directories;  // for runs, striped by free space; none: that of the output
  std::string io = "auto";                    // "auto", "uring", "pool", "stxxl"
  bool reread = false;                        // read the output back from the device before it gets its name
};

// What a sort will do; see `ecosort plan`. Sizes are exact.
struct Plan {
  std::string shape;          // "one pass", "two passes", ...
  std::uint64_t records = 0;  // or 0 for lines and rows, whose number is not known
  std::uint64_t runs = 0;     // stored on drives
  unsigned merge_passes = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0, temp_bytes = 0, memory_bytes = 0;
  std::string json;  // all of it: schema "ecosort.plan/1"
};

// Values of a key of CSV or of JSON lines that have no place among the others.
struct ValueCounts {
  std::uint64_t empty = 0, unparsable = 0;
};

// What a sort did.
struct Report {
  std::uint64_t records = 0;      // or lines or rows that were read
  std::uint64_t dropped = 0;      // by `unique`
  std::uint64_t blank_lines = 0;  // JSON lines: left out, and none of the records
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::uint64_t runs = 0;  // stored on drives
  std::uint64_t bytes_read = 0, bytes_written = 0, peak_temp_bytes = 0, peak_memory_bytes = 0;
  std::string hash;                  // hexadecimal, of the multiset of the input's records
  std::vector<ValueCounts> keys;     // CSV and JSON lines: one for each key
  std::vector<std::string> notices;  // what the user should know although all went well
};

// Looks on while a sort works. All calls come from the thread that called sort(); what they throw ends the sort.
class ECOSORT_API Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer();

  // A phase begins: "run formation", "merge", "sync", ... `total_bytes`: what is to be moved in it; 0: not known.
  virtual void begin_phase(std::string_view name, std::uint64_t total_bytes);
  // At most ten times a second: so many bytes of the phase have been moved.
  virtual void progress(std::uint64_t bytes);
};

// What sort() would do. Opens and checks the files, creates nothing. UsageError for what cannot work.
[[nodiscard]] ECOSORT_API Plan plan(const SortSpec& spec);

// Sorts. Throws UsageError, NotEnoughMemory, NotEnoughSpace, IoError, VerificationError, Interrupted (when `stop` is requested):
// the output then does not exist, or is what it was before.
ECOSORT_API Report sort(const SortSpec& spec, Observer* observer = nullptr, std::stop_token stop = {});

// Records inside a program, more than fit in memory: push them, then pull them in order.
//
//   ecosort::Sorter sorter({.record_size = 16, .keys = {"0:u64"}, .memory_bytes = 64 << 20, .temp_directory = "/ssd/tmp"});
//   sorter.push(bytes);                 // whole records, any number of times
//   ecosort::Reader reader = sorter.finish();
//   while (const auto records = reader.next(); !records.empty()) use(records);
//
// Source of the interface: STXXL's sorter (Dementiev, Kettner, Sanders 2008, section 5).
struct SorterTerms {
  std::uint64_t record_size = 100;
  std::vector<std::string> keys;
  bool reverse = false, unique = false;
  std::uint64_t memory_bytes = 0;  // besides the two blocks of 1 MiB through which records come and go
  unsigned threads = 0;
  std::string temp_directory;  // for runs; empty: $TMPDIR, else /tmp
  std::string io = "auto";
};

// The sorted records. Move-only. One thread at a time.
class ECOSORT_API Reader {
 public:
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();  // gives up what was not read

  // The next records, whole ones, valid until the next call; empty at the end. Throws what ended the sort: the end is only
  // reached when all records were given out and the sort was verified.
  [[nodiscard]] std::span<const std::byte> next();

  // After the end.
  [[nodiscard]] const Report& report() const;

 private:
  friend class Sorter;
  struct Impl;
  explicit Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Move-only. One thread at a time. The sort works in a thread of its own while records are pushed.
class ECOSORT_API Sorter {
 public:
  explicit Sorter(const SorterTerms& terms);  // UsageError for terms that cannot be
  Sorter(Sorter&&) noexcept;
  Sorter& operator=(Sorter&&) noexcept;
  Sorter(const Sorter&) = delete;
  Sorter& operator=(const Sorter&) = delete;
  ~Sorter();  // without finish(): gives up

  // Any number of bytes; what they make in all must be whole records by finish(). Throws what ended the sort.
  void push(std::span<const std::byte> bytes);

  // No more records come. Once.
  [[nodiscard]] Reader finish();

 private:
  std::unique_ptr<Reader::Impl> impl_;
};

// The version of the library, e.g. "0.2.0".
[[nodiscard]] ECOSORT_API const char* version() noexcept;

}  // namespace ecosort
