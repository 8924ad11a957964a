// People read of a job's progress: never backwards, never wider than the terminal.
#include "cli/progress_text.h"

#include <gtest/gtest.h>

#include "engine/progress.h"

namespace ecosort::cli {
namespace {

using engine::Phase;
using engine::Progress;

ProgressWords words(double percent, double left_s) {
  ProgressWords words;
  words.now = {Phase::run_formation, 50, 100, 1, 2, 0.25};
  words.percent = percent;
  words.left_s = left_s;
  words.megabytes_per_s = 512;
  return words;
}

TEST(ProgressText, SaysPhasePercentRateAndTimeLeftInPlainWords) {
  EXPECT_EQ(progress_text(words(41.9, 79.2), 80), "phase 1 of 2: reading and sorting, 41 %, 512 MB/s, 1 min 20 s left");
  EXPECT_EQ(progress_text(words(0, 12), 200), "phase 1 of 2: reading and sorting, 0 %, 512 MB/s, 12 s left");
}

TEST(ProgressText, IsShorterThanAnyTerminal) {
  for (const double left : {1.0, 3599.0, 90'000.0})
    for (std::size_t columns = 1; columns <= 120; ++columns) EXPECT_LT(progress_text(words(99, left), columns).size(), columns);
  const std::string narrow = progress_text(words(41, 79), 30);
  EXPECT_NE(narrow.find("41 %"), std::string::npos);
  EXPECT_NE(narrow.find("left"), std::string::npos);
}

TEST(ProgressText, OfAStreamSaysHowMuchCame) {
  ProgressWords stream = words(0, 0);
  stream.percent = stream.left_s = std::nullopt;
  stream.now.bytes = 1'234'567'890;
  stream.now.phases = 1;
  EXPECT_EQ(progress_text(stream, 80), "phase 1: reading and sorting, 1.2 GB, 512 MB/s");
}

TEST(SummaryText, LosesItsEndWhereThereIsNoRoom) {
  const JobSummary summary{"sorted", 10'000'000'000, "100000000 records"};
  EXPECT_EQ(summary_text(summary, 20.08, 80), "sorted 10.0 GB in 20.1 s, 498 MB/s, 100000000 records");
  EXPECT_EQ(summary_text(summary, 20.08, 40), "sorted 10.0 GB in 20.1 s, 498 MB/s");
  EXPECT_EQ(summary_text(summary, 20.08, 30), "sorted 10.0 GB in 20.1 s");
  EXPECT_EQ(summary_text({"made", 1, ""}, 0.01, 80), "made 1 byte in 0.0 s, 0 MB/s");
}

// A drive that stalls.
TEST(JobPace, PercentNeverGoesBackwards) {
  JobPace pace;
  double percent = 0;
  const double shares[] = {0, 0.02, 0.3, 0.3, 0.3, 0.25, 0.31, 0.9, 0.9, 1};
  for (double now = 0; const double share : shares) {
    pace.update({Phase::merge, 1, 2, 1, 2, share}, now += 3);
    ASSERT_TRUE(pace.percent());
    EXPECT_GE(*pace.percent(), percent);
    EXPECT_LT(*pace.percent(), 100);
    percent = *pace.percent();
  }
  pace.update({Phase::done, 0, 0, 2, 2, 1}, 100);
  EXPECT_EQ(pace.percent(), 100);
}

// Reading is faster than merging: what a merge takes shows in the merge. One estimate is shown, so that in the last phase the job
// and the phase end at the same time.
TEST(JobPace, TimeLeftFollowsThePaceOfThePhase) {
  JobPace pace;
  pace.update({Phase::recheck, 0, 100, 2, 3, 0.5, 0.6}, 0);
  EXPECT_FALSE(pace.left_s());
  pace.update({Phase::recheck, 50, 100, 2, 3, 0.55, 0.6}, 1);
  EXPECT_NEAR(pace.left_s().value_or(0), 9, 1e-6);
  EXPECT_NEAR(pace.phase_left_s().value_or(0), 1, 1e-6);
  pace.update({Phase::merge, 0, 400, 3, 3, 0.6, 1}, 2);  // the pace of the phase before, until the merge has its own
  EXPECT_NEAR(pace.left_s().value_or(0), 8, 1e-6);
  pace.update({Phase::merge, 200, 400, 3, 3, 0.8, 1}, 22);
  EXPECT_NEAR(pace.left_s().value_or(0), 20, 1e-6);
  EXPECT_EQ(pace.left_s(), pace.phase_left_s());
}

TEST(JobPace, OfAJobThatGoesOnCountsWhatWasDoneBefore) {
  JobPace pace;
  pace.update({Phase::merge, 0, 2, 2, 2, 0.5}, 1);
  EXPECT_EQ(pace.percent(), 50);
  pace.update({Phase::merge, 1, 2, 2, 2, 0.75}, 11);  // a quarter took 10 s
  EXPECT_NEAR(pace.left_s().value_or(0), 10, 1e-6);
}

TEST(Progress, SharesOfPhasesMakeTheJob) {
  Progress progress;
  EXPECT_LT(progress.read().share, 0);
  progress.plan_job(3, 400);
  progress.begin(Phase::run_formation, 100, 100);
  progress.add_bytes(50);
  EXPECT_DOUBLE_EQ(progress.read().share, 0.125);
  EXPECT_EQ(progress.read().number, 1U);
  for (int step = 0; step < 2; ++step) {  // have one number
    progress.begin(Phase::intermediate_merge, 50, 50);
    EXPECT_EQ(progress.read().number, 2U);
  }
  progress.add_bytes(1000);  // more than was expected
  EXPECT_DOUBLE_EQ(progress.read().share, 0.5);
  EXPECT_EQ(progress.job_bytes_left(), 200U);
  progress.begin(Phase::merge, 100, 200);
  EXPECT_DOUBLE_EQ(progress.read().share, 0.5);
  EXPECT_EQ(progress.read().number, 3U);
  EXPECT_EQ(progress.read().phases, 3U);
  progress.begin(Phase::sync, 0);
  EXPECT_DOUBLE_EQ(progress.read().share, 1);
  EXPECT_EQ(progress.read().number, 3U);
}

}  // namespace
}  // namespace ecosort::cli
