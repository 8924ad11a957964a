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
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
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

// Values of a key of CSV or of JSON lines that have no place among the others; and rows of JSON in which a name on the way to the
// value repeats, so that the last one counted.
struct ValueCounts {
  std::uint64_t empty = 0, unparsable = 0, repeated = 0;
};

// Says what a sort did.
struct Report {
  std::uint64_t records = 0;       // or lines or rows that were read, without those that stay on top
  std::uint64_t dropped = 0;       // by `unique` and `groups`: rows that went in and did not go out
  std::uint64_t counted = 0;       // in the counts that were written
  std::uint64_t beyond_limit = 0;  // by `limit`: others that did not go out
  std::uint64_t blank_lines = 0;   // CSV and JSON lines: left out, and none of the records
  std::uint64_t comments = 0;      // likewise, of CSV
  std::uint64_t bad_rows = 0;      // of the records, left out because they cannot be read: Values::bad_rows
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::uint64_t runs = 0;  // stored on drives
  std::uint64_t bytes_read = 0, bytes_written = 0, peak_temp_bytes = 0, peak_memory_bytes = 0;
  std::string hash;                  // hexadecimal, of the multiset of the input's records
  std::vector<ValueCounts> keys;     // CSV and JSON lines: one for each key
  std::vector<std::string> notices;  // what the user should know although all went well
};

// Says how the rows of a file relate to an order.
struct OrderReport {
  std::uint64_t records = 0;    // or lines or rows, without those on top and blank ones
  std::uint64_t equal = 0;      // have the keys of the one before
  std::uint64_t unordered = 0;  // come before the one in front of them
  // The number, from 1 on, of the first record that is out of order, or of the line with which such a line or row begins; 0: all
  // are in order.
  std::uint64_t first_out_of_order = 0;
  std::string hash;  // as Report::hash of a sort of them

  [[nodiscard]] bool is_in_order() const noexcept { return first_out_of_order == 0; }
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

// Reads the one input of the request, and says whether it is in the request's order; with `unique` rows with equal keys are not.
// An output and what goes with it mean nothing. UsageError, IoError.
[[nodiscard]] ECOSORT_API OrderReport check(const Request& request);

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

// One record, line or row of what was sorted. A view: valid until the next one is asked for.
class ECOSORT_API Row {
 public:
  Row() = default;
  Row(std::span<const std::byte> bytes, std::size_t end_bytes) noexcept : bytes_(bytes), end_bytes_(end_bytes) {}

  // All of it; a line or a row with its end.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // The line or row without its end (CR LF are the end of a row of CSV and of JSON lines); of a record all bytes.
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size() - end_bytes_};
  }
  // The number or structure that a record has from the byte `offset` on, as the machine stores it. UsageError where the record
  // is shorter.
  template <class T>
    requires std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>
  [[nodiscard]] T as(std::size_t offset = 0) const {
    T value;
    std::memcpy(&value, at(offset, sizeof value), sizeof value);
    return value;
  }

 private:
  [[nodiscard]] const std::byte* at(std::size_t offset, std::size_t size) const;

  std::span<const std::byte> bytes_;
  std::size_t end_bytes_ = 0;
};

// The sorted rows, once from the front: a range of Row, or batches by next(). Move-only. One thread at a time.
//
// Both throw what ended the sort: the end is only reached when all rows were given out and the sort was verified.
class ECOSORT_API Reader {
 public:
  class Iterator;

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();  // gives up what was not read

  // The next rows, whole ones of about 1 MiB in all, valid until the next call; empty at the end.
  [[nodiscard]] std::span<const std::byte> next();

  // for (const ecosort::Row row : reader) use(row);
  [[nodiscard]] Iterator begin();
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }

  // After the end; before it UsageError.
  [[nodiscard]] const Report& report() const;

 private:
  friend class Sorter;
  struct Impl;
  Reader() noexcept;
  explicit Reader(std::unique_ptr<Impl> impl);
  [[nodiscard]] bool take(Row& row);
  std::unique_ptr<Impl> impl_;
};

