// Push and pull (include/ecosort/ecosort.hpp): the external sort of a stream, in a thread of its own.
//
//   push() -> socket -> | form runs ... merge | -> socket -> next()        the sockets hold some 100 KiB
//
// The sort sees two streams, as `ecosort sort - -o -` does, so that whatever holds for a pipe holds here: memory, verification,
// runs kept in memory where all fits. What ends it is kept and thrown by the next call.
//
// Rows that are pushed one by one gather in a buffer, because each send is a call of the system. Of what comes back, the buffer
// holds whole rows and the beginning of the next one; the format of the request knows where a row ends.
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "base/blocked_signals.h"
#include "base/descriptor.h"
#include "base/errors.h"
#include "ecosort/ecosort.hpp"
#include "engine/fixed/group_records.h"
#include "formats/lines/line_order.h"
#include "job/prepare_rows.h"
#include "job/row_formats.h"
#include "job/set_aside.h"
#include "job/shuffle_request.h"
#include "library/prepare.h"
#include "library/run.h"

namespace ecosort {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20U;
constexpr std::size_t gathered_bytes = std::size_t{64} << 10U;  // of rows that are pushed one by one

struct Ends {
  Descriptor ours, theirs;
};

// Not pipes: a write to a socket whose other end is gone need not raise SIGPIPE.
Ends connect() {
  int fds[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) throw IoError::from_call("connect", "(sorter)", errno);
  for (const int fd : fds) (void)::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &block_bytes, sizeof(int));
  return {Descriptor(fds[0]), Descriptor(fds[1])};
}

// Makes a request from stream to stream of this one.
Request piped(Request request) {
  refuse_if(!request.inputs.empty() || !request.place.output.empty(),
            "a sorter takes rows by push() and gives them by its reader: name no inputs and no output");
  refuse_if(request.place.kind != PlaceKind::file, "a sorter has no file beside which a job could be kept: leave the place out");
  refuse_if(request.input_order != InputOrder::any, "pushed rows are in any order: leave the order of the inputs out");
  refuse_if(request.compression.decompress || request.compression.output != "none",
            "rows go in and come out of a sorter as they are: leave decompression and the output's compression out");
  if (const Csv* const csv = std::get_if<Csv>(&request.rows))
    refuse_if(!csv->comment.empty() || csv->skip_lines > 0, "a sorter takes rows alone: leave comments and other lines out");
  if (const Lines* const lines = std::get_if<Lines>(&request.rows))
    refuse_if(
        !lines->record_start.empty(),
        "where a record ends shows in the next one alone: leave the text that records begin with out, and push records that "
        "end with NUL");
  refuse_if(!request.place.split.empty(), "a sorter writes no files: leave the split out");
  refuse_if(!job::set_aside_path(request).empty(), "a sorter writes no files: bad_rows are \"refuse\" or \"skip\"");
  refuse_if(request.shuffle && request.format() == Format::records, "a sorter shuffles lines and rows; shuffle records as files");
  refuse_if(request.verification.reread, "a sorter writes no output that could be read again: leave that out");
  request.inputs.emplace_back(1, '-');
  request.place.output.assign(1, '-');  // gcc 12 warns of an assignment
  if (request.means.temp_directories.empty()) {
    const char* const named = std::getenv("TMPDIR");
    request.means.temp_directories.emplace_back(named != nullptr && *named != '\0' ? named : "/tmp");
  }
  library::check_complete(request);
  job::choose_seed(request);
  return request;
}

// Finds where the rows of a request end, in bytes that hold whole rows but for the last one.
class Framing {
 public:
  explicit Framing(const Request& request) {
    if (const Records* const records = std::get_if<Records>(&request.rows))
      record_size_ = records->record_size == 0 ? benchmark_record_size : records->record_size;
    else
      format_ = job::row_format_of(request);
    size_out_ = record_size_ + (request.groups.count ? engine::fixed::count_bytes : 0);
  }

