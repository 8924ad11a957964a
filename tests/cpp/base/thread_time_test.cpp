// Threads learn from the system how long they computed, and how long they could have.
#include "base/thread_time.h"

#include <gtest/gtest.h>

namespace ecosort {
namespace {

TEST(ThreadTime, ASchedstatHasNanosecondsComputedAndReady) {
  const ThreadTimes times = thread_times_of("44525417 1690925426 686\n");
  EXPECT_DOUBLE_EQ(times.computed_s, 0.044525417);
  EXPECT_DOUBLE_EQ(times.ready_s, 1.690925426);
  const ThreadTimes none = thread_times_of("");
  EXPECT_EQ(none.computed_s, 0);
  EXPECT_EQ(none.ready_s, 0);
}

TEST(ThreadTime, AThreadThatComputesSeesItsTimePass) {
  const OwnThreadTimes own;
  const ThreadTimes begin = own.now();
  while (thread_cpu_s() < begin.computed_s + 1e-4) continue;
  const ThreadTimes end = own.now();
  EXPECT_GE(end.computed_s, begin.computed_s + 1e-4);
  EXPECT_GE(end.ready_s, begin.ready_s);
}

}  // namespace
}  // namespace ecosort
