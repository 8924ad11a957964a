// The resumable sort as a whole: the right result, what it costs, and what happens when something fails on the way.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/errors.h"
#include "cpp/demsort_inplace/resumable_harness.h"
#include "cpp/support/fault_sweep.h"
#include "cpp/support/sync_sweep.h"
#include "cpp/support/watchdog.h"
#include "demsort_inplace/keep_runs.h"
#include "demsort_inplace/recheck.h"
#include "doubles/crash_model.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"

namespace ecosort::inplace {

namespace {

using io::Effect;
using io::FaultPoint;
using io::Role;

std::vector<SmallSort> sorts() {
  std::vector<SmallSort> sorts = small_sorts();
  for (const engine::Keys keys : engine::all_keys) {
    sorts.push_back({.job = {.name = engine::to_string(keys),
                             .format = {53, {{20, 6}, {3, 9, true}}},
                             .keys = keys,
                             .records = 9'001,
                             .piece_records = 500,
                             .run_block_bytes = 8'192,
                             .interval_bytes = std::uint64_t{128} * 1024},
                     .reread = true});
  }
  sorts.push_back({.job = {.name = "three_records", .format = {100, {{0, 10}}}, .records = 3, .piece_records = 2}});
  return sorts;
}

// A sort that fails at this point, on a disk of its own.
struct Broken {
  Broken(const SmallSort& sort, Role role, FaultPoint point, std::uint64_t nth, int error = EIO)
      : disk(sort.disk(), {.records_events = false}),
        plan({{role, point, nth, {.kind = Effect::Kind::error, .number = error}}}),
        storage(disk.store, plan),
        queue(*disk.queue, plan) {
    EXPECT_THROW((void)SortMachine(storage, queue).start(sort), IoError);
    EXPECT_EQ(plan.fired(), 1U);
  }
  SortDisk disk;
  io::FaultPlan plan;
  io::FaultyStorage storage;
  io::FaultyQueue queue;
};

}  // namespace

TEST(ResumableSort, SortsStablyAndLeavesNothingBehind) {
  for (const SmallSort& sort : sorts()) {
    for (const std::uint64_t seed : {1U, 2U}) {
      SortDisk disk(sort.disk(), {.seed = seed, .records_events = false});
      const engine::SortReport report = disk.machine.start(sort);
      EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.job.sorted())) << sort.job.name;
      EXPECT_EQ(report.records, sort.job.records);
      EXPECT_EQ(report.runs, sort.job.header().layout.runs());
      EXPECT_EQ(disk.store.open_files(), 0U);
    }
  }
}

TEST(ResumableSort, MovesEveryByteTwiceAndSyncsEachRunOnce) {
  const SmallSort sort = small_sorts().front();
  const Layout layout = sort.header().layout;
  SortDisk disk(sort.disk(), {.records_events = false});
  io::FaultPlan counted;
  io::FaultyStorage storage(disk.store, counted);
  io::FaultyQueue queue(*disk.queue, counted);
  const engine::SortReport report = SortMachine(storage, queue).start(sort);
  const std::uint64_t moved = layout.bytes() + layout.all_run_bytes(), journal = Journal::size_bytes(sort.header()) + page_bytes;
  EXPECT_GE(report.traffic.bytes_read, moved);
  EXPECT_LE(report.traffic.bytes_read, moved + (layout.runs() + 2) * 1'024) << "but for units at the edges of pieces";
  EXPECT_GE(report.traffic.bytes_written, moved);
  EXPECT_LE(report.traffic.bytes_written, moved + 4 * journal);
  EXPECT_EQ(counted.seen(Role::run, FaultPoint::sync), layout.runs());
}

TEST(ResumableSort, StaysWithinItsSpaceOnADiskThatHasNoMore) {
  for (const SmallSort& sort : small_sorts()) {
    const Layout layout = sort.header().layout;
    const std::uint64_t inputs = 2 * page_bytes + round_up(layout.bytes(), page_bytes);
    const std::uint64_t bound = inputs + layout.total_bytes() + Journal::size_bytes(sort.header()) + 2 * page_bytes;
    SortDisk disk(sort.disk(), {.capacity_bytes = bound, .records_events = false});
    EXPECT_NO_THROW((void)disk.machine.start(sort)) << sort.job.name;
    EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.job.sorted())) << sort.job.name;
  }
}

namespace {

// Brings to an end what is left on the disk, which is sound again.
Left bring_to_an_end(SortDisk& disk, const SmallSort& sort) {
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
  if (sort.holds_only(now, sort.job.sorted())) return Left::sorted;
  return !is_job && sort.holds_only(now, sort.previous()) ? Left::untouched : Left::something_else;
}

}  // namespace

