// Coroutines of one coordinator thread, so that an overlapped stage reads like the sentence that describes it.
//
// A Task starts when it is awaited (or spawned into a TaskGroup) and always runs on the coordinator; nothing here is
// thread-safe. Failure is collective: the first error closes the CancelScope, everybody who waits on a Signal or Semaphore is
// resumed with Cancelled, work in flight is awaited, frames unwind in the ordinary way, and the first error is rethrown once.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "base/cancel_scope.h"

namespace ecosort {

template <class T = void>
class Task;

namespace detail {

struct PromiseBase {
  std::coroutine_handle<> continuation = std::noop_coroutine();
  std::exception_ptr error;

  struct Final {
    bool await_ready() noexcept { return false; }
    template <class P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> self) noexcept {
      return self.promise().continuation;
    }
    void await_resume() noexcept {}
  };
  std::suspend_always initial_suspend() noexcept { return {}; }
  Final final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() {
    if (error) std::rethrow_exception(error);
    return std::move(*value);
  }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  void take() const {
    if (error) std::rethrow_exception(error);
  }
};

}  // namespace detail

// A lazily started coroutine with one awaiter. Move-only; owns its frame.
template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) noexcept : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  auto operator co_await() noexcept {
    struct Awaiter {
      Handle handle;
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) noexcept {
        handle.promise().continuation = waiter;
        return handle;
      }
      T await_resume() { return handle.promise().take(); }
    };
    return Awaiter{handle_};
  }

 private:
  Handle handle_;
};

template <class T>
Task<T> detail::Promise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> detail::Promise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

// Runs tasks side by side. An error of any of them fails the cancel scope. join() or settle() must be awaited before the group
// dies, also on the error path. A task that spawns others into its own group needs no catch for them: where it fails they are
// woken, and the group is joined when all of them are gone.
class TaskGroup {
 public:
  explicit TaskGroup(CancelScope& scope) : scope_(scope) {}
  void spawn(Task<void> task);
  [[nodiscard]] Task<void> settle();  // waits for every task; throws nothing: the cancel scope knows the error
  [[nodiscard]] Task<void> join();    // the same, then throws Cancelled if the cancel scope failed
  [[nodiscard]] std::size_t running() const noexcept { return running_; }

 private:
  struct Detached {
    struct promise_type {
      Detached get_return_object() noexcept { return {}; }
      std::suspend_never initial_suspend() noexcept { return {}; }
      std::suspend_never final_suspend() noexcept { return {}; }
      void return_void() noexcept {}
      void unhandled_exception() noexcept { std::terminate(); }
    };
  };
  static Detached drive(TaskGroup& group, Task<void> task);

  CancelScope& scope_;
  std::size_t running_ = 0;
  std::coroutine_handle<> joiner_;
};

}  // namespace ecosort
