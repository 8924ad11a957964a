#include "io/reactor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/full_drive.h"
#include "base/memory.h"
#include "base/thread_time.h"
#include "io/drive_clock.h"

namespace ecosort::io {

namespace {

// A system that says EINTR, EAGAIN or "nothing moved" this often in a row without moving a byte will not recover by itself.
constexpr int patience = 1000;

[[nodiscard]] bool is_transient(std::int64_t result) noexcept {
  return result == -EINTR || result == -EAGAIN || result == -EBUSY;
}

}  // namespace

Traffic& Traffic::operator+=(const Traffic& other) noexcept {
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  requests += other.requests;
  idle += other.idle;
  return *this;
}

Traffic operator-(Traffic a, const Traffic& b) noexcept {
  a.bytes_read -= b.bytes_read;
  a.bytes_written -= b.bytes_written;
  a.requests -= b.requests;
  a.idle -= b.idle;
  return a;
}

// One raw request: suspends until its completion is reaped; yields its result.
struct Reactor::Awaiter {
  Reactor& reactor;
  IoRequest request;
  std::int64_t result = 0;
  std::coroutine_handle<> waiting;
  std::optional<std::uint64_t> begun;  // DriveMeter::begin(), where that measures it

  [[nodiscard]] bool moves_bytes_of_drives() const noexcept {
    return (request.operation == Operation::read || request.operation == Operation::write) && !request.file->facts().is_stream;
  }
  [[nodiscard]] bool await_ready() const {
    reactor.scope_.throw_if_failed();
    return false;
  }
  void await_suspend(std::coroutine_handle<> handle) {
    waiting = handle;
    reactor.submit(*this);
  }
  [[nodiscard]] std::int64_t await_resume() const noexcept { return result; }
};

struct Reactor::Metering {
  OwnThreadTimes times;
  DriveMeter meter;
  DriveClock drives;

  [[nodiscard]] DriveWork work() const noexcept {
    return drives.knows_all() ? explained(meter.work(), drives.counts()) : meter.work();
  }
  // The clock is read last where a wait begins and first where it ends, so that a sleep never looks longer than it was.
  [[nodiscard]] std::chrono::nanoseconds awake() const noexcept {
    const ThreadTimes now = times.now();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(now.computed_s + now.ready_s));
  }
};

namespace {

// Gives a slot back when the operation ends, however it ends.
class SlotLease {
 public:
  explicit SlotLease(Semaphore& slots) : slots_(slots) {}
  ~SlotLease() { slots_.give(); }
  SlotLease(const SlotLease&) = delete;
  SlotLease& operator=(const SlotLease&) = delete;

 private:
  Semaphore& slots_;
};

}  // namespace

Reactor::Reactor(Queue& queue, unsigned read_depth, unsigned write_depth)
    : queue_(queue),
      read_slots_(scope_, read_depth),
      write_slots_(scope_, write_depth),
      other_slots_(scope_, 2),
      idle_since_(Clock::now()) {}

Reactor::~Reactor() = default;

void Reactor::submit(Awaiter& awaiter) {
  awaiter.request.tag = reinterpret_cast<std::uint64_t>(&awaiter);
  awaiter.request.file->hold();
  if (awaiter.request.operation == Operation::write) awaiter.request.file->set_synced(false);
  if (metering_ && awaiter.moves_bytes_of_drives()) {
    metering_->drives.watch(*awaiter.request.file);
    awaiter.begun = metering_->meter.begin();
  }
  queue_.submit(awaiter.request);
  if (in_flight_++ == 0) traffic_.idle += Clock::now() - idle_since_;
  ++traffic_.requests;
}

