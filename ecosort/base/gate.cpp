#include "base/gate.h"

#include <algorithm>
#include <utility>

namespace ecosort {

void Gate::fail(std::exception_ptr error) noexcept {
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

bool Gate::run_ready() {
  bool any = false;
  while (!ready_.empty()) {
    const std::coroutine_handle<> handle = ready_.front();
    ready_.pop_front();
    any = true;
    handle.resume();
  }
  return any;
}

Slots::Slots(Gate& gate, std::size_t count) : gate_(gate), free_(count) { gate_.sleepers_.push_back(&waiting_); }
Slots::~Slots() { std::erase(gate_.sleepers_, &waiting_); }

bool Slots::Awaiter::await_ready() {
  slots.gate_.throw_if_failed();
  if (slots.free_ == 0 || slots.handed_over_ > 0) return false;
  --slots.free_;
  return true;
}

// Even with a free slot this one waits for those who have theirs already to go on.
void Slots::Awaiter::await_suspend(std::coroutine_handle<> waiting) {
  handle = waiting;
  slots.waiting_.push_back(this);
  slots.hand_over();
}

void Slots::Awaiter::await_resume() const {
  if (cancelled) throw Cancelled();
  if (handle) --slots.handed_over_;
}

void Slots::give() {
  ++free_;
  hand_over();
}

void Slots::hand_over() {
  while (free_ > 0 && !waiting_.empty()) {
    --free_;
    ++handed_over_;
    gate_.make_ready(waiting_.front()->handle);
    waiting_.pop_front();
  }
}

Signal::Signal(Gate& gate) : gate_(gate) { gate_.sleepers_.push_back(&waiting_); }
Signal::~Signal() { std::erase(gate_.sleepers_, &waiting_); }

void Signal::Awaiter::await_suspend(std::coroutine_handle<> waiting) {
  handle = waiting;
  signal.waiting_.push_back(this);
}

void Signal::notify() {
  for (const Gate::Waiter* waiter : waiting_) gate_.make_ready(waiter->handle);
  waiting_.clear();
}

}  // namespace ecosort