  [[nodiscard]] bool is_of_records() const noexcept { return format_ == nullptr; }
  [[nodiscard]] std::size_t record_size() const noexcept { return record_size_; }
  [[nodiscard]] std::size_t size_out() const noexcept { return size_out_; }  // with the count of a record
  [[nodiscard]] std::byte row_end() const { return static_cast<std::byte>(format_->terminator()); }

  // Bytes of the whole rows that they begin with.
  [[nodiscard]] std::size_t whole_bytes(std::span<const std::byte> bytes) const {
    if (is_of_records()) return bytes.size() / size_out_ * size_out_;
    std::size_t whole = 0;
    while (const std::size_t row = next_bytes(bytes, whole)) whole += row;
    return whole;
  }
  // Returns whether they are whole rows. Rows of one line are, with their end.
  [[nodiscard]] bool is_whole(std::span<const std::byte> rows) const {
    return is_of_records() || !format_->begins_anew() || whole_bytes(rows) == rows.size();
  }
  // The first row of whole ones.
  [[nodiscard]] Row first(std::span<const std::byte> rows) const {
    if (is_of_records()) return {rows.first(size_out_), 0};
    const auto row = rows.first(next_bytes(rows, 0));
    const bool is_two = lines::as_line_order(*format_) == nullptr && row.size() > 1 && row[row.size() - 2] == std::byte{'\r'};
    return {row, is_two ? 2U : 1U};
  }

 private:
  static constexpr std::size_t benchmark_record_size = 100;

  // Measures the row that begins at `at`, with its end; 0: that is not there.
  [[nodiscard]] std::size_t next_bytes(std::span<const std::byte> bytes, std::size_t at) const {
    const char* const begin = reinterpret_cast<const char*>(bytes.data());
    formats::Inside inside;
    const char* const end = format_->find_end(begin + at, begin + bytes.size(), inside);
    return end == nullptr ? 0 : static_cast<std::size_t>(end - begin) + 1 - at;
  }

  std::size_t record_size_ = 0, size_out_ = 0;
  std::unique_ptr<formats::RowFormat> format_;  // null: records
};

}  // namespace