// Once for each thing that can fail, for a moment and for good: the sort ends with one error and can be resumed, or has left
// nothing.
TEST(ResumableSort, EveryFailureLeavesAJobThatCanBeResumedOrNothing) {
  Watchdog watchdog("a resumable sort under a fault");
  for (const SmallSort& sort : {small_sorts()[0], small_sorts()[4]}) {
    SortDisk count(sort.disk(), {.records_events = false});
    Failing<SortMachine> counted(count.store, *count.queue, {});
    (void)counted.machine.start(sort);
    std::uint64_t failures = 0, untouched = 0;
    const std::vector<io::Fault> faults = faults_to_try(counted.plan);
    for (const io::Fault& fault : faults) {
      const std::string what = fmt::format("{}: {}", sort.job.name, to_text(fault));
      SCOPED_TRACE(what);
      watchdog.next(what);
      SortDisk disk(sort.disk(), {.records_events = false});
      Failing<SortMachine> failing(disk.store, *disk.queue, {fault});
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
    std::printf("%s: %zu faults at %zu kinds of operations; %llu ended the sort\n", sort.job.name, faults.size(),
                distinct_points(faults), static_cast<unsigned long long>(failures));
    EXPECT_GE(distinct_points(faults), 25U);
    EXPECT_GT(failures, faults.size() / 2);
    EXPECT_GT(untouched, 3U);
  }
}

// Of a sort and of its resumption.
TEST(ResumableSort, ASyncThatFailedOnceIsNeverTakenForDurable) {
  Watchdog watchdog("a resumable sort under a failing sync");
  const SmallSort sort = small_sorts().front();
  const auto end = [&](SortDisk& disk) { return bring_to_an_end(disk, sort); };
  const auto start = [&](SortMachine& machine) { (void)machine.start(sort); };
  fail_each_sync<SortDisk>(watchdog, "start", sort.disk(), 15, start, end);
  const Broken broken(sort, Role::output, FaultPoint::write, 3);
  const auto resume = [](SortMachine& machine) { (void)machine.resume(); };
  fail_each_sync<SortDisk>(watchdog, "resume", broken.disk.store.snapshot(), 8, resume, end);
}

// Where all runs were durable, none is formed again; where some were, only the others.
TEST(ResumableSort, WhatTheJournalHasIsNotDoneAgain) {
  const SmallSort sort = small_sorts().front();
  const Layout layout = sort.header().layout;
  std::uint64_t read_before = UINT64_MAX;
  for (std::uint64_t done = 1; done <= layout.runs(); ++done) {
    Broken broken(sort, Role::journal, FaultPoint::sync, 2 + done);  // the header, and these runs
    EXPECT_GE(broken.disk.machine.look().contents.value().runs.size(), done);
    broken.disk.machine.trusts_drive = true;  // else what the output holds is read again, to compare it
    const engine::SortReport report = broken.disk.machine.resume();
    EXPECT_TRUE(sort.holds_only(broken.disk.store.snapshot(), sort.job.sorted()));
    EXPECT_LT(report.traffic.bytes_read, read_before);
    read_before = report.traffic.bytes_read;
  }
}

TEST(ResumableSort, CanBeInterruptedAgainAndAgainAndResumedWithMoreMemory) {
  const SmallSort sort = small_sorts().front();
  SortDisk disk(sort.disk(), {.records_events = false});
  disk.machine.interrupted = SIGINT;  // from the beginning: it stops at every checkpoint there is
  std::uint64_t stops = 0;
  EXPECT_THROW((void)disk.machine.start(sort), Interrupted);
  while (disk.machine.look().kind == JobStatus::Kind::under_way && stops < 1'000) {
    try {
      (void)disk.machine.resume(stops % 2 == 0 ? 0 : 16 * planner::least_memory_bytes);
    } catch (const Interrupted&) {
      ++stops;
      // In the second phase a checkpoint needs a batch: without one there would be no progress.
      if (stops > sort.job.header().layout.runs()) disk.machine.interrupted = 0;
    }
  }
  EXPECT_GE(stops, 2U);
  EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.job.sorted()));
}

// A byte that changes in what the output holds already: the journal's sums tell, and nothing is cut off.
TEST(ResumableSort, AChangedByteInTheOutputEndsItBeforeAnythingIsCutOff) {
  for (const bool keeps_runs : {false, true}) {
    SmallSort sort = small_sorts().front();
    sort.keeps_runs = keeps_runs;
    Broken broken(sort, Role::journal, FaultPoint::sync, 3 + static_cast<unsigned>(sort.header().layout.runs()));
    const io::DiskImage interrupted = broken.disk.store.snapshot();
    const std::uint64_t held = broken.disk.machine.look().records_merged() * sort.header().layout.record_size;
    ASSERT_GT(held, 0U);
    for (const std::uint64_t at : {std::uint64_t{0}, held / 2, held - 1}) {
      io::DiskImage damaged = interrupted;
      flip_byte(damaged.files.at(JobPaths(sort_output).output), at);
      SortDisk disk(damaged, {.records_events = false});
      EXPECT_THROW((void)disk.machine.resume(), OutputChanged) << "byte " << at;
      EXPECT_TRUE(have_same_files(disk.store.snapshot(), damaged)) << "byte " << at;
      disk.machine.trusts_drive = true;
      const engine::SortReport report = disk.machine.resume();
      EXPECT_FALSE(report.resumed.value().is_checked);
    }
    SortDisk sound(interrupted, {.records_events = false});
    const engine::SortReport report = sound.machine.resume();
    EXPECT_TRUE(report.resumed.value().is_checked);
    EXPECT_GT(report.resumed.value().records, 0U);
    EXPECT_TRUE(sort.holds_only(sound.store.snapshot(), sort.job.sorted()));
  }
}