Task<std::size_t> Reactor::read(const File& file, std::uint64_t offset, std::byte* data, std::size_t size, std::size_t at_least) {
  co_await read_slots_.take();
  const SlotLease lease(read_slots_);
  std::size_t done = 0;
  for (int fruitless = 0; done < size;) {
    // After a short direct read the next request starts again at the last aligned byte.
    const std::size_t from = round_down(done, file.alignment());
    Awaiter awaiter{*this, {Operation::read, &file, offset + from, size - from, data + from, 0}, 0, {}, {}};
    const std::int64_t result = co_await awaiter;
    if (is_transient(result) && ++fruitless < patience) continue;
    if (result < 0) throw IoError::from_call("read", file.path(), static_cast<int>(-result), offset + from, size - from);
    traffic_.bytes_read += static_cast<std::uint64_t>(result);
    const std::size_t reached = from + static_cast<std::size_t>(result);
    if (reached <= done) break;  // nothing new: the end of the file
    done = reached;
    fruitless = 0;
    if (done >= at_least && done < size && !file.facts().is_stream && offset + done >= file.facts().size_bytes) break;
  }
  if (done < at_least)
    throw IoError(fmt::format("'{}' ended at byte {} although {} more were expected: it changed while it was read", file.path(),
                              offset + done, at_least - done));
  co_return done;
}

// The system does not look at the offsets of a stream, and no one reads back what went into it.
void Reactor::follow_stream(const File& file, std::uint64_t offset, std::size_t size) {
  std::uint64_t& end = stream_ends_[&file];
  if (offset == 0) end = 0;  // another stream in the place of a former one
  if (offset != end)
    throw InternalError(
        fmt::format("'{}' was about to get byte {} behind byte {}: writes overtook each other", file.path(), offset, end));
  end += size;
}

Task<void> Reactor::write(const File& file, std::uint64_t offset, std::byte* data, std::size_t size) {
  co_await write_slots_.take();
  const SlotLease lease(write_slots_);
  if (file.facts().is_stream) follow_stream(file, offset, size);
  std::size_t done = 0;
  for (int fruitless = 0; done < size;) {
    const std::size_t from = round_down(done, file.alignment());
    Awaiter awaiter{*this, {Operation::write, &file, offset + from, size - from, data + from, 0}, 0, {}, {}};
    const std::int64_t result = co_await awaiter;
    const bool is_stream = file.facts().is_stream;
    if (!is_stream && is_transient(result) && ++fruitless < patience) continue;
    if (result < 0) throw IoError::from_call("write", file.path(), static_cast<int>(-result), offset + from, size - from);
    const std::size_t reached = from + static_cast<std::size_t>(result);
    // The rest that a stream did not take must not follow what was written behind it (io/queue.h).
    if (is_stream && reached < size) throw IoError::from_call("write", file.path(), EIO, offset + from, size - from);
    if (reached <= done && ++fruitless >= patience)
      throw IoError(fmt::format("cannot write '{}' at offset {}: the system takes no more bytes and gives no reason", file.path(),
                                offset + done),
                    EIO);
    traffic_.bytes_written += static_cast<std::uint64_t>(result);
    done = std::max(done, reached);
  }
}

Task<void> Reactor::simple(Operation operation, const File& file, std::uint64_t offset, std::size_t size, bool* unsupported) {
  co_await other_slots_.take();
  const SlotLease lease(other_slots_);
  for (int fruitless = 0;; ++fruitless) {
    Awaiter awaiter{*this, {operation, &file, offset, size, nullptr, 0}, 0, {}, {}};
    const std::int64_t result = co_await awaiter;
    if (result >= 0) co_return;
    if (operation != Operation::sync && is_transient(result) && fruitless < patience) continue;
    if (unsupported != nullptr && (result == -EOPNOTSUPP || result == -ENOSYS || result == -EINVAL)) {
      *unsupported = true;
      co_return;
    }
    throw IoError::from_call(to_string(operation), file.path(), static_cast<int>(-result), offset, size);
  }
}

Task<void> Reactor::sync(const File& file) {
  co_await simple(Operation::sync, file, 0, 0, nullptr);
  file.set_synced(true);
}