struct Reader::Impl {
  explicit Impl(const Request& asked) : Impl(piped(asked), connect(), connect()) {}
  Impl(const Request& request, Ends in, Ends out) : framing(request) {
    auto storage = std::make_unique<io::PosixStorage>(io::StandardStreams{in.theirs.get(), out.theirs.get()});
    library::Prepared prepared = library::prepare(request, *storage);  // has descriptors of its own for the input
    to_sort = std::move(in.ours);
    from_sort = std::move(out.ours);
    const BlockedSignals blocked;
    worker =
        std::thread([this, prepared = std::move(prepared), storage = std::move(storage), end = std::move(out.theirs)]() mutable {
          try {
            library::in_words_of_the_library([&] {
              report =
                  library::run(std::move(prepared.work), prepared.open_queue(), std::move(storage), {nullptr, stop.get_token()});
            });
          } catch (...) {
            error = std::current_exception();
          }
          end = Descriptor();  // the reader sees the end
        });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  ~Impl() {
    stop.request_stop();
    to_sort = Descriptor();
    from_sort = Descriptor();
    if (worker.joinable()) worker.join();
  }

  void push(std::span<const std::byte> bytes) {
    send(std::exchange(gathered, {}));
    send(bytes);
  }

  void push_row(std::span<const std::byte> row) {
    const std::size_t before = gathered.size();
    gathered.insert(gathered.end(), row.begin(), row.end());
    if (!framing.is_of_records() && (row.empty() || row.back() != framing.row_end())) gathered.push_back(framing.row_end());
    if (!framing.is_whole(std::span(gathered).subspan(before))) {
      gathered.resize(before);
      throw UsageError("a row that is pushed has all of its lines; a paragraph ends with an empty one");
    }
    if (gathered.size() < gathered_bytes) return;
    send(gathered);
    gathered.clear();
  }

  void end_input() {
    send(std::exchange(gathered, {}));
    to_sort = Descriptor();
  }

  void send(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(to_sort.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) fail(errno);
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }

  // The sort is gone, with an error of its own; or the bytes cannot be read, and it has to go.
  [[noreturn]] void fail(int error_number) {
    if (error_number != EPIPE && error_number != ECONNRESET) {
      stop.request_stop();
      worker.join();
      throw IoError::from_call("take", "(rows for the sorter)", error_number);
    }
    end();
    throw IoError::from_call("write", "(sorter)", error_number);
  }

  // Waits for the sort; throws what ended it.
  void end() {
    if (worker.joinable()) worker.join();
    if (error) std::rethrow_exception(error);
  }

  std::span<const std::byte> next() {
    if (!rest.empty()) return std::exchange(rest, {});  // of a batch that was begun row by row
    std::memmove(buffer.data(), buffer.data() + given, have - given);
    have -= std::exchange(given, 0);
    std::size_t whole = 0;
    while (whole == 0) {
      if (have == buffer.size()) buffer.resize(std::max({2 * buffer.size(), block_bytes, framing.size_out()}));
      const ssize_t got = ::read(from_sort.get(), buffer.data() + have, buffer.size() - have);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw IoError::from_call("read", "(sorter)", errno);
      if (got == 0) {
        end();
        return {};
      }
      have += static_cast<std::size_t>(got);
      whole = framing.whole_bytes(std::span<const std::byte>(buffer).first(have));
    }
    given = whole;
    return std::span<const std::byte>(buffer).first(given);
  }

  bool take(Row& row) {
    if (rest.empty()) rest = next();
    if (rest.empty()) return false;
    row = framing.first(rest);
    rest = rest.subspan(row.bytes().size());
    return true;
  }

  Framing framing;
  Descriptor to_sort, from_sort;
  std::stop_source stop;
  std::exception_ptr error;
  Report report;
  std::vector<std::byte> gathered;  // rows that were pushed and not sent
  std::vector<std::byte> buffer;
  std::size_t have = 0, given = 0;  // bytes in the buffer; those that the caller has seen
  std::span<const std::byte> rest;  // of a batch, that was not taken
  std::thread worker;
};

const std::byte* Row::at(std::size_t offset, std::size_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset)
    throw UsageError(fmt::format("a row of {} bytes has no value of {} bytes from byte {} on", bytes_.size(), size, offset));
  return bytes_.data() + offset;
}

Reader::Reader() noexcept = default;
Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

std::span<const std::byte> Reader::next() {
  if (!impl_) throw UsageError("a reader that was moved from gives no rows");
  return impl_->next();
}

bool Reader::take(Row& row) {
  if (!impl_) throw UsageError("a reader that was moved from gives no rows");
  return impl_->take(row);
}

const Report& Reader::report() const {
  if (!impl_ || impl_->worker.joinable())
    throw UsageError("the report of a sort is there when all of its rows have been read, in the reader that read them");
  return impl_->report;
}

Sorter::Sorter(const Request& request) : impl_(std::make_unique<Reader::Impl>(request)) {}
Sorter::Sorter(Sorter&&) noexcept = default;
Sorter& Sorter::operator=(Sorter&&) noexcept = default;
Sorter::~Sorter() = default;

Reader::Impl& Sorter::open() const {
  if (!impl_) throw UsageError("a sorter takes no rows after finish()");
  return *impl_;
}

void Sorter::push(std::span<const std::byte> bytes) { open().push(bytes); }

void Sorter::push(std::string_view row) {
  if (open().framing.is_of_records()) throw UsageError("a text is no record: push its bytes");
  impl_->push_row(std::as_bytes(std::span(row)));
}

void Sorter::push_record(std::span<const std::byte> record) {
  const Framing& framing = open().framing;
  if (!framing.is_of_records()) throw UsageError("a value is no line or row: push its text");
  if (record.size() != framing.record_size())
    throw UsageError(fmt::format("a value of {} bytes is no record of {} bytes", record.size(), framing.record_size()));
  impl_->push_row(record);
}

Reader Sorter::finish() {
  if (!impl_) throw UsageError("a sorter is finished once");
  impl_->end_input();
  return Reader(std::move(impl_));
}

Reader::Iterator Sorter::begin() {
  if (impl_) sorted_ = finish();
  return sorted_.begin();
}

}  // namespace ecosort
