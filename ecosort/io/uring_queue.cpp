#include "io/uring_queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <liburing.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "base/errors.h"

namespace ecosort::io {

namespace {

// Completions that belong to no request; the numbers of requests are small.
constexpr std::uint64_t wakeup_mark = ~std::uint64_t{0};
constexpr std::uint64_t cancel_mark = wakeup_mark - 1;

constexpr unsigned spare_entries = 8;  // for the watch on the wake-up and for cancellations
constexpr unsigned most_workers = 8;

// EAGAIN and EBUSY without anything to reap: the kernel is short of memory. Waits a little, and gives up after ten seconds.
constexpr std::chrono::milliseconds kernel_pause{1};
constexpr unsigned most_pauses = 10'000;

}  // namespace

UringRefused::UringRefused(int error_number)
    : std::runtime_error(fmt::format("io_uring is not available here ({})", std::strerror(error_number))) {}

struct UringQueue::Ring {
  explicit Ring(unsigned entries) {
    // COOP_TASKRUN (Linux 5.19): completions do not interrupt computing threads; wait() enters the kernel to collect them.
    int result = set_up(entries, IORING_SETUP_CLAMP | IORING_SETUP_COOP_TASKRUN);
    if (result == -EINVAL) result = set_up(entries, IORING_SETUP_CLAMP);
    if (result < 0) throw UringRefused(-result);
    if (!knows_all_operations()) {
      ::io_uring_queue_exit(&ring);
      throw UringRefused(EOPNOTSUPP);
    }
    std::array<unsigned, 2> workers{most_workers, most_workers};
    ::io_uring_register_iowq_max_workers(&ring, workers.data());  // Linux 5.15; before, the kernel's own bound holds
  }
  ~Ring() { ::io_uring_queue_exit(&ring); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // The memory that a user may lock is bounded (ulimit -l), and the system gives that of a ring which was closed, such as the one
  // of the command before, back a moment later.
  int set_up(unsigned entries, unsigned flags) {
    constexpr int most_tries = 4;
    constexpr std::chrono::milliseconds moment(5);
    for (int tries = 1;; ++tries) {
      io_uring_params parameters{};
      parameters.flags = flags;
      const int code = ::io_uring_queue_init_params(entries, &ring, &parameters);
      if (code != -ENOMEM || tries == most_tries) return code;
      std::this_thread::sleep_for(moment);
    }
  }

  bool knows_all_operations() {
    const std::unique_ptr<io_uring_probe, void (*)(io_uring_probe*)> probe(::io_uring_get_probe_ring(&ring),
                                                                           ::io_uring_free_probe);
    if (!probe) return false;
    constexpr std::array needed{IORING_OP_READ,      IORING_OP_WRITE,    IORING_OP_FSYNC,
                                IORING_OP_FALLOCATE, IORING_OP_POLL_ADD, IORING_OP_ASYNC_CANCEL};
    return std::all_of(needed.begin(), needed.end(),
                       [&](int operation) { return ::io_uring_opcode_supported(probe.get(), operation) != 0; });
  }

  // A free entry. The ring has room for `depth` requests and the spare ones, so submitting early is the exception.
  io_uring_sqe* entry() {
    io_uring_sqe* entry = ::io_uring_get_sqe(&ring);
    while (entry == nullptr) {
      const int result = ::io_uring_submit(&ring);
      if (result < 0 && result != -EINTR) throw IoError::from_call("submit to", "io_uring", -result);
      entry = ::io_uring_get_sqe(&ring);
    }
    return entry;
  }

  io_uring ring{};
};

UringQueue::UringQueue(unsigned depth) : requests_(depth), ring_(std::make_unique<Ring>(depth + spare_entries)) {
  watch_wakeup();
}

UringQueue::~UringQueue() = default;

void UringQueue::watch_wakeup() {
  io_uring_sqe* entry = ring_->entry();
  ::io_uring_prep_poll_add(entry, wakeup_.fd(), POLLIN);
  ::io_uring_sqe_set_data64(entry, wakeup_mark);
}

void UringQueue::submit(const IoRequest& request) {
  const std::uint64_t number = requests_.put(request);
  if (!request.file->facts().is_stream) return start(request, number);
  IoRequest numbered = request;
  numbered.tag = number;
  if (cancelled_)
    refused_.push_back({requests_.take(number).tag, -ECANCELED});
  else if (streams_.admit(numbered))
    start_on_stream(numbered);
}

// Returns where a write begins into a file that stands for a stream (standard output redirected); -1: the system knows. The
// kernel does not move the file's own position when a write fails after a part (seen on Linux 6.18): the rest would overwrite
// that part.
std::int64_t UringQueue::position_of(int fd) {
  if ((::fcntl(fd, F_GETFL) & O_APPEND) != 0) return -1;
  return ::lseek(fd, 0, SEEK_CUR);
}

// Returns what is still to be moved, with the offset that the kernel is to use.
IoRequest UringQueue::rest_of(IoRequest request, const OnStream& started) {
  request.data += started.moved;
  request.size -= started.moved;
  request.offset = started.position < 0 ? ~std::uint64_t{0}  // the current position
                                        : static_cast<std::uint64_t>(started.position) + started.moved;
  return request;
}

void UringQueue::start_on_stream(const IoRequest& request) {
  on_streams_.push_back({request.tag, request.operation == Operation::write ? position_of(request.file->fd()) : -1});
  start(rest_of(request, on_streams_.back()), request.tag);
}

void UringQueue::start(const IoRequest& request, std::uint64_t number) {
  io_uring_sqe* entry = ring_->entry();
  const int fd = request.file->fd();
  switch (request.operation) {
    case Operation::read:
      ::io_uring_prep_read(entry, fd, request.data, static_cast<unsigned>(request.size), request.offset);
      break;
    case Operation::write:
      ::io_uring_prep_write(entry, fd, request.data, static_cast<unsigned>(request.size), request.offset);
      break;
    case Operation::sync:
      ::io_uring_prep_fsync(entry, fd, IORING_FSYNC_DATASYNC);
      break;
    case Operation::release:
    case Operation::reserve:
      ::io_uring_prep_fallocate(entry, fd,
                                request.operation == Operation::release ? FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE : 0,
                                static_cast<off_t>(request.offset), static_cast<off_t>(request.size));
      break;
  }
  ::io_uring_sqe_set_data64(entry, number);
}

void UringQueue::end(std::uint64_t number, std::int64_t result, std::vector<Completion>& out) {
  if (requests_.at(number).file->facts().is_stream) return end_on_stream(number, result, out);
  out.push_back({requests_.take(number).tag, result});
}

// True: the request continues. A write that was taken in part is completed here, or the next one would overtake its rest.
bool UringQueue::carry_on(OnStream& started, std::int64_t result) {
  const IoRequest& request = requests_.at(started.number);
  if (started.is_polling) {
    started.is_polling = false;
  } else if (result == -EAGAIN) {
    started.is_polling = true;
    io_uring_sqe* entry = ring_->entry();
    ::io_uring_prep_poll_add(entry, request.file->fd(), request.operation == Operation::read ? POLLIN : POLLOUT);
    ::io_uring_sqe_set_data64(entry, started.number);
    return true;
  } else if (request.operation == Operation::write && result > 0) {
    started.moved += static_cast<std::size_t>(result);
    if (started.moved == request.size) return false;
  } else if (result != -EINTR) {
    return false;
  }
  start(rest_of(request, started), started.number);
  return true;
}

void UringQueue::end_on_stream(std::uint64_t number, std::int64_t result, std::vector<Completion>& out) {
  const auto started =
      std::find_if(on_streams_.begin(), on_streams_.end(), [&](const OnStream& one) { return one.number == number; });
  if (!cancelled_ && carry_on(*started, result)) return;
  const IoRequest request = requests_.take(number);
  const bool is_write = request.operation == Operation::write;
  if (cancelled_ && started->is_polling) result = -ECANCELED;
  if (!cancelled_ && is_write && request.size > 0 && result == 0) result = -EIO;
  if (cancelled_ && is_write && result > 0) started->moved += static_cast<std::size_t>(result);
  // Other processes that share the file continue behind what was written.
  if (started->position >= 0) ::lseek(request.file->fd(), started->position + static_cast<off_t>(started->moved), SEEK_SET);
  const bool tells_part = started->moved > 0 && (result > 0 || cancelled_);
  out.push_back({request.tag, tells_part ? static_cast<std::int64_t>(started->moved) : result});
  on_streams_.erase(started);
  // Behind a write that failed there is a gap: nothing may be written after it.
  const bool ends_all = cancelled_ || (is_write && result < 0);
  while (const std::optional<IoRequest> next = streams_.complete(request.file)) {
    if (!ends_all) return start_on_stream(*next);
    out.push_back({requests_.take(next->tag).tag, cancelled_ ? -ECANCELED : result});
  }
}

void UringQueue::reap(std::vector<Completion>& out) {
  out.insert(out.end(), refused_.begin(), refused_.end());
  refused_.clear();
  io_uring_cqe* completion = nullptr;
  while (::io_uring_peek_cqe(&ring_->ring, &completion) == 0) {
    const std::uint64_t mark = ::io_uring_cqe_get_data64(completion);
    const std::int64_t result = completion->res;
    ::io_uring_cqe_seen(&ring_->ring, completion);
    if (mark == wakeup_mark) {
      wakeup_.sleep();  // it has been rung, so this only answers
      watch_wakeup();
    } else if (mark != cancel_mark) {
      end(mark, result, out);
    }
  }
}

// Hands over what was prepared; sleeps until there is a completion if asked to. EINTR ends the sleep early.
void UringQueue::enter(bool sleep) {
  const int result = sleep ? ::io_uring_submit_and_wait(&ring_->ring, 1) : ::io_uring_submit_and_get_events(&ring_->ring);
  if (result >= 0) {
    fruitless_ = 0;
    return;
  }
  if (result == -EINTR) return;
  if ((result != -EAGAIN && result != -EBUSY) || ++fruitless_ > most_pauses)
    throw IoError::from_call("submit requests to", "io_uring", -result);
  if (::io_uring_cq_ready(&ring_->ring) == 0) std::this_thread::sleep_for(kernel_pause);
}

void UringQueue::wait(std::vector<Completion>& out, bool block) {
  const std::size_t before = out.size();
  bool is_enough = false, has_entered = false;
  while (true) {
    reap(out);
    const bool is_notified = wakeup_.take_notification();
    is_enough = is_enough || is_notified || out.size() > before || (has_entered && !block);
    if (is_enough && ::io_uring_sq_ready(&ring_->ring) == 0) return;
    enter(!is_enough && block);
    has_entered = true;
  }
}

// The kernel may be done with a request before the cancellation reaches it; either way it completes.
void UringQueue::cancel_streams() {
  cancelled_ = true;
  for (const OnStream& started : on_streams_) {
    io_uring_sqe* entry = ring_->entry();
    ::io_uring_prep_cancel64(entry, started.number, 0);
    ::io_uring_sqe_set_data64(entry, cancel_mark);
  }
}

}  // namespace ecosort::io
