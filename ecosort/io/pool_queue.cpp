#include "io/pool_queue.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <system_error>

#include "base/blocked_signals.h"
#include "base/errors.h"

namespace ecosort::io {

namespace {

[[nodiscard]] std::int64_t outcome(std::int64_t result) noexcept { return result < 0 ? -errno : result; }

[[nodiscard]] std::int64_t perform_on_file(const IoRequest& request) noexcept {
  const int fd = request.file->fd();
  const auto offset = static_cast<off_t>(request.offset);
  const auto size = static_cast<off_t>(request.size);
  switch (request.operation) {
    case Operation::read:
      return outcome(::pread(fd, request.data, request.size, offset));
    case Operation::write:
      return outcome(::pwrite(fd, request.data, request.size, offset));
    case Operation::sync:
      return outcome(::fdatasync(fd));
    case Operation::release:
      return outcome(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size));
    case Operation::reserve:
      return outcome(::fallocate(fd, 0, offset, size));
  }
  return -EINVAL;
}

// Sleeps until the stream is ready or the streams are cancelled. Returns 0 or -errno.
[[nodiscard]] std::int64_t await_stream(const IoRequest& request, int cancel_fd) noexcept {
  if (request.file->fd() < 0) return -EBADF;
  const short event = request.operation == Operation::read ? POLLIN : POLLOUT;
  std::array<pollfd, 2> watched{{{request.file->fd(), event, 0}, {cancel_fd, POLLIN, 0}}};
  if (::poll(watched.data(), watched.size(), -1) < 0) return -errno;
  return watched[1].revents != 0 ? -ECANCELED : 0;
}

[[nodiscard]] bool may_block(int fd) noexcept {
  struct stat status{};
  return ::fstat(fd, &status) != 0 || (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode));
}

// A writable pipe takes PIPE_BUF bytes without blocking; more only if the kernel can be asked not to block (pipes: Linux 6.4).
[[nodiscard]] std::int64_t write_what_fits(int fd, std::byte* data, std::size_t size) noexcept {
  const iovec memory{data, size};
  const ssize_t written = ::pwritev2(fd, &memory, 1, -1, RWF_NOWAIT);
  if (written >= 0 || (errno != EOPNOTSUPP && errno != EAGAIN && errno != EINVAL && errno != ENOSYS)) return outcome(written);
  return outcome(::write(fd, data, std::min<std::size_t>(size, PIPE_BUF)));
}

// Bytes that the stream takes now. The caller must not wait, not even where poll() promises room for a part; what goes wrong
// shows again when the rest is written.
[[nodiscard]] std::size_t write_without_waiting(const IoRequest& request) noexcept {
  std::size_t done = 0;
  while (request.operation == Operation::write && done < request.size) {
    pollfd watched{request.file->fd(), POLLOUT, 0};
    const iovec memory{request.data + done, request.size - done};
    if (::poll(&watched, 1, 0) <= 0 || watched.revents != POLLOUT) break;
    const ssize_t written = ::pwritev2(request.file->fd(), &memory, 1, -1, RWF_NOWAIT);
    if (written <= 0) break;
    done += static_cast<std::size_t>(written);
  }
  return done;
}

// All that follows the first `done` bytes, or the error that ended it. A thread blocked in write() could not be cancelled, so it
// only ever blocks in poll().
[[nodiscard]] std::int64_t write_to_stream(const IoRequest& request, std::size_t done, int cancel_fd) noexcept {
  const int fd = request.file->fd();
  const bool blocks = may_block(fd);
  while (done < request.size) {
    std::byte* const rest = request.data + done;
    const std::size_t size = request.size - done;
    std::int64_t result = blocks ? await_stream(request, cancel_fd) : 0;
    if (result == -ECANCELED && done > 0) break;
    if (result == 0) result = blocks ? write_what_fits(fd, rest, size) : outcome(::write(fd, rest, size));
    if (result == -EINTR || (blocks && result == -EAGAIN)) continue;  // made non-blocking by somebody: poll() sleeps
    if (result <= 0) return result < 0 ? result : -EIO;
    done += static_cast<std::size_t>(result);
  }
  return static_cast<std::int64_t>(done);
}

[[nodiscard]] std::int64_t read_from_stream(const IoRequest& request, int cancel_fd) noexcept {
  while (true) {
    const std::int64_t ready = await_stream(request, cancel_fd);
    const std::int64_t result = ready < 0 ? ready : outcome(::read(request.file->fd(), request.data, request.size));
    if (result != -EAGAIN && result != -EINTR) return result;
  }
}

[[nodiscard]] std::int64_t perform_on_stream(const IoRequest& request, std::size_t done, int cancel_fd) noexcept {
  if (request.operation == Operation::write) return write_to_stream(request, done, cancel_fd);
  return request.operation == Operation::read ? read_from_stream(request, cancel_fd) : perform_on_file(request);
}

