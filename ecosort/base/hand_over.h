// What a library without instrumentation orders, told to ThreadSanitizer; nothing in other builds.
#pragma once

#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace ecosort {

// A point that threads pass through: what was done before give() is seen after take(). The library that hands the work over must
// order them; this does not.
class HandOver {
 public:
#ifdef __SANITIZE_THREAD__
  void give() noexcept { __tsan_release(this); }
  void take() noexcept { __tsan_acquire(this); }
#else
  void give() noexcept {}
  void take() noexcept {}
#endif
};

}  // namespace ecosort
