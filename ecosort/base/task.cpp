#include "base/task.h"

#include <algorithm>

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
  if (slots.free_ == 0 || !slots.waiting_.empty()) return false;
  --slots.free_;
  return true;
}

void Slots::Awaiter::await_suspend(std::coroutine_handle<> waiting) {
  handle = waiting;
  slots.waiting_.push_back(this);
}

void Slots::give() {
  if (waiting_.empty()) {
    ++free_;
    return;
  }
  gate_.make_ready(waiting_.front()->handle);
  waiting_.pop_front();
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

TaskGroup::Detached TaskGroup::drive(TaskGroup& group, Task<void> task) {
  try {
    co_await task;
  } catch (const Cancelled&) {  // the first error is known already
  } catch (...) {
    group.gate_.fail(std::current_exception());
  }
  --group.running_;
  if (group.running_ == 0 && group.joiner_) group.gate_.make_ready(std::exchange(group.joiner_, {}));
}

void TaskGroup::spawn(Task<void> task) {
  ++running_;
  drive(*this, std::move(task));
}

Task<void> TaskGroup::join() {
  struct AllDone {  // unlike a Signal, not cut short by a failure: the tasks must really be gone
    TaskGroup& group;
    [[nodiscard]] bool await_ready() const noexcept { return group.running_ == 0; }
    void await_suspend(std::coroutine_handle<> waiting) const noexcept { group.joiner_ = waiting; }
    void await_resume() const noexcept {}
  };
  AllDone all_done{*this};
  co_await all_done;
  gate_.throw_if_failed();
}

}  // namespace ecosort
