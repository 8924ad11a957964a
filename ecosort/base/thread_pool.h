// The compute threads: a thread pool of fixed size that sleeps until there is work.
//
// Work comes from outside one piece after the other (post), and from inside as loops whose parts are taken by threads that are
// free (for_each_part). A thread that is free takes what is posted before the parts of loops, because I/O waits for it. A thread
// without work sleeps at once: one that looks around for a while first takes CPU time from a sort that waits for its drives.
// Threads have the stacks of base/threads.h.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ecosort {

class ThreadPool {
 public:
  // Starts the threads (1 or more), all signals blocked. IoError if the system refuses one.
  explicit ThreadPool(unsigned threads);

  // After all that was posted is done.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Runs `work`, which does not throw, on one of the threads, first come first served. Thread-safe.
  void post(std::function<void()> work);

  using Part = std::function<void(std::size_t)>;

  // part(i) for i in 0..parts): on the calling thread and on those of its thread pool that are free, whatever `threads` > 1 says;
  // a caller of no thread pool gets `threads` - 1 helpers for the time of the call. Returns when every part has ended. After an
  // exception no further part begins, and the first one is thrown. A part may call this again.
  static void for_each_part(unsigned threads, std::size_t parts, const Part& part);

 private:
  struct Loop;

  void work();
  void run_loop(std::size_t parts, const Part& part);
  void run_part(Loop& loop, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] Loop* open_loop(const Loop* outside_of = nullptr) const;
  void wake(std::size_t threads);
  void stop();

  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::size_t asleep_ = 0;
  std::size_t at_work_ = 0;  // threads that run what was posted, which may begin loops
  bool stopping_ = false;
  std::deque<std::function<void()>> posted_;
  std::vector<Loop*> loops_;
  std::vector<std::thread> threads_;
};

}  // namespace ecosort
