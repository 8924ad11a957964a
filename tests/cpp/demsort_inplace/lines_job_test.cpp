// The resumable sort of lines as a whole: the right result, what it costs, and what happens when something fails on the way.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/errors.h"
#include "cpp/demsort_inplace/lines_job_harness.h"
#include "cpp/support/fault_sweep.h"
#include "cpp/support/sync_sweep.h"
#include "cpp/support/watchdog.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/line_runs.h"
#include "demsort_inplace/recheck.h"
#include "doubles/crash_model.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"

namespace ecosort::inplace {

namespace {

using io::Effect;
using io::FaultPoint;
using io::Role;

// A sort that fails at this point, on a disk of its own.
struct Broken {
  Broken(const SmallLines& sort, Role role, FaultPoint point, std::uint64_t nth, int error = EIO)
      : disk(sort.disk(), {.records_events = false}),
        plan({{role, point, nth, {.kind = Effect::Kind::error, .number = error}}}),
        storage(disk.store, plan),
        queue(*disk.queue, plan) {
    EXPECT_THROW((void)LinesMachine(storage, queue).start(sort), IoError);
    EXPECT_EQ(plan.fired(), 1U);
  }
  LinesDisk disk;
  io::FaultPlan plan;
  io::FaultyStorage storage;
  io::FaultyQueue queue;
};

// Records of the journal about runs that the sort leaves.
std::uint64_t run_records(const SmallLines& sort) {
  LinesDisk disk(sort.disk(), {.records_events = false});
  return LinesMachine::run_records(disk.machine.start(sort), sort);
}

// Brings to an end what is left on the disk, which is sound again.
Left bring_to_an_end(LinesDisk& disk, const SmallLines& sort) {
  JobStatus status = disk.machine.look();
  const JobStatus::Kind kind = status.kind;
  const bool is_job = kind == JobStatus::Kind::under_way || kind == JobStatus::Kind::complete;
  if (is_job) {
    status = {};  // it holds the job
    (void)disk.machine.resume();
  } else if (kind != JobStatus::Kind::none) {
    discard(sort_output, std::move(status), disk.store);
  }
  const io::DiskImage now = disk.store.snapshot();
  if (sort.holds_only(now, sort.sorted())) return Left::sorted;
  return !is_job && sort.holds_only(now, sort.previous()) ? Left::untouched : Left::something_else;
}

}  // namespace

TEST(LinesJob, SortsAndLeavesNothingBehind) {
  for (const SmallLines& sort : small_lines()) {
    for (const std::uint64_t seed : {1U, 2U}) {
      LinesDisk disk(sort.disk(), {.seed = seed, .records_events = false});
      const lines::LinesReport report = disk.machine.start(sort);
      EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.sorted())) << sort.name();
      EXPECT_EQ(report.output_bytes, sort.sorted().size());
      EXPECT_EQ(report.dropped > 0, sort.job().unique);
      EXPECT_EQ(report.merges > 0, sort.most_merged == 2) << sort.name();
      EXPECT_FALSE(report.resumed);
      EXPECT_EQ(disk.store.open_files(), 0U);
    }
  }
}

TEST(LinesJob, StaysWithinRunsOutputAndJournalOnADiskThatHasNoMore) {
  for (const SmallLines& sort : small_lines()) {
    LinesDisk probe(sort.disk(), {.records_events = false});
    const lines::LinesReport report = probe.machine.start(sort);
    const std::uint64_t output = round_up(sort.input_bytes() + sort.inputs.size(), page_bytes);
    const std::uint64_t growth = (report.runs + report.merges + 4) * page_bytes;  // of the journal
    const std::uint64_t inputs = sort.input_bytes() + sort.inputs.size() * page_bytes;
    const std::uint64_t bound = inputs + report.peak_temp_bytes + output + growth + 2 * page_bytes;
    LinesDisk disk(sort.disk(), {.capacity_bytes = bound, .records_events = false});
    EXPECT_NO_THROW((void)disk.machine.start(sort)) << sort.name();
    EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.sorted())) << sort.name();
  }
}

