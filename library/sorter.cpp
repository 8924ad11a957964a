// Push and pull (include/ecosort/ecosort.hpp): the external sort of a stream, in a thread of its own.
//
//   push() -> socket -> | form runs ... merge | -> socket -> next()        the sockets hold some 100 KiB
//
// The sort sees two streams, as `ecosort sort - -o -` does, so that whatever holds for a pipe holds here: memory, verification,
// runs kept in memory where all fits. What ends it is kept and thrown by the next call.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

#include "base/blocked_signals.h"
#include "base/descriptor.h"
#include "base/errors.h"
#include "ecosort/ecosort.hpp"
#include "job/prepare_records.h"
#include "job/session.h"
#include "library/run.h"

namespace ecosort {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20U;

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

Request request_of(const SorterTerms& terms) {
  Request request;
  request.inputs.emplace_back(1, '-');
  request.place.output.assign(1, '-');  // gcc 12 warns of an assignment
  request.rows = Records{.record_size = terms.record_size, .keys = terms.keys, .reverse = terms.reverse};
  request.unique = terms.unique;
  request.means.memory_bytes = terms.memory_bytes;
  request.means.threads = terms.threads;
  const char* const named = std::getenv("TMPDIR");
  const std::string usual = named != nullptr && *named != '\0' ? named : "/tmp";
  request.means.temp_directories = {terms.temp_directory.empty() ? usual : terms.temp_directory};
  request.means.io = terms.io;
  return request;
}

}  // namespace

struct Reader::Impl {
  explicit Impl(const SorterTerms& terms) : record_size(terms.record_size) {
    const Request request = request_of(terms);
    Ends in = connect(), out = connect();
    auto storage = std::make_unique<io::PosixStorage>(io::StandardStreams{in.theirs.get(), out.theirs.get()});
    auto prepared = std::make_shared<job::PreparedRecords>(
        job::prepare_records(request, *storage));  // has descriptors of its own for the input
    to_sort = std::move(in.ours);
    from_sort = std::move(out.ours);
    const BlockedSignals blocked;
    const unsigned depth = job::queue_depth(prepared->job.plan);
    worker = std::thread([this, io = request.means.io, depth, prepared = std::move(prepared), storage = std::move(storage),
                          end = std::move(out.theirs)]() mutable {
      try {
        const auto work = [prepared](const inplace::Environment& on) {
          return library::report_of(engine::sort(prepared->job, library::sort_environment(on)));
        };
        report =
            library::run(work, io::make_queue(io::parse_backend(io), depth), std::move(storage), {nullptr, stop.get_token()});
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
      throw IoError::from_call("take", "(records for the sorter)", error_number);
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
    if (buffer.empty()) buffer.resize(std::max(block_bytes / record_size, std::size_t{1}) * record_size);
    std::memmove(buffer.data(), buffer.data() + given, have - given);
    have -= std::exchange(given, 0);
    while (have < record_size) {
      const ssize_t got = ::read(from_sort.get(), buffer.data() + have, buffer.size() - have);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw IoError::from_call("read", "(sorter)", errno);
      if (got == 0) {
        end();
        return {};
      }
      have += static_cast<std::size_t>(got);
    }
    given = have / record_size * record_size;
    return std::span<const std::byte>(buffer).first(given);
  }

  std::size_t record_size;
  Descriptor to_sort, from_sort;
  std::stop_source stop;
  std::exception_ptr error;
  Report report;
  std::vector<std::byte> buffer;
  std::size_t have = 0, given = 0;  // bytes in the buffer; those that the caller has seen
  std::thread worker;
};

Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

std::span<const std::byte> Reader::next() {
  if (!impl_) throw UsageError("a reader that was moved from gives no records");
  return impl_->next();
}

const Report& Reader::report() const {
  if (!impl_) throw UsageError("a reader that was moved from has no report");
  if (impl_->worker.joinable()) throw UsageError("the report of a sort is there when all of its records have been read");
  return impl_->report;
}

Sorter::Sorter(const SorterTerms& terms) : impl_(std::make_unique<Reader::Impl>(terms)) {}
Sorter::Sorter(Sorter&&) noexcept = default;
Sorter& Sorter::operator=(Sorter&&) noexcept = default;
Sorter::~Sorter() = default;

void Sorter::push(std::span<const std::byte> bytes) {
  if (!impl_) throw UsageError("a sorter takes no records after finish()");
  impl_->push(bytes);
}

Reader Sorter::finish() {
  if (!impl_) throw UsageError("a sorter is finished once");
  impl_->to_sort = Descriptor();
  return Reader(std::move(impl_));
}

}  // namespace ecosort