// An input iterator. It belongs to its Reader, which stays where it is meanwhile.
class Reader::Iterator {
 public:
  using value_type = Row;
  using difference_type = std::ptrdiff_t;

  Iterator() = default;
  explicit Iterator(Reader& reader) : reader_(&reader) { ++*this; }
  [[nodiscard]] const Row& operator*() const noexcept { return row_; }
  [[nodiscard]] const Row* operator->() const noexcept { return &row_; }
  Iterator& operator++() {
    if (!reader_->take(row_)) reader_ = nullptr;
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& at, std::default_sentinel_t /*end*/) noexcept { return at.reader_ == nullptr; }

 private:
  Reader* reader_ = nullptr;
  Row row_;
};

inline Reader::Iterator Reader::begin() { return Iterator(*this); }

// A structure or number that is a record as it lies in memory; no pointer, and nothing that stands for other bytes.
template <class T>
concept RecordValue =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_array_v<T> &&
    !std::is_convertible_v<const T&, std::span<const std::byte>> && !std::is_convertible_v<const T&, std::string_view>;

// Records, lines or rows inside a program, more than fit in memory: push them, then pull them in order.
//
//   ecosort::Sorter sorter({.rows = ecosort::Records{.record_size = 8, .keys = {ecosort::at(0).u64()}}});
//   for (const std::uint64_t number : numbers) sorter.push(number);
//   for (const ecosort::Row record : sorter) use(record.as<std::uint64_t>());
//
//   ecosort::Sorter sorter({.rows = ecosort::Csv{{.keys = {ecosort::by("price").number()}}}});
//   sorter.push("name,price"); sorter.push("ink,10"); sorter.push("pen,2.50");
//   for (const ecosort::Row row : sorter) std::cout << row.text() << '\n';
//
// The request says what the rows are, their order, and the means; its inputs and its output are this program. A header of CSV is
// the first row that is pushed, and comes out first. Besides means.memory_bytes it takes two blocks of 1 MiB, through which rows
// come and go, or two of the longest row. Runs go to means.temp_directories; none: $TMPDIR, else /tmp.
//
// Move-only. One thread at a time. The sort works in a thread of its own while rows are pushed. All functions throw what ended
// the sort, which leaves nothing behind.
//
// Source of the interface: STXXL's sorter (Dementiev, Kettner, Sanders 2008, section 5).
class ECOSORT_API Sorter {
 public:
  // UsageError for a request that cannot be, or that names an input, an output or a job.
  explicit Sorter(const Request& request);
  Sorter(Sorter&&) noexcept;
  Sorter& operator=(Sorter&&) noexcept;
  Sorter(const Sorter&) = delete;
  Sorter& operator=(const Sorter&) = delete;
  ~Sorter();  // without the end of the rows: gives up

  // Any number of bytes, as a file would have them; what they make in all must be whole records by finish().
  void push(std::span<const std::byte> bytes);
  // A line, a row of CSV or a JSON value in one line, with or without its end. UsageError where rows are records.
  void push(std::string_view row);
  // A record. UsageError where it has another size than the records of the request.
  template <RecordValue T>
  void push(const T& record) {
    push_record(std::as_bytes(std::span(&record, 1)));
  }

  // No more rows come: gives them in order. Once.
  [[nodiscard]] Reader finish();

  // Gives the rows as a range; begin() finishes, once.
  [[nodiscard]] Reader::Iterator begin();
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }
  // After the end of that range; before it UsageError.
  [[nodiscard]] const Report& report() const { return sorted_.report(); }

 private:
  void push_record(std::span<const std::byte> record);
  [[nodiscard]] Reader::Impl& open() const;

  std::unique_ptr<Reader::Impl> impl_;
  Reader sorted_;
};

// The version of the library, e.g. "0.2.0".
[[nodiscard]] ECOSORT_API const char* version() noexcept;

}  // namespace ecosort
