// The coordinator: one thread that submits and reaps requests and resumes the coroutines that wait for them.
//
// Everything a raw queue leaves open is settled here, once for every backend (promise P7): EINTR and EAGAIN are retried,
// short transfers completed, errors turned into IoError with call, path, offset and size. A failed sync is final (P3).
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/errors.h"
#include "base/task.h"
#include "io/drive_meter.h"
#include "io/queue.h"
#include "io/storage.h"

namespace ecosort::io {

// Counts what moved, by role, and the time in which no request was in flight. Drift-free companions of every timing.
struct Traffic {
  std::uint64_t bytes_read = 0, bytes_written = 0;
  std::uint64_t requests = 0;
  std::chrono::nanoseconds idle{0};
  Traffic& operator+=(const Traffic& other) noexcept;
  friend Traffic operator-(Traffic a, const Traffic& b) noexcept;
};

// The queue itself failed: requests in flight can no longer be awaited, so that the system may still read and write their
// buffers, and computations may still report back. Nothing they use may be destroyed; the process is better ended at once.
struct QueueBroken : IoError {
  explicit QueueBroken(const IoError& error) : IoError(error) {}
};

class Reactor {
 public:
  // `read_depth` and `write_depth` bound the requests in flight of each kind. The queue must accept their sum + 2.
  Reactor(Queue& queue, unsigned read_depth, unsigned write_depth);
  ~Reactor();
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  [[nodiscard]] CancelScope& scope() noexcept { return scope_; }

  // Reads [offset, offset+size) into data and returns the bytes read: fewer than `size` only at the end of the file, and
  // never fewer than `at_least` (IoError: the file is shorter than it was). For files with an alignment all three are
  // multiples of it; `at_least` need not be.
  [[nodiscard]] Task<std::size_t> read(const File& file, std::uint64_t offset, std::byte* data, std::size_t size,
                                       std::size_t at_least);

  // Writes all of it. Writes on a stream leave in the order of the calls; `offset` counts its bytes from 0, and one that does not
  // follow the write before is an InternalError. What fails is not tried again there: later writes may have been taken by then.
  [[nodiscard]] Task<void> write(const File& file, std::uint64_t offset, std::byte* data, std::size_t size);

  [[nodiscard]] Task<void> sync(const File& file);
  // False: the file system cannot do this (EOPNOTSUPP); every other failure throws.
  [[nodiscard]] Task<bool> release(const File& file, std::uint64_t offset, std::uint64_t size);
  // Reserves space; where there is none, with as many attempts as the storage given to wait_with() allows, else one.
  [[nodiscard]] Task<bool> reserve(const File& file, std::uint64_t offset, std::uint64_t size);
  void wait_with(Storage& storage) noexcept { storage_ = &storage; }  // outlives this

  // Resumes `handle` on the coordinator. Thread-safe; how computations report back.
  void post(std::coroutine_handle<> handle);

  // Awaited by a coroutine that computes on the coordinator: what has arrived meanwhile, and what is ready, gets its turn first.
  struct Turn {
    Reactor& reactor;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> computing) const;
    void await_resume() const { reactor.scope_.throw_if_failed(); }
  };
  [[nodiscard]] Turn turn() noexcept { return {*this}; }

  // Drives everything until `group` has no running task, then rethrows the first error, if any.
  // Checks `interrupted` (a signal number or 0) after each wake-up and fails with Interrupted. QueueBroken while tasks still run:
  // reactor, group and queue must then live on.
  void run(TaskGroup& group, const std::atomic<int>& interrupted);

  [[nodiscard]] Traffic traffic() const;

  // From now on measures reads and writes of files, which costs a few microseconds per wait. By the thread that calls run().
  void meter_drives();
  [[nodiscard]] DriveWork drive_work() const noexcept;  // since then

 private:
  struct Awaiter;
  struct Metering;
  using Clock = std::chrono::steady_clock;

  Task<void> simple(Operation operation, const File& file, std::uint64_t offset, std::size_t size, bool* unsupported);
  void submit(Awaiter& awaiter);
  void follow_stream(const File& file, std::uint64_t offset, std::size_t size);
  void wait_for_queue(bool block);
  void reap(bool block);
  void drive(TaskGroup& group, const std::atomic<int>& interrupted);

  Queue& queue_;
  Storage* storage_ = nullptr;
  CancelScope scope_;
  Semaphore read_slots_, write_slots_, other_slots_;
  std::vector<Completion> completions_;
  std::size_t in_flight_ = 0;
  Clock::time_point idle_since_;
  Traffic traffic_;
  std::unique_ptr<Metering> metering_;
  std::unordered_map<const File*, std::uint64_t> stream_ends_;  // bytes that were submitted

  std::mutex posted_mutex_;
  std::vector<std::coroutine_handle<>> posted_;
};

}  // namespace ecosort::io
