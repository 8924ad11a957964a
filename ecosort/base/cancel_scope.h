// Coroutines of one coordinator thread wait for these, and a failure wakes them all.
//
// Nothing here is thread-safe. The first error closes the CancelScope: everybody who waits on a Signal or Semaphore is resumed
// with Cancelled.
#pragma once

#include <coroutine>
#include <cstddef>
#include <deque>
#include <exception>
#include <vector>

namespace ecosort {

// Thrown out of every wait after a failure elsewhere; carries nothing because the first error is kept by the CancelScope.
struct Cancelled : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "cancelled"; }
};

// Keeps the first error of a run and knows everyone who sleeps, so that a failure wakes them all.
class CancelScope {
 public:
  // Base of everything that suspends on something other than I/O or computation.
  struct Waiter {
    std::coroutine_handle<> handle;
    bool cancelled = false;
  };

  void fail(std::exception_ptr error) noexcept;
  [[nodiscard]] bool failed() const noexcept { return static_cast<bool>(error_); }
  void throw_if_failed() const {
    if (failed()) throw Cancelled();
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

  // Coroutines made ready are resumed by the coordinator's loop, in order, never from inside each other.
  void make_ready(std::coroutine_handle<> handle) { ready_.push_back(handle); }
  [[nodiscard]] bool run_ready();  // resumes all that are ready; false if there was none

 private:
  friend class Semaphore;
  friend class Signal;
  std::exception_ptr error_;
  std::deque<std::coroutine_handle<>> ready_;
  std::vector<std::deque<Waiter*>*> sleepers_;  // the queues of all living Semaphore and Signals
};

// A counted resource (free buffers, requests allowed in flight), first come first served: who took a slot continues before
// everybody who asked later, so that requests leave in the order in which they were made. Streams depend on that.
class Semaphore {
 public:
  Semaphore(CancelScope& scope, std::size_t count);
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  struct Awaiter : CancelScope::Waiter {
    Semaphore& slots;
    explicit Awaiter(Semaphore& s) : slots(s) {}
    bool await_ready();
    void await_suspend(std::coroutine_handle<> waiting);
    void await_resume() const;
  };
  [[nodiscard]] Awaiter take() { return Awaiter(*this); }
  void give();
  [[nodiscard]] std::size_t free() const noexcept { return free_; }

 private:
  void hand_over();

  CancelScope& scope_;
  std::size_t free_;             // no one waits while there are any
  std::size_t handed_over_ = 0;  // to those who waited and have yet to continue
  std::deque<CancelScope::Waiter*> waiting_;
};

// "Something changed": wakes everyone who waits; they look again at the state they care about.
class Signal {
 public:
  explicit Signal(CancelScope& scope);
  ~Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  struct Awaiter : CancelScope::Waiter {
    Signal& signal;
    explicit Awaiter(Signal& s) : signal(s) {}
    bool await_ready() {
      signal.scope_.throw_if_failed();
      return false;
    }
    void await_suspend(std::coroutine_handle<> waiting);
    void await_resume() const {
      if (cancelled) throw Cancelled();
    }
  };
  [[nodiscard]] Awaiter changed() { return Awaiter(*this); }
  void notify();

 private:
  CancelScope& scope_;
  std::deque<CancelScope::Waiter*> waiting_;
};

}  // namespace ecosort
