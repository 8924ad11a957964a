#include "base/threads.h"

#include <fmt/format.h>
#include <malloc.h>
#include <pthread.h>

#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "base/errors.h"

namespace ecosort {

void keep_threads_small() {
  mallopt(M_ARENA_MAX, 1);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  if (pthread_attr_setstacksize(&attributes, thread_stack_bytes) == 0) pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

void check_threads_can_start(unsigned threads, const char* option) {
  std::latch all_asked_for(1);
  std::vector<std::jthread> thread_pool;
  thread_pool.reserve(threads);
  std::error_code refusal;
  try {
    while (thread_pool.size() < threads) thread_pool.emplace_back([&all_asked_for] { all_asked_for.wait(); });
  } catch (const std::system_error& error) {
    refusal = error.code();
  }
  all_asked_for.count_down();
  if (refusal)
    throw UsageError(
        fmt::format("only {} of {} threads can be started: {}; allow more (ulimit -u, ulimit -v, the control group's "
                    "pids.max) or give a smaller {}",
                    thread_pool.size(), threads, refusal.message(), option));
}

}  // namespace ecosort
