// Wakes the one thread that sleeps for a queue: an eventfd, and a flag that marks a notification among other wake-ups.
#pragma once

#include <atomic>

#include "base/descriptor.h"

namespace ecosort::io {

class Wakeup {
 public:
  Wakeup();  // IoError where no descriptor is left

  // Ends the present or the next sleep(). Async-signal-safe and thread-safe, both.
  void ring() noexcept;
  void notify() noexcept;  // a ring() that take_notification() will report

  // For the thread that sleeps:
  [[nodiscard]] bool take_notification() noexcept { return notified_.exchange(false); }
  void sleep() noexcept;  // until rung since the last sleep(); a signal or an old ring may end it early, so check and sleep again
  [[nodiscard]] int fd() const noexcept { return event_.get(); }  // readable when rung

 private:
  Descriptor event_;
  std::atomic<bool> notified_{false};
  static_assert(std::atomic<bool>::is_always_lock_free, "notify() is called from signal handlers");
};

}  // namespace ecosort::io
