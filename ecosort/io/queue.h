// Seam 1 of 2: asynchronous data operations on open files (seam 2, names and space, is io/storage.h).
//
// A Queue is raw: it reports what the system reported, short counts and EINTR included. Retrying, completing short
// transfers and turning errors into exceptions happen once, above every backend and decorator (io/reactor.h), so that they
// are handled identically for each backend and can be provoked below. Streams alone are tended here, because the next request
// must not overtake the rest of the one before: a write is taken in full or fails, whatever was taken by then (-EIO where the
// system takes nothing and gives no reason), and the writes that wait behind it fail with it; EINTR and EAGAIN do not surface; a
// read returns what there is. Only a cancelled write may report how much of it was taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/file.h"

namespace ecosort::io {

enum class Operation : std::uint8_t {
  read,     // pread(data, size, offset); result: bytes, 0 at end of file
  write,    // pwrite(data, size, offset); result: bytes; of a stream: `size` or an error
  sync,     // fdatasync: data and size are on stable storage when it completes; result: 0
  release,  // fallocate(PUNCH_HOLE | KEEP_SIZE, offset, size): gives space back; result: 0
  reserve,  // fallocate(0, offset, size): allocates blocks and extends the file's size; result: 0
};
[[nodiscard]] const char* to_string(Operation operation) noexcept;

// One request. `data` and `file` stay valid and untouched until its completion is reaped. `tag` comes back unchanged.
struct IoRequest {
  Operation operation = Operation::read;
  const File* file = nullptr;
  std::uint64_t offset = 0;  // bytes
  std::size_t size = 0;      // bytes; at most 1 GiB
  std::byte* data = nullptr;
  std::uint64_t tag = 0;
};

struct Completion {
  std::uint64_t tag = 0;
  std::int64_t result = 0;  // >= 0: bytes moved (0 for sync, release, reserve); < 0: -errno
};

// Thread-safety: one thread (the coordinator) calls submit() and wait(); any thread may call notify().
// A Queue holds no data buffers. On destruction nothing may be in flight.
class Queue {
 public:
  virtual ~Queue() = default;

  // The backend that serves ("uring", "pool", "stxxl", "memory"); decorators return that of the queue below.
  [[nodiscard]] virtual const char* backend_name() const noexcept = 0;

  // Accepts a request; never waits for its completion. The number in flight is bounded by the caller (`depth` given to the
  // factory); more is an InternalError.
  virtual void submit(const IoRequest& request) = 0;

  // Hands everything submitted to the system, then appends what has completed to `out`. With `block`, sleeps until there is
  // at least one completion or a notify() since the last return. Sleeping means sleeping: no thread ever spins.
  virtual void wait(std::vector<Completion>& out, bool block) = 0;

  // Makes a present or the next blocking wait() return. Async-signal-safe and thread-safe.
  virtual void notify() noexcept = 0;

  // A pipe whose other end sleeps would keep an interrupted run waiting for ever: from now on requests on streams, present
  // and later ones, complete with -ECANCELED (a present one may still complete as usual). Called by the coordinator. Files
  // are not affected: their requests end by themselves. Does nothing where no request on a stream can wait.
  virtual void cancel_streams() {}
};

}  // namespace ecosort::io
