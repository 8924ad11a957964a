// The compute threads: every part once, failures, order, sleep.
#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ecosort {
namespace {

// From inside a thread pool of so many threads, as the engine does; from outside for 0.
void inside_thread_pool(unsigned threads, const std::function<void()>& work) {
  if (threads == 0) return work();
  ThreadPool thread_pool(threads);
  thread_pool.post(work);
}

std::chrono::nanoseconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

TEST(ThreadPool, RunsEveryPartOnce) {
  for (const unsigned thread_pool : {0U, 1U, 2U, 5U}) {
    for (const std::size_t parts : {0UL, 1UL, 2UL, 7UL, 300UL}) {
      std::vector<std::atomic<int>> seen(parts);
      inside_thread_pool(thread_pool, [&] { ThreadPool::for_each_part(3, parts, [&](std::size_t i) { ++seen[i]; }); });
      for (const std::atomic<int>& times : seen) EXPECT_EQ(times, 1) << thread_pool << " threads, " << parts << " parts";
    }
  }
}

TEST(ThreadPool, RunsLoopsInsideOfParts) {
  for (const unsigned thread_pool : {0U, 1U, 2U, 5U}) {
    std::atomic<int> innermost = 0;
    inside_thread_pool(thread_pool, [&] {
      ThreadPool::for_each_part(4, 6, [&](std::size_t) {
        ThreadPool::for_each_part(4, 5, [&](std::size_t) { ThreadPool::for_each_part(2, 3, [&](std::size_t) { ++innermost; }); });
      });
    });
    EXPECT_EQ(innermost, 6 * 5 * 3) << thread_pool;
  }
}

TEST(ThreadPool, HasTheCallerOfALoopHelpWithALoopInsideOfIt) {
  std::latch both_in_outer(2), both_in_inner(2);
  inside_thread_pool(2, [&] {
    const std::thread::id caller = std::this_thread::get_id();
    ThreadPool::for_each_part(2, 2, [&](std::size_t) {
      both_in_outer.arrive_and_wait();
      if (std::this_thread::get_id() == caller) return;  // has nothing left to do but to wait for the other thread
      ThreadPool::for_each_part(2, 2, [&](std::size_t) { both_in_inner.arrive_and_wait(); });
    });
  });
}

TEST(ThreadPool, HasAllItsThreadsTakeParts) {
  constexpr unsigned threads = 3;
  std::latch all_here(threads);  // no one continues before three parts run at once
  inside_thread_pool(threads,
                     [&] { ThreadPool::for_each_part(threads, threads, [&](std::size_t) { all_here.arrive_and_wait(); }); });
  std::latch all_here_without_a_thread_pool(threads);
  ThreadPool::for_each_part(threads, threads, [&](std::size_t) { all_here_without_a_thread_pool.arrive_and_wait(); });
}

TEST(ThreadPool, OnOneThreadKeepsTheOrder) {
  std::vector<std::size_t> order;
  ThreadPool::for_each_part(1, 4, [&](std::size_t i) { order.push_back(i); });
  {
    ThreadPool thread_pool(1);
    for (std::size_t i = 4; i < 8; ++i) thread_pool.post([&order, i] { order.push_back(i); });
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(ThreadPool, ThrowsTheErrorOfAPartWhenAllHaveEndedAndBeginsNoMore) {
  for (const unsigned thread_pool : {0U, 1U, 2U, 5U}) {
    std::atomic<int> running = 0, begun = 0;
    inside_thread_pool(thread_pool, [&] {
      const auto part = [&](std::size_t i) {
        ++running;
        ++begun;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --running;
        if (i == 3) throw std::runtime_error("part 3");
      };
      EXPECT_THROW(ThreadPool::for_each_part(2, 1000, part), std::runtime_error);
      EXPECT_EQ(running, 0);
      EXPECT_LT(begun, 1000);
      ThreadPool::for_each_part(2, 2, [&](std::size_t) { begun = -1; });
      EXPECT_EQ(begun, -1) << "the thread pool continues";
    });
  }
}

TEST(ThreadPool, TakesWhatIsPostedBeforeThePartsOfALoop) {
  std::atomic<int> parts_begun = 0;
  std::atomic<bool> posted_first = false;
  std::latch other_is_busy(1), caller_is_in_part(1), work_was_posted(1), work_is_done(1);
  {
    ThreadPool thread_pool(2);
    thread_pool.post([&] {
      other_is_busy.wait();
      ThreadPool::for_each_part(2, 3, [&](std::size_t) {
        if (++parts_begun > 1) return;
        caller_is_in_part.count_down();
        work_is_done.wait();  // two parts are left when the other thread comes
      });
    });
    thread_pool.post([&] {
      other_is_busy.count_down();
      caller_is_in_part.wait();
      work_was_posted.wait();
    });
    thread_pool.post([&] {
      posted_first = parts_begun == 1;
      work_is_done.count_down();
    });
    work_was_posted.count_down();
  }
  EXPECT_TRUE(posted_first);
  EXPECT_EQ(parts_begun, 3);
}

TEST(ThreadPool, EndsWhenAllThatWasPostedIsDone) {
  std::atomic<int> done = 0;
  {
    ThreadPool thread_pool(2);
    for (int i = 0; i < 500; ++i) thread_pool.post([&] { ++done; });
  }
  EXPECT_EQ(done, 500);
}

TEST(ThreadPool, SleepsWithoutWork) {
  constexpr unsigned threads = 4;
  ThreadPool thread_pool(threads);
  std::latch all_here(threads + 1);
  for (unsigned i = 0; i < threads; ++i) thread_pool.post([&] { all_here.arrive_and_wait(); });
  all_here.arrive_and_wait();
  const auto before = cpu_time();
  for (int i = 0; i < 100; ++i) {  // a little work now and then, as from a drive
    thread_pool.post([] {});
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_LT(cpu_time() - before, std::chrono::milliseconds(40));
}

TEST(ThreadPool, LeavesSignalsToTheProgram) {
  std::atomic<bool> blocked = false;
  {
    ThreadPool thread_pool(1);
    thread_pool.post([&] {
      sigset_t mask;
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      blocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1;
    });
  }
  EXPECT_TRUE(blocked);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 0);
}

}  // namespace
}  // namespace ecosort
