#include "base/cancel_scope.h"

#include <algorithm>
#include <utility>

namespace ecosort {

void CancelScope::fail(std::exception_ptr error) noexcept {
  if (failed()) return;
  error_ = std::move(error);
  for (std::deque<Waiter*>* queue : sleepers_) {
    for (Waiter* waiter : *queue) {
      waiter->cancelled = true;
      make_ready(waiter->handle);
    }
    queue->clear();
  }
}

bool CancelScope::run_ready() {
  bool any = false;
  while (!ready_.empty()) {
    const std::coroutine_handle<> handle = ready_.front();
    ready_.pop_front();
    any = true;
    handle.resume();
  }
  return any;
}

Semaphore::Semaphore(CancelScope& scope, std::size_t count) : scope_(scope), free_(count) {
  scope_.sleepers_.push_back(&waiting_);
}
Semaphore::~Semaphore() { std::erase(scope_.sleepers_, &waiting_); }

bool Semaphore::Awaiter::await_ready() {
  slots.scope_.throw_if_failed();
  if (slots.free_ == 0 || slots.handed_over_ > 0) return false;
  --slots.free_;
  return true;
}

// Even with a free slot this one waits for those who have theirs already to continue.
void Semaphore::Awaiter::await_suspend(std::coroutine_handle<> waiting) {
  handle = waiting;
  slots.waiting_.push_back(this);
  slots.hand_over();
}

void Semaphore::Awaiter::await_resume() const {
  if (cancelled) throw Cancelled();
  if (handle) --slots.handed_over_;
}

void Semaphore::give() {
  ++free_;
  hand_over();
}

void Semaphore::hand_over() {
  while (free_ > 0 && !waiting_.empty()) {
    --free_;
    ++handed_over_;
    scope_.make_ready(waiting_.front()->handle);
    waiting_.pop_front();
  }
}

Signal::Signal(CancelScope& scope) : scope_(scope) { scope_.sleepers_.push_back(&waiting_); }
Signal::~Signal() { std::erase(scope_.sleepers_, &waiting_); }

void Signal::Awaiter::await_suspend(std::coroutine_handle<> waiting) {
  handle = waiting;
  signal.waiting_.push_back(this);
}

void Signal::notify() {
  for (const CancelScope::Waiter* waiter : waiting_) scope_.make_ready(waiter->handle);
  waiting_.clear();
}

}  // namespace ecosort