// Once for each thing that can fail, for a moment and for good: the sort ends with one error and can be resumed, or has left
// nothing.
TEST(LinesJob, EveryFailureLeavesAJobThatCanBeResumedOrNothing) {
  Watchdog watchdog("a resumable sort of lines under a fault");
  for (const SmallLines& sort : {small_lines()[1], small_lines()[3]}) {
    LinesDisk count(sort.disk(), {.records_events = false});
    Failing<LinesMachine> counted(count.store, *count.queue, {});
    (void)counted.machine.start(sort);
    std::uint64_t failures = 0, untouched = 0;
    const std::vector<io::Fault> faults = faults_to_try(counted.plan);
    for (const io::Fault& fault : faults) {
      const std::string what = fmt::format("{}: {}", sort.name(), to_text(fault));
      SCOPED_TRACE(what);
      watchdog.next(what);
      LinesDisk disk(sort.disk(), {.records_events = false});
      Failing<LinesMachine> failing(disk.store, *disk.queue, {fault});
      bool has_failed = false;
      try {
        (void)failing.machine.start(sort);
      } catch (const IoError&) {
        has_failed = true;
        ++failures;
      }
      ASSERT_GE(failing.plan.fired(), 1U);
      ASSERT_TRUE(has_failed || !is_sync(fault)) << "a failed sync was passed over";
      Left left{};
      ASSERT_NO_THROW(left = bring_to_an_end(disk, sort));
      ASSERT_NE(left, Left::something_else);
      ASSERT_TRUE(has_failed || left == Left::sorted);
      untouched += left == Left::untouched ? 1 : 0;
    }
    std::printf("%s: %zu faults at %zu kinds of operations; %llu ended the sort\n", sort.name(), faults.size(),
                distinct_points(faults), static_cast<unsigned long long>(failures));
    EXPECT_GE(distinct_points(faults), 25U);
    EXPECT_GT(failures, faults.size() / 2);
    EXPECT_GT(untouched, 3U);
  }
}

// Of a sort and of its resumption.
TEST(LinesJob, ASyncThatFailedOnceIsNeverTakenForDurable) {
  Watchdog watchdog("a resumable sort of lines under a failing sync");
  const SmallLines& sort = small_lines().front();
  const auto end = [&](LinesDisk& disk) { return bring_to_an_end(disk, sort); };
  const auto start = [&](LinesMachine& machine) { (void)machine.start(sort); };
  fail_each_sync<LinesDisk>(watchdog, "start", sort.disk(), 15, start, end);
  const Broken broken(sort, Role::output, FaultPoint::write, 3);
  const auto resume = [](LinesMachine& machine) { (void)machine.resume(); };
  fail_each_sync<LinesDisk>(watchdog, "resume", broken.disk.store.snapshot(), 6, resume, end);
}

// Where all runs were durable, none is formed again; where some were, only the others, from where the last one ends.
TEST(LinesJob, WhatTheJournalHasIsNotDoneAgain) {
  const SmallLines& sort = small_lines().front();
  const std::uint64_t runs = run_records(sort);
  std::vector<std::uint64_t> read;
  for (std::uint64_t done = 1; done <= runs + 3; ++done) {
    Broken broken(sort, Role::journal, FaultPoint::sync, 2 + done);  // the header, and these runs; then checkpoints
    EXPECT_GE(broken.disk.machine.look().contents.value().runs.size(), std::min(done, runs));
    broken.disk.machine.trusts_drive = true;  // else what the output holds is read again, to compare it
    read.push_back(broken.disk.machine.resume().traffic.bytes_read);
    EXPECT_TRUE(sort.holds_only(broken.disk.store.snapshot(), sort.sorted()));
    if (done > 1) {
      EXPECT_LE(read[done - 1], read[done - 2] + 2 * page_bytes) << done << ": pages in which a run ends";
    }
  }
  EXPECT_LT(read[runs - 1] + sort.input_bytes() / 4, read[0]) << "all runs were there";
  EXPECT_LT(read[runs + 2] + sort.interval_bytes, read[runs - 1]) << "and a part of the output";
}

