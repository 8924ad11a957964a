#include "base/thread_pool.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "base/blocked_signals.h"
#include "base/errors.h"

namespace ecosort {
namespace {

thread_local ThreadPool* thread_pool_of_this_thread = nullptr;

class Membership {
 public:
  explicit Membership(ThreadPool* thread_pool) noexcept { thread_pool_of_this_thread = thread_pool; }
  ~Membership() { thread_pool_of_this_thread = nullptr; }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;
};

}  // namespace

// On the stack of its caller, who takes parts like all others and continues when the last one has ended.
struct ThreadPool::Loop {
  const Part& part;
  std::size_t parts;
  std::size_t next = 0;  // the first part that no one has taken
  std::size_t running = 0;
  std::exception_ptr error{};
  std::condition_variable changed{};  // for its caller: the last part has ended, or there is a younger loop

  [[nodiscard]] bool has_parts() const noexcept { return next < parts; }
};

ThreadPool::ThreadPool(unsigned threads) {
  const BlockedSignals blocked;
  threads_.reserve(threads);
  try {
    while (threads_.size() < threads) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    stop();
    throw IoError::from_call("start", "a compute thread", error.code().value());
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(work));
  wake(1);
}

void ThreadPool::wake(std::size_t threads) {
  for (threads = std::min(threads, asleep_); threads > 0; --threads) wake_.notify_one();
}

void ThreadPool::work() {
  const Membership member(this);
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!posted_.empty()) {
      const std::function<void()> work = std::move(posted_.front());
      posted_.pop_front();
      ++at_work_;
      lock.unlock();
      work();
      lock.lock();
      if (--at_work_ == 0 && stopping_) wake_.notify_all();
    } else if (Loop* const loop = open_loop()) {
      run_part(*loop, lock);
    } else if (stopping_ && at_work_ == 0) {
      return;
    } else {
      ++asleep_;
      wake_.wait(lock);
      --asleep_;
    }
  }
}

// The youngest first: others wait for it. Only those that are younger than `outside_of`, if that is given.
ThreadPool::Loop* ThreadPool::open_loop(const Loop* outside_of) const {
  for (auto loop = loops_.rbegin(); loop != loops_.rend() && *loop != outside_of; ++loop) {
    if ((*loop)->has_parts()) return *loop;
  }
  return nullptr;
}

void ThreadPool::run_part(Loop& loop, std::unique_lock<std::mutex>& lock) {
  const std::size_t part = loop.next++;
  ++loop.running;
  lock.unlock();
  std::exception_ptr error;
  try {
    loop.part(part);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  if (error) {
    if (!loop.error) loop.error = error;
    loop.next = loop.parts;
  }
  if (--loop.running == 0 && !loop.has_parts()) loop.changed.notify_one();
}

void ThreadPool::run_loop(std::size_t parts, const Part& part) {
  Loop loop{.part = part, .parts = parts};
  {
    std::unique_lock lock(mutex_);
    for (Loop* older : loops_) older->changed.notify_one();
    loops_.push_back(&loop);
    wake(parts - 1);
    while (loop.has_parts()) run_part(loop, lock);
    while (loop.running > 0) {  // perhaps a loop inside of those parts wants help
      if (Loop* const inner = open_loop(&loop))
        run_part(*inner, lock);
      else
        loop.changed.wait(lock);
    }
    std::erase(loops_, &loop);
  }
  if (loop.error) std::rethrow_exception(loop.error);
}

void ThreadPool::for_each_part(unsigned threads, std::size_t parts, const Part& part) {
  if (threads <= 1 || parts <= 1) {
    for (std::size_t i = 0; i < parts; ++i) part(i);
  } else if (thread_pool_of_this_thread != nullptr) {
    thread_pool_of_this_thread->run_loop(parts, part);
  } else {
    ThreadPool helpers(static_cast<unsigned>(std::min<std::size_t>(threads, parts)) - 1);
    const Membership member(&helpers);
    helpers.run_loop(parts, part);
  }
}

}  // namespace ecosort
