// EcoSort as a library: sorts what is larger than memory, records of a fixed size, lines of text, rows of CSV or JSON lines.
//
//   ecosort::Request request;
//   request.inputs = {"in.dat"};
//   request.rows = ecosort::Records{.record_size = 16, .keys = {ecosort::at(8).u64()}};
//   request.place.output = "out.dat";
//   const ecosort::Report report = ecosort::sort(request);
//
// Promises: the output exists under its name only when it is complete, verified and on stable storage; the order is stable, and
// the same bytes come out for any memory and any number of threads; means.memory_bytes bounds every buffer; a failure leaves
// nothing behind. The library installs no signal handlers, changes no limits of the process, prints nothing and never ends the
// process.
//
// Thread-safety: any number of sorts may run at a time, each called from a thread of its own; a Request or a Sorter is used by
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
#include "ecosort/request.hpp"

namespace ecosort {

// Says what a sort will do; see `ecosort plan`. Sizes are exact.
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

// Says what a sort did.
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

// Plans what sort() would do. Opens and checks the files, creates nothing. UsageError for what cannot work.
[[nodiscard]] ECOSORT_API Plan plan(const Request& request);

// Sorts, to a file, as a job that outlives crashes, or in place: request.place. Throws UsageError, NotEnoughMemory,
// NotEnoughSpace, IoError, VerificationError, Interrupted (when `stop` is requested): the output then does not exist, or is what
// it was before.
ECOSORT_API Report sort(const Request& request, Observer* observer = nullptr, std::stop_token stop = {});

// Continues with the job of a resumable sort into `file`, or of a sort of `file` in place, that a crash or an error ended; or
// gives it up: a resumable sort leaves nothing behind, in place all records or lines are in `file` again, sorted as far as they
// are. Of `means` memory, threads and I/O count; what is not said is as it was. Throws as sort() does; UsageError where there is
// no job.
ECOSORT_API Report resume(const std::string& file, const Means& means = {}, Observer* observer = nullptr,
                          std::stop_token stop = {});
ECOSORT_API Report abandon(const std::string& file, const Means& means = {}, Observer* observer = nullptr,
                           std::stop_token stop = {});

// Records inside a program, more than fit in memory: push them, then pull them in order.
//
//   ecosort::Sorter sorter({.record_size = 16, .keys = {ecosort::at(0).u64()}, .memory_bytes = 64 << 20, .temp_directory =
//   "/ssd/tmp"}); sorter.push(bytes);                 // whole records, any number of times ecosort::Reader reader =
//   sorter.finish(); while (const auto records = reader.next(); !records.empty()) use(records);
//
// Source of the interface: STXXL's sorter (Dementiev, Kettner, Sanders 2008, section 5).
struct SorterTerms {
  std::uint64_t record_size = 100;
  std::vector<RecordKey> keys;
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