TEST(ResumableSort, ADamagedRunEndsItAndTheOutputIsNotTouched) {
  SmallSort sort = small_sorts().front();
  sort.has_previous = true;
  Broken broken(sort, Role::output, FaultPoint::write, 3);
  const io::DiskImage interrupted = broken.disk.store.snapshot();
  for (std::uint64_t run = 0; run < sort.job.header().layout.runs(); ++run) {
    io::DiskImage damaged = interrupted;
    io::PagedBytes& contents = damaged.files.at(JobPaths(sort_output).run(run));
    if (contents.size() == 0) continue;
    std::byte byte{};
    contents.read(contents.size() / 3, &byte, 1);
    byte ^= std::byte{4};
    contents.write(contents.size() / 3, &byte, 1);
    SortDisk disk(damaged, {.records_events = false});
    EXPECT_THROW((void)disk.machine.resume(), IoError) << "run " << run;
    EXPECT_EQ(disk.store.contents(sort_output), sort.previous());
    (void)disk.machine.abandon();
    EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.previous()));
  }
}

TEST(ResumableSort, AnInputThatIsNotWhatItWasIsRefused) {
  const SmallSort sort = small_sorts().front();
  const std::uint64_t runs = sort.job.header().layout.runs();
  for (const std::uint64_t nth : {std::uint64_t{3}, runs + 3}) {  // while runs are formed; while they are merged
    Broken broken(sort, Role::journal, FaultPoint::sync, nth);
    io::MemoryStore& store = broken.disk.store;
    const io::FilePtr input = store.open_named("/disk/b", Role::input, io::Caching::buffered);
    store.set_size(*input, store.state(*input).size_bytes - sort.job.format.record_size);
    EXPECT_THROW((void)broken.disk.machine.resume(), InputChanged) << nth;
    (void)broken.disk.machine.abandon();
    EXPECT_FALSE(store.exists(sort_directory));
    EXPECT_FALSE(store.exists(sort_output));
  }
}

TEST(ResumableSort, AnInputThatIsGoneIsMissedOnlyWhileRunsAreFormed) {
  const SmallSort sort = small_sorts().front();
  const std::uint64_t runs = sort.job.header().layout.runs();
  Broken forming(sort, Role::journal, FaultPoint::sync, 3);
  forming.disk.store.remove("/disk/a");
  EXPECT_THROW((void)forming.disk.machine.resume(), Error);
  EXPECT_EQ(forming.disk.machine.look().kind, JobStatus::Kind::under_way);
  Broken merging(sort, Role::journal, FaultPoint::sync, runs + 3);
  merging.disk.store.remove("/disk/a");
  (void)merging.disk.machine.resume();
  EXPECT_EQ(merging.disk.store.contents(sort_output), sort.job.sorted());
}

TEST(ResumableSort, AnAbandonedJobLeavesNothingAndIsNeverResumed) {
  for (const SmallSort& sort : {small_sorts()[0], small_sorts()[1]}) {
    for (const std::uint64_t nth : {2UL, 3UL, 5UL, 7UL}) {
      Broken broken(sort, Role::journal, FaultPoint::sync, nth);
      (void)broken.disk.machine.abandon();
      EXPECT_TRUE(sort.holds_only(broken.disk.store.snapshot(), sort.previous())) << sort.job.name << " " << nth;
    }
    Broken broken(sort, Role::journal, FaultPoint::sync, 3);
    io::FaultPlan plan({{Role::journal, FaultPoint::remove, 2, {.kind = Effect::Kind::error, .number = EIO}}});
    io::FaultyStorage storage(broken.disk.store, plan);
    SortMachine machine(storage, *broken.disk.queue);
    EXPECT_THROW((void)machine.abandon(), IoError);
    EXPECT_TRUE(broken.disk.machine.look().is_abandoned());
    (void)broken.disk.machine.resume();
    EXPECT_TRUE(sort.holds_only(broken.disk.store.snapshot(), sort.previous()));
  }
}

}  // namespace ecosort::inplace
