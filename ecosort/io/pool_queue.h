// Backend "pool": a few threads that sleep in pread and pwrite. Works on every kernel; takes over where io_uring is refused.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "io/queue.h"
#include "io/stream_order.h"
#include "io/wakeup.h"

namespace ecosort::io {

class PoolQueue : public Queue {
 public:
  static constexpr unsigned most_threads = 8;
  // at_once: submit() itself serves what cannot keep it waiting for somebody else: files, and of a write to a pipe or the like
  // what fits into it now. For inputs that are read sooner than a thread is woken.
  enum class Service : std::uint8_t { by_threads, at_once };

  // Threads, with all signals blocked, start when all others are busy, up to min(depth, most_threads); by_threads: the first one
  // at once. `wakeup`: shared with another queue that sleeps for this one too; without it, its own. IoError, also from submit(),
  // if not one thread can be started.
  explicit PoolQueue(unsigned depth, std::shared_ptr<Wakeup> wakeup = nullptr, Service service = Service::by_threads);
  ~PoolQueue() override;

  [[nodiscard]] const char* backend_name() const noexcept override { return "pool"; }
  void submit(const IoRequest& request) override;
  void wait(std::vector<Completion>& out, bool block) override;
  void notify() noexcept override { wakeup_->notify(); }
  void cancel_streams() override;

  // Appends what has completed; neither sleeps nor takes notifications.
  void reap(std::vector<Completion>& out);
  [[nodiscard]] unsigned in_flight() const noexcept { return in_flight_; }  // submitted and not yet reaped

 private:
  struct Work {
    IoRequest request;
    std::size_t done = 0;  // bytes of a write to a stream that submit() wrote itself
  };

  void hand_over(const Work& work);
  void start_thread();
  void start_thread_if_all_are_busy(std::ptrdiff_t waiting, std::ptrdiff_t idle);
  void serve();
  void finish(const IoRequest& request, std::int64_t result);
  [[nodiscard]] std::optional<std::int64_t> error_on(const IoRequest& request) const;

  const unsigned depth_;
  const Service service_;
  std::size_t most_;        // threads; fewer than asked for where the system has no more
  unsigned in_flight_ = 0;  // the coordinator's
  std::shared_ptr<Wakeup> wakeup_;
  Wakeup cancelled_;  // rung once, never answered: every later wait on a stream sees it

  std::mutex mutex_;
  std::condition_variable work_;
  bool stopping_ = false;
  std::ptrdiff_t idle_ = 0;  // threads that wait for work; one that begins with work before it is counted is a debt
  std::deque<Work> ready_;
  StreamOrder streams_;
  std::vector<Completion> done_;
  std::vector<std::pair<const File*, std::int64_t>> broken_;  // streams with a write among done_ that failed, and how

  std::vector<std::thread> threads_;
};

}  // namespace ecosort::io