Task<bool> Reactor::release(const File& file, std::uint64_t offset, std::uint64_t size) {
  bool unsupported = false;
  co_await simple(Operation::release, file, offset, size, &unsupported);
  co_return !unsupported;
}

Task<bool> Reactor::reserve(const File& file, std::uint64_t offset, std::uint64_t size) {
  bool unsupported = false;
  for (unsigned attempt = 0;; ++attempt) {
    try {
      co_await simple(Operation::reserve, file, offset, size, &unsupported);
      co_return !unsupported;
    } catch (const IoError& error) {
      if (storage_ == nullptr || !is_full(error.error_number()) || !storage_->wait_for_space(file, attempt)) throw;
    }
  }
}

// Notifies with the mutex held: once the coordinator has the handle, it may finish and take reactor and queue with it.
void Reactor::post(std::coroutine_handle<> handle) {
  const std::lock_guard lock(posted_mutex_);
  posted_.push_back(handle);
  queue_.notify();
}

void Reactor::Turn::await_suspend(std::coroutine_handle<> computing) const {
  reactor.reap(false);
  reactor.scope_.make_ready(computing);
}

void Reactor::meter_drives() {
  if (!metering_) metering_ = std::make_unique<Metering>();
}

DriveWork Reactor::drive_work() const noexcept { return metering_ ? metering_->work() : DriveWork{}; }

void Reactor::wait_for_queue(bool block) {
  if (!metering_) return queue_.wait(completions_, block);
  const std::chrono::nanoseconds awake = metering_->awake();
  metering_->meter.wait_begins({Clock::now().time_since_epoch(), awake});
  queue_.wait(completions_, block);
  const auto now = Clock::now().time_since_epoch();
  for (const Completion& completion : completions_) {
    const auto& awaiter = *reinterpret_cast<Awaiter*>(completion.tag);
    if (awaiter.begun)
      metering_->meter.end(*awaiter.begun, static_cast<std::size_t>(std::max<std::int64_t>(completion.result, 0)));
  }
  metering_->meter.wait_ended({now, metering_->awake()});
}

void Reactor::reap(bool block) {
  completions_.clear();
  wait_for_queue(block);
  for (const Completion& completion : completions_) {
    auto& awaiter = *reinterpret_cast<Awaiter*>(completion.tag);
    awaiter.result = completion.result;
    awaiter.request.file->let_go();
    scope_.make_ready(awaiter.waiting);
  }
  if (!completions_.empty() && (in_flight_ -= completions_.size()) == 0) idle_since_ = Clock::now();
  const std::lock_guard lock(posted_mutex_);
  for (const std::coroutine_handle<> handle : posted_) scope_.make_ready(handle);
  posted_.clear();
}

void Reactor::drive(TaskGroup& group, const std::atomic<int>& interrupted) {
  bool has_cancelled = false;
  while (true) {
    const bool any = scope_.run_ready();
    if (group.running() == 0 && !any) break;
    if (group.running() == 0) continue;
    // After a failure we wait for its requests to end; one on a pipe might not end by itself.
    if (scope_.failed() && !std::exchange(has_cancelled, true)) queue_.cancel_streams();
    reap(true);
    if (const int signal_number = interrupted.load(); signal_number != 0)
      scope_.fail(std::make_exception_ptr(Interrupted(signal_number)));
  }
}

// An error in a task fails the cancel scope; an error that comes out of drive() is the queue's own.
void Reactor::run(TaskGroup& group, const std::atomic<int>& interrupted) {
  try {
    drive(group, interrupted);
  } catch (const IoError& error) {
    throw QueueBroken(error);
  }
  scope_.rethrow();
}

Traffic Reactor::traffic() const {
  Traffic now = traffic_;
  if (in_flight_ == 0) now.idle += Clock::now() - idle_since_;
  return now;
}

}  // namespace ecosort::io
