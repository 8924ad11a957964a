// The compute threads: one thread pool of the plan's size. It only computes; no work in it ever waits for I/O.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "base/thread_pool.h"
#include "io/reactor.h"

namespace ecosort::engine {

// run(f) is awaited on the coordinator; f runs in the thread pool (and may use parallel loops there), then the coordinator goes
// on. With `threads` == 0 everything runs at once on the coordinator itself, for small inputs.
class Compute {
 public:
  Compute(io::Reactor& reactor, unsigned threads) : reactor_(reactor), threads_(threads) {
    if (threads > 0) thread_pool_.emplace(threads);
  }

  // Another number of threads from now on, for the next phase. No work may be under way.
  void use(unsigned threads) {
    if (threads_ == 0 || threads == threads_) return;
    thread_pool_.emplace(threads);
    threads_ = threads;
  }

  [[nodiscard]] unsigned threads() const noexcept { return threads_ == 0 ? 1 : threads_; }

  template <class F>
  class Awaiter {
   public:
    Awaiter(Compute& compute, F work, bool here) : compute_(compute), work_(std::move(work)), here_(here) {}
    [[nodiscard]] bool await_ready() {
      compute_.reactor_.scope().throw_if_failed();
      if (!here_) return false;
      perform();
      return true;
    }
    void await_suspend(std::coroutine_handle<> waiting) {
      compute_.thread_pool_->post([this, waiting] {
        perform();
        compute_.reactor_.post(waiting);
      });
    }
    void await_resume() const {
      if (error_) std::rethrow_exception(error_);
    }

   private:
    void perform() noexcept {
      try {
        work_();
      } catch (...) {
        error_ = std::current_exception();
      }
    }
    Compute& compute_;
    F work_;
    bool here_;
    std::exception_ptr error_;
  };

  // Keep the awaiter in a variable before awaiting it: `auto work = compute.run(...); co_await work;`
  template <class F>
  [[nodiscard]] Awaiter<F> run(F work) {
    return Awaiter<F>(*this, std::move(work), threads_ == 0);
  }

  // Runs work on `bytes` of data: what is done sooner than a thread is woken, the coordinator does itself.
  template <class F>
  [[nodiscard]] Awaiter<F> run(F work, std::uint64_t bytes) {
    return Awaiter<F>(*this, std::move(work), threads_ == 0 || bytes < least_bytes_worth_a_thread);
  }

 private:
  // A wake-up and the way back cost 10-20 us; a checksum or a gather of this much costs less.
  static constexpr std::uint64_t least_bytes_worth_a_thread = std::uint64_t{64} * 1024;

  io::Reactor& reactor_;
  unsigned threads_;
  std::optional<ThreadPool> thread_pool_;
};

}  // namespace ecosort::engine
