// The resumable sort as a whole: the right result, what it costs, and what happens when something fails on the way.
#include <gmock/gmock.h>

#include <csignal>
#include <utility>

#include "base/errors.h"
#include "cpp/demsort_inplace/resumable_faults.h"
#include "demsort_inplace/keep_runs.h"
#include "doubles/crash_model.h"

namespace ecosort::demsort_inplace {

namespace {

std::vector<SmallSort> sorts() {
  std::vector<SmallSort> sorts = small_sorts();
  for (const engine::fixed::Keys keys : engine::fixed::all_keys) {
    sorts.push_back({.job = {.name = engine::fixed::to_string(keys),
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

using Broken = BrokenSort<SortDisk, SmallSort>;

}  // namespace

TEST(ResumableSort, SortsStablyAndLeavesNothingBehind) {
  for (const SmallSort& sort : sorts()) {
    for (const std::uint64_t seed : {1U, 2U}) {
      SortDisk disk(sort.disk(), {.seed = seed, .records_events = false});
      const engine::fixed::SortReport report = disk.machine.start(sort);
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
  const engine::fixed::SortReport report = SortMachine(storage, queue).start(sort);
  const std::uint64_t moved = layout.bytes() + layout.all_run_bytes(), journal = Journal::size_bytes(sort.header()) + page_bytes;
  EXPECT_GE(report.traffic.bytes_read, moved - layout.runs() * layout.head_bytes) << "descriptions are only written";
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

TEST(ResumableSort, EveryFailureLeavesAJobThatCanBeResumedOrNothing) {
  fail_everywhere<SortDisk>(std::vector{small_sorts()[0], small_sorts()[4], small_sorts().back()});
}

TEST(ResumableSort, ASyncThatFailedOnceIsNeverTakenForDurable) { fail_syncs_in_turn<SortDisk>(small_sorts().front(), 8); }

// No run is formed again where all were durable; where some were, only the others.

TEST(ResumableSort, WhatTheJournalHasIsNotDoneAgain) {
  const SmallSort sort = small_sorts().front();
  const Layout layout = sort.header().layout;
  std::uint64_t read_before = UINT64_MAX;
  for (std::uint64_t done = 1; done <= layout.runs(); ++done) {
    Broken broken(sort, Role::journal, FaultPoint::sync, 2 + done);  // the header, and these runs
    EXPECT_GE(broken.disk.machine.look().contents.value().runs.size(), done);
    broken.disk.machine.trusts_drive = true;  // else what the output holds is read again, to compare it
    const engine::fixed::SortReport report = broken.disk.machine.resume();
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

// A byte that changes in what the output holds already: the journal's sums show it, and nothing is cut off.
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
      const engine::fixed::SortReport report = disk.machine.resume();
      EXPECT_FALSE(report.resumed.value().is_checked);
    }
    SortDisk sound(interrupted, {.records_events = false});
    const engine::fixed::SortReport report = sound.machine.resume();
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
    const std::uint64_t head = sort.job.header().layout.head_bytes, at = head + (contents.size() - head) / 3;
    std::byte byte{};
    contents.read(at, &byte, 1);
    byte ^= std::byte{4};
    contents.write(at, &byte, 1);
    SortDisk disk(damaged, {.records_events = false});
    EXPECT_THROW((void)disk.machine.resume(), IoError) << "run " << run;
    EXPECT_EQ(disk.store.contents(sort_output), sort.previous());
    (void)disk.machine.abandon();
    EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.previous()));
  }
}

// Damages its head, its blocks, their table.
TEST(ResumableSort, ADamagedRunThatIsPackedEndsItAndTheOutputIsNotTouched) {
  const SmallSort sort = small_sorts().back();
  ASSERT_TRUE(sort.header().layout.packs);
  Broken broken(sort, Role::output, FaultPoint::write, 1);
  const io::DiskImage interrupted = broken.disk.store.snapshot();
  const std::uint64_t head = sort.header().layout.head_bytes;
  for (std::uint64_t run = 0; run < sort.header().layout.runs(); ++run) {
    const std::string path = JobPaths(sort_output).run(run);
    const std::uint64_t size = interrupted.files.at(path).size();
    EXPECT_LT(size, head + sort.header().layout.run_run_blocks(run) * sort.header().layout.run_block.bytes) << "it is smaller";
    for (const std::uint64_t at : {head + 1, head + (size - head) / 3, size - page_bytes, size - 1}) {
      io::DiskImage damaged = interrupted;
      flip_byte(damaged.files.at(path), at);
      SortDisk disk(damaged, {.records_events = false});
      EXPECT_THROW((void)disk.machine.resume(), IoError) << "run " << run << ", byte " << at;
      EXPECT_EQ(disk.store.contents(sort_output), sort.previous());
    }
  }
  SortDisk sound(interrupted, {.records_events = false});
  const engine::fixed::SortReport report = sound.machine.resume();
  EXPECT_TRUE(sort.holds_only(sound.store.snapshot(), sort.sorted()));
  EXPECT_FALSE(report.run_packing) << "no run was formed again";
}

TEST(ResumableSort, PackedRunsMoveFewerBytes) {
  SmallSort sort = small_sorts().back();
  SortDisk packed(sort.disk(), {.records_events = false});
  const engine::fixed::SortReport less = packed.machine.start(sort);
  ASSERT_TRUE(less.run_packing);
  EXPECT_EQ(less.run_packing->packed_blocks, less.run_packing->blocks);
  EXPECT_LT(less.run_packing->stored_bytes, less.run_packing->plain_bytes);
  sort.compress = "none";
  SortDisk plain(sort.disk(), {.records_events = false});
  const engine::fixed::SortReport more = plain.machine.start(sort);
  const std::uint64_t saved = sort.header().layout.runs() * 2 * page_bytes;  // of two blocks, but for a table
  EXPECT_LE(less.traffic.bytes_read + saved, more.traffic.bytes_read);
}

TEST(ResumableSort, AnInputThatIsNotWhatItWasIsRefused) {
  const SmallSort sort = small_sorts().front();
  change_input<SortDisk>(sort, "/disk/b", sort.job.format.record_size, sort.job.header().layout.runs() + 3);
}

TEST(ResumableSort, AnInputThatIsGoneIsMissedOnlyWhileRunsAreFormed) {
  const SmallSort sort = small_sorts().front();
  remove_input<SortDisk>(sort, "/disk/a", sort.job.header().layout.runs() + 3);
}

TEST(ResumableSort, AnAbandonedJobLeavesNothingAndIsNeverResumed) {
  abandon_everywhere<SortDisk>(std::vector{small_sorts()[0], small_sorts()[1]});
}

TEST(ResumableSort, AnOutputThatWasNotWrittenAsItWasIsNoticedWhenItIsReadBack) {
  SmallSort sort = small_sorts().front();
  sort.reread = true;
  lose_writes_of_output<SortDisk>(sort);
}

// FUSE and NFS keep a file that is removed while it is open, under a hidden name: whatever has done its work is closed first.
TEST(ResumableSort, LeavesNothingWhereRemovedFilesStayWhileTheyAreOpen) {
  for (const SmallSort& sort : small_sorts()) {
    SortDisk disk(sort.disk(), {.hides_removed = true, .records_events = false});
    (void)disk.machine.start(sort);
    EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.sorted())) << sort.name();
    SortDisk stopped(sort.disk(), {.hides_removed = true, .records_events = false});
    stopped.machine.interrupted = SIGTERM;
    EXPECT_THROW((void)stopped.machine.start(sort), Interrupted);
    (void)stopped.machine.abandon();
    EXPECT_TRUE(sort.holds_only(stopped.store.snapshot(), sort.previous())) << sort.name();
  }
}

// A file that somebody else has open stays for the moment. A notice says so, and `resume` removes it later.
TEST(ResumableSort, TellsOfARemovedFileThatSomebodyElseHasOpen) {
  const SmallSort sort = small_sorts().front();
  SortDisk disk(sort.disk(), {.hides_removed = true, .records_events = false});
  disk.machine.interrupted = SIGTERM;
  EXPECT_THROW((void)disk.machine.start(sort), Interrupted);
  disk.machine.interrupted = 0;
  io::FilePtr backup = disk.store.open_named(JobPaths(sort_output).run(0), io::Role::run, io::Caching::buffered);
  const engine::fixed::SortReport report = disk.machine.resume();
  EXPECT_THAT(report.notices, testing::Contains(testing::HasSubstr("another program has them open")));
  EXPECT_EQ(disk.store.contents(sort_output), sort.sorted());
  EXPECT_EQ(disk.machine.look().kind, JobStatus::Kind::removed);
  backup.reset();
  discard(sort_output, disk.machine.look(), disk.store);
  EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.sorted()));
}

}  // namespace ecosort::demsort_inplace