TEST(LinesJob, CanBeInterruptedAgainAndAgainAndResumedWithMoreMemory) {
  for (const SmallLines& sort : small_lines()) {
    LinesDisk disk(sort.disk(), {.records_events = false});
    disk.machine.interrupted = SIGTERM;  // from the beginning: it stops at every checkpoint there is
    std::uint64_t stops = 0;
    EXPECT_THROW((void)disk.machine.start(sort), Interrupted);
    while (disk.machine.look().kind == JobStatus::Kind::under_way && stops < 1'000) {
      try {
        (void)disk.machine.resume(stops % 2 == 0 ? 0 : 300'000);
      } catch (const Interrupted&) {
        ++stops;
        if (stops > 40) disk.machine.interrupted = 0;  // a part of the output that is read again may be interrupted as well
      }
    }
    EXPECT_GE(stops, 2U) << sort.name();
    EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.sorted())) << sort.name();
  }
}

// A byte that changes in what the output holds already: the journal's sums tell, and nothing is changed.
TEST(LinesJob, AChangedByteInTheOutputEndsTheResumption) {
  for (const SmallLines& sort : {small_lines()[0], small_lines()[1]}) {
    Broken broken(sort, Role::journal, FaultPoint::sync, 4 + run_records(sort));
    const io::DiskImage interrupted = broken.disk.store.snapshot();
    const std::uint64_t held = broken.disk.machine.look().contents.value().state.value().lines.value().bytes;
    ASSERT_GT(held, 0U);
    for (const std::uint64_t at : {std::uint64_t{0}, held / 2, held - 1}) {
      io::DiskImage damaged = interrupted;
      flip_byte(damaged.files.at(JobPaths(sort_output).output), at);
      LinesDisk disk(damaged, {.records_events = false});
      EXPECT_THROW((void)disk.machine.resume(), OutputChanged) << "byte " << at;
      EXPECT_TRUE(have_same_files(disk.store.snapshot(), damaged)) << "byte " << at;
    }
    io::DiskImage damaged = interrupted;
    flip_byte(damaged.files.at(JobPaths(sort_output).output), 0);
    LinesDisk trusting(damaged, {.records_events = false});
    trusting.machine.trusts_drive = true;
    EXPECT_FALSE(trusting.machine.resume().resumed.value().is_checked);
    LinesDisk sound(interrupted, {.records_events = false});
    const lines::LinesReport report = sound.machine.resume();
    EXPECT_TRUE(report.resumed.value().is_checked);
    EXPECT_GT(report.resumed.value().records, 0U);
    EXPECT_TRUE(sort.holds_only(sound.store.snapshot(), sort.sorted()));
  }
}

TEST(LinesJob, ADamagedRunEndsItAndTheOutputIsNotTouched) {
  for (SmallLines sort : {small_lines()[1], small_lines()[3]}) {
    sort.has_previous = true;
    Broken broken(sort, Role::output, FaultPoint::write, 3);
    const io::DiskImage interrupted = broken.disk.store.snapshot();
    std::vector<std::uint64_t> runs = live_runs(broken.disk.machine.look().contents.value().runs);
    if (sort.job().format->top_rows_to_come() > 0) runs.push_back(0);
    for (const std::uint64_t run : runs) {
      io::DiskImage damaged = interrupted;
      flip_byte(damaged.files.at(JobPaths(sort_output).run(run)), 7);
      LinesDisk disk(damaged, {.records_events = false});
      EXPECT_THROW((void)disk.machine.resume(), IoError) << sort.name() << ", run " << run;
      EXPECT_EQ(disk.store.contents(sort_output), sort.previous());
      (void)disk.machine.abandon();
      EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.previous()));
    }
  }
}

