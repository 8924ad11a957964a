#include "io/stxxl_queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stxxl/bits/io/request_queue_impl_qwqr.h>
#include <stxxl/bits/io/serving_request.h>
#include <stxxl/bits/io/syscall_file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "base/blocked_signals.h"
#include "base/errors.h"
#include "io/pool_queue.h"
#include "io/request_table.h"

namespace ecosort::io {

namespace {

// A disk queue is one thread, and a file serves one request at a time. Several of both keep a fast drive busy.
constexpr std::size_t lanes = 4;
constexpr std::size_t block_alignment = STXXL_BLOCK_ALIGN;

void silence_logs() {
  ::setenv("STXXLLOGFILE", "/dev/null", 0);
  ::setenv("STXXLERRLOGFILE", "/dev/null", 0);
}

[[nodiscard]] bool suits(const IoRequest& request) noexcept {
  const bool moves = request.operation == Operation::read || request.operation == Operation::write;
  return moves && !request.file->facts().is_stream && request.size > 0 && request.size % block_alignment == 0 &&
         request.offset % block_alignment == 0 && reinterpret_cast<std::uintptr_t>(request.data) % block_alignment == 0;
}

// STXXL opens by path; ours has none, or another file has its path by now.
[[nodiscard]] std::string path_of(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

[[nodiscard]] int mode_of(const File& file) {
  const int access = ::fcntl(file.fd(), F_GETFL) & O_ACCMODE;
  const int mode = access == O_RDONLY ? stxxl::file::RDONLY : access == O_WRONLY ? stxxl::file::WRONLY : stxxl::file::RDWR;
  return mode | stxxl::file::NO_LOCK | (file.is_direct() ? stxxl::file::REQUIRE_DIRECT : 0);
}

// Its errors give the reason as a text only: "... rc=-1 : Bad file descriptor: iostream error".
[[nodiscard]] int error_number_of(const stxxl::io_error& error) {
  const std::string line = error.what();
  constexpr int numbers = 134;
  for (int number = 1; number < numbers; ++number) {
    const std::string reason = fmt::format(" : {}", std::strerror(number));
    const std::size_t at = line.rfind(reason);
    if (at != std::string::npos && (at + reason.size() == line.size() || line[at + reason.size()] == ':')) return number;
  }
  return EIO;
}

// Opened anew by STXXL. Closed here, because its own destructor throws if that fails; what went wrong with the data is
// reported by the sync and close of the descriptor it was opened from.
class Handle : public stxxl::syscall_file {
 public:
  explicit Handle(const File& original) : stxxl::syscall_file(path_of(original.fd()), mode_of(original)) {}
  ~Handle() override {
    ::close(file_des);
    file_des = -1;
  }
};

// Keeps a file as long as requests for it are in flight. No longer: the queue does not learn when a file is closed.
struct Opened {
  std::array<std::unique_ptr<Handle>, lanes> handles;
  std::array<unsigned, lanes> in_flight{};
  unsigned total = 0;
};

struct InFlight {
  stxxl::request_ptr request;
  std::size_t lane = 0;
  std::int64_t available = 0;  // bytes to the end of the file when a read was submitted
};

// Bytes from `offset` to the end of the file, or -errno.
[[nodiscard]] std::int64_t bytes_after(const File& file, std::uint64_t offset) {
  struct stat status{};
  if (::fstat(file.fd(), &status) != 0) return -errno;
  if (S_ISBLK(status.st_mode))
    return static_cast<std::int64_t>(file.facts().size_bytes - std::min(file.facts().size_bytes, offset));
  return std::max<std::int64_t>(0, status.st_size - static_cast<std::int64_t>(offset));
}

}  // namespace

class StxxlQueue::Disks {
 public:
  explicit Disks(unsigned depth)
      : depth_(depth), wakeup_(std::make_shared<Wakeup>()), helper_(depth, wakeup_), requests_(depth), in_flight_(depth) {
    const BlockedSignals blocked;
    for (auto& queue : queues_) queue = std::make_unique<stxxl::request_queue_impl_qwqr>();
  }

  void submit(const IoRequest& request);
  void reap(std::vector<Completion>& out);  // neither sleeps nor takes notifications

  [[nodiscard]] Wakeup& wakeup() { return *wakeup_; }
  [[nodiscard]] PoolQueue& helper() { return helper_; }

 private:
  // Runs on a disk thread when it is done with the request `number`.
  struct Report {
    Disks* disks;
    std::uint64_t number;
    void operator()(stxxl::request*) const { disks->ended(number); }
  };

  [[nodiscard]] bool start(const IoRequest& request, std::uint64_t number, std::int64_t available);
  [[nodiscard]] std::int64_t result_of(const IoRequest& request, const InFlight& served) const;
  void ended(std::uint64_t number);
  void end(std::uint64_t number, std::vector<Completion>& out);