// `done` bytes of a write to a stream are written already.
[[nodiscard]] std::int64_t perform(const IoRequest& request, std::size_t done, int cancel_fd) noexcept {
  return request.file->facts().is_stream ? perform_on_stream(request, done, cancel_fd) : perform_on_file(request);
}

[[nodiscard]] bool may_wait(const IoRequest& request) noexcept {
  return request.file->facts().is_stream && may_block(request.file->fd());
}

}  // namespace

PoolQueue::PoolQueue(unsigned depth, std::shared_ptr<Wakeup> wakeup, Service service)
    : depth_(depth),
      service_(service),
      most_(std::clamp(depth, 1u, most_threads)),
      wakeup_(wakeup ? std::move(wakeup) : std::make_shared<Wakeup>()) {
  if (service == Service::by_threads) start_thread_if_all_are_busy(1, 0);
}

void PoolQueue::start_thread() {
  const BlockedSignals blocked;
  threads_.emplace_back([this] { serve(); });
  const std::lock_guard lock(mutex_);
  ++idle_;
}

// A small sort never needs a second one, and to start and end it takes as long as to read 100 KB.
void PoolQueue::start_thread_if_all_are_busy(std::ptrdiff_t waiting, std::ptrdiff_t idle) {
  if (waiting <= idle || threads_.size() >= most_) return;
  try {
    start_thread();
  } catch (const std::system_error& error) {
    if (threads_.empty()) throw IoError::from_call("start", "a thread for I/O", error.code().value());
    most_ = threads_.size();
  }
}

PoolQueue::~PoolQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void PoolQueue::submit(const IoRequest& request) {
  if (in_flight_ >= depth_) throw InternalError("more I/O requests in flight than the queue was made for");
  ++in_flight_;
  {
    const std::lock_guard lock(mutex_);
    if (request.file->facts().is_stream) {
      if (const auto error = error_on(request)) return done_.push_back({request.tag, *error});
      if (!streams_.admit(request)) return;
    }
  }
  if (service_ == Service::by_threads) return hand_over({request});
  const bool waits = may_wait(request);
  const std::size_t done = waits ? write_without_waiting(request) : 0;
  if (waits && done < request.size) return hand_over({request, done});
  const std::int64_t result = waits ? static_cast<std::int64_t>(done) : perform(request, 0, cancelled_.fd());
  const std::lock_guard lock(mutex_);
  finish(request, result);
}

void PoolQueue::hand_over(const Work& work) {
  std::ptrdiff_t waiting = 0, idle = 0;
  {
    const std::lock_guard lock(mutex_);
    ready_.push_back(work);
    waiting = std::ssize(ready_);
    idle = idle_;
  }
  work_.notify_one();
  start_thread_if_all_are_busy(waiting, idle);
}

// The mutex is held. A write that comes before the failure of an earlier one is known would leave a gap; it fails, too.
std::optional<std::int64_t> PoolQueue::error_on(const IoRequest& request) const {
  for (const auto& [file, error] : broken_)
    if (file == request.file && request.operation == Operation::write) return error;
  return std::nullopt;
}

void PoolQueue::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
    if (ready_.empty()) return;
    const Work work = ready_.front();
    ready_.pop_front();
    --idle_;
    lock.unlock();
    const std::int64_t result = perform(work.request, work.done, cancelled_.fd());
    lock.lock();
    ++idle_;
    finish(work.request, result);
  }
}

// With the mutex held. Rings only for the first completion of a batch: the sleeper takes them all.
void PoolQueue::finish(const IoRequest& request, std::int64_t result) {
  const bool was_empty = done_.empty();
  done_.push_back({request.tag, result});
  if (request.file->facts().is_stream) {
    // Behind a write that failed there is a gap: nothing may be written after it.
    const bool ends_all = request.operation == Operation::write && result < 0;
    if (ends_all) broken_.emplace_back(request.file, result);
    while (const std::optional<IoRequest> next = streams_.complete(request.file)) {
      if (ends_all) {
        done_.push_back({next->tag, result});
        continue;
      }
      ready_.push_back({*next});
      work_.notify_one();
      break;
    }
  }
  if (was_empty) wakeup_->ring();
}

void PoolQueue::reap(std::vector<Completion>& out) {
  const std::lock_guard lock(mutex_);
  in_flight_ -= static_cast<unsigned>(done_.size());
  out.insert(out.end(), done_.begin(), done_.end());
  done_.clear();
  broken_.clear();
}

void PoolQueue::wait(std::vector<Completion>& out, bool block) {
  const std::size_t before = out.size();
  while (true) {
    reap(out);
    const bool notified = wakeup_->take_notification();
    if (!block || notified || out.size() > before) return;
    wakeup_->sleep();
  }
}

void PoolQueue::cancel_streams() { cancelled_.ring(); }

}  // namespace ecosort::io
