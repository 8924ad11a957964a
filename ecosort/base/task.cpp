#include "base/task.h"

namespace ecosort {

TaskGroup::Detached TaskGroup::drive(TaskGroup& group, Task<void> task) {
  try {
    co_await task;
  } catch (const Cancelled&) {  // the first error is known already
  } catch (...) {
    group.scope_.fail(std::current_exception());
  }
  --group.running_;
  if (group.running_ == 0 && group.joiner_) group.scope_.make_ready(std::exchange(group.joiner_, {}));
}

void TaskGroup::spawn(Task<void> task) {
  ++running_;
  drive(*this, std::move(task));
}

Task<void> TaskGroup::settle() {
  struct AllDone {  // unlike a Signal, not cut short by a failure: the tasks must really be gone
    TaskGroup& group;
    [[nodiscard]] bool await_ready() const noexcept { return group.running_ == 0; }
    void await_suspend(std::coroutine_handle<> waiting) const noexcept { group.joiner_ = waiting; }
    void await_resume() const noexcept {}
  };
  AllDone all_done{*this};
  co_await all_done;
}

Task<void> TaskGroup::join() {
  co_await settle();
  scope_.throw_if_failed();
}

}  // namespace ecosort