TEST(LinesJob, ARunThatIsShortOrMissingEndsItBeforeAnythingIsChanged) {
  const SmallLines& sort = small_lines().front();
  Broken broken(sort, Role::output, FaultPoint::write, 3);
  const io::DiskImage interrupted = broken.disk.store.snapshot();
  const std::string victim = JobPaths(sort_output).run(1);
  for (const bool is_missing : {false, true}) {
    io::DiskImage damaged = interrupted;
    if (is_missing)
      damaged.files.erase(victim);
    else
      damaged.files.at(victim).resize(damaged.files.at(victim).size() - page_bytes);
    LinesDisk disk(damaged, {.records_events = false});
    EXPECT_THROW((void)disk.machine.resume(), Error);
    EXPECT_TRUE(have_same_files(disk.store.snapshot(), damaged));
  }
}

TEST(LinesJob, AnInputThatIsNotWhatItWasIsRefused) {
  const SmallLines& sort = small_lines().front();
  for (const std::uint64_t nth : {std::uint64_t{3}, run_records(sort) + 4}) {  // while runs are formed; while they are merged
    Broken broken(sort, Role::journal, FaultPoint::sync, nth);
    io::MemoryStore& store = broken.disk.store;
    const io::FilePtr input = store.open_named(lines_input(1), Role::input, io::Caching::buffered);
    store.set_size(*input, store.state(*input).size_bytes - 1);
    EXPECT_THROW((void)broken.disk.machine.resume(), InputChanged) << nth;
    (void)broken.disk.machine.abandon();
    EXPECT_FALSE(store.exists(sort_directory));
    EXPECT_FALSE(store.exists(sort_output));
  }
}

TEST(LinesJob, AnInputThatIsGoneIsMissedOnlyWhileRunsAreFormed) {
  const SmallLines& sort = small_lines().front();
  Broken forming(sort, Role::journal, FaultPoint::sync, 3);
  forming.disk.store.remove(lines_input(0));
  EXPECT_THROW((void)forming.disk.machine.resume(), Error);
  EXPECT_EQ(forming.disk.machine.look().kind, JobStatus::Kind::under_way);
  Broken merging(sort, Role::journal, FaultPoint::sync, run_records(sort) + 4);
  merging.disk.store.remove(lines_input(0));
  (void)merging.disk.machine.resume();
  EXPECT_EQ(merging.disk.store.contents(sort_output), sort.sorted());
}

TEST(LinesJob, AnAbandonedJobLeavesNothingAndIsNeverResumed) {
  for (const SmallLines& sort : {small_lines()[0], small_lines()[1]}) {
    for (const std::uint64_t nth : {2UL, 3UL, 5UL, 7UL}) {
      Broken broken(sort, Role::journal, FaultPoint::sync, nth);
      (void)broken.disk.machine.abandon();
      EXPECT_TRUE(sort.holds_only(broken.disk.store.snapshot(), sort.previous())) << sort.name() << " " << nth;
    }
    Broken broken(sort, Role::journal, FaultPoint::sync, 3);
    io::FaultPlan plan({{Role::journal, FaultPoint::remove, 2, {.kind = Effect::Kind::error, .number = EIO}}});
    io::FaultyStorage storage(broken.disk.store, plan);
    LinesMachine machine(storage, *broken.disk.queue);
    EXPECT_THROW((void)machine.abandon(), IoError);
    EXPECT_TRUE(broken.disk.machine.look().is_abandoned());
    (void)broken.disk.machine.resume();
    EXPECT_TRUE(sort.holds_only(broken.disk.store.snapshot(), sort.previous()));
  }
}

}  // namespace ecosort::inplace