  const unsigned depth_;
  std::shared_ptr<Wakeup> wakeup_;
  PoolQueue helper_;
  std::array<std::unique_ptr<stxxl::request_queue_impl_qwqr>, lanes> queues_;

  RequestTable requests_;
  std::vector<InFlight> in_flight_;  // by number
  std::map<const File*, Opened> opened_;
  std::vector<Completion> immediate_;  // decided without the disk

  std::mutex mutex_;
  std::vector<std::uint64_t> ended_;
};

void StxxlQueue::Disks::submit(const IoRequest& request) {
  if (requests_.size() + helper_.in_flight() >= depth_)
    throw InternalError("more I/O requests in flight than the queue was made for");
  if (!suits(request)) return helper_.submit(request);
  const std::uint64_t number = requests_.put(request);
  const std::int64_t available = request.operation == Operation::read ? bytes_after(*request.file, request.offset) : 1;
  if (available <= 0) {  // STXXL takes a read that begins at the end for an error
    immediate_.push_back({requests_.take(number).tag, available});
    return;
  }
  // A descriptor that may not be opened anew (an inherited standard input of somebody else's) is left to the helper.
  if (!start(request, number, available)) helper_.submit(requests_.take(number));
}

bool StxxlQueue::Disks::start(const IoRequest& request, std::uint64_t number, std::int64_t available) {
  Opened& opened = opened_[request.file];
  const std::size_t lane =
      static_cast<std::size_t>(std::min_element(opened.in_flight.begin(), opened.in_flight.end()) - opened.in_flight.begin());
  try {
    if (!opened.handles[lane]) opened.handles[lane] = std::make_unique<Handle>(*request.file);
  } catch (const stxxl::io_error&) {
    if (opened.total == 0) opened_.erase(request.file);
    return false;
  }
  ++opened.in_flight[lane];
  ++opened.total;
  const auto type = request.operation == Operation::read ? stxxl::request::READ : stxxl::request::WRITE;
  const stxxl::completion_handler report(Report{this, number});
  in_flight_[number] = {
      new stxxl::serving_request(report, opened.handles[lane].get(), request.data, request.offset, request.size, type), lane,
      available};
  queues_[lane]->add_request(in_flight_[number].request);
  return true;
}

void StxxlQueue::Disks::ended(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  ended_.push_back(number);
  if (ended_.size() == 1) wakeup_->ring();
}

// STXXL fills what lies behind the end of the file with zeros and calls it read; here that is a short count.
std::int64_t StxxlQueue::Disks::result_of(const IoRequest& request, const InFlight& served) const {
  const auto size = static_cast<std::int64_t>(request.size);
  try {
    served.request->wait(false);  // the disk thread has reported; this waits until it let go of the file
  } catch (const stxxl::io_error& error) {
    if (request.operation == Operation::read && bytes_after(*request.file, request.offset) == 0) return 0;
    return -error_number_of(error);
  }
  if (request.operation == Operation::write) return size;
  return std::min({size, served.available, bytes_after(*request.file, request.offset)});
}

void StxxlQueue::Disks::end(std::uint64_t number, std::vector<Completion>& out) {
  const IoRequest request = requests_.take(number);
  InFlight& served = in_flight_[number];
  out.push_back({request.tag, result_of(request, served)});
  served.request = nullptr;
  const auto opened = opened_.find(request.file);
  --opened->second.in_flight[served.lane];
  if (--opened->second.total == 0) opened_.erase(opened);
}

void StxxlQueue::Disks::reap(std::vector<Completion>& out) {
  out.insert(out.end(), immediate_.begin(), immediate_.end());
  immediate_.clear();
  std::vector<std::uint64_t> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(ended_);
  }
  for (const std::uint64_t number : ended) end(number, out);
  helper_.reap(out);
}

StxxlQueue::StxxlQueue(unsigned depth) {
  silence_logs();
  disks_ = std::make_unique<Disks>(depth);
}

StxxlQueue::~StxxlQueue() = default;

void StxxlQueue::submit(const IoRequest& request) { disks_->submit(request); }

void StxxlQueue::wait(std::vector<Completion>& out, bool block) {
  const std::size_t before = out.size();
  while (true) {
    disks_->reap(out);
    const bool is_notified = disks_->wakeup().take_notification();
    if (!block || is_notified || out.size() > before) return;
    disks_->wakeup().sleep();
  }
}

void StxxlQueue::notify() noexcept { disks_->wakeup().notify(); }

void StxxlQueue::cancel_streams() { disks_->helper().cancel_streams(); }

}  // namespace ecosort::io

ecosort::io::Queue* ecosort_make_stxxl_queue(unsigned depth) { return new ecosort::io::StxxlQueue(depth); }
