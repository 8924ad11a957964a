// The resumable sort of lines as a whole: the right result, what it costs, and what happens when something fails on the way.
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/errors.h"
#include "cpp/demsort_inplace/lines_job_harness.h"
#include "cpp/demsort_inplace/resumable_faults.h"
#include "cpp/support/test_environment.h"
#include "demsort_inplace/line_runs.h"
#include "doubles/crash_model.h"

namespace ecosort::demsort_inplace {

namespace {

using Broken = BrokenSort<LinesDisk, SmallLines>;

const SmallLines& named(const std::string& name) {
  return *std::ranges::find(small_lines(), name, [](const SmallLines& sort) { return std::string(sort.name()); });
}

// Records of the journal about runs that the sort leaves.
std::uint64_t run_records(const SmallLines& sort) {
  LinesDisk disk(sort.disk(), {.records_events = false});
  return LinesMachine::run_records(disk.machine.start(sort), sort);
}

}  // namespace

TEST(LinesJob, SortsAndLeavesNothingBehind) {
  for (const SmallLines& sort : small_lines()) {
    for (const std::uint64_t seed : {1U, 2U}) {
      LinesDisk disk(sort.disk(), {.seed = seed, .records_events = false});
      const engine::rows::LinesReport report = disk.machine.start(sort);
      EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.sorted())) << sort.name();
      EXPECT_EQ(report.output_bytes, sort.sorted().size());
      EXPECT_EQ(report.dropped > 0, sort.job().groups.is_on);
      EXPECT_EQ(report.merges > 0, sort.most_merged == 2) << sort.name();
      EXPECT_FALSE(report.resumed);
      EXPECT_EQ(disk.store.open_files(), 0U);
    }
  }
}

TEST(LinesJob, StaysWithinRunsOutputAndJournalOnADiskThatHasNoMore) {
  for (const SmallLines& sort : small_lines()) {
    LinesDisk probe(sort.disk(), {.records_events = false});
    const engine::rows::LinesReport report = probe.machine.start(sort);
    const std::uint64_t output = round_up(sort.input_bytes() + sort.inputs.size(), page_bytes);
    const std::uint64_t growth = (report.runs + report.merges + 4) * page_bytes;  // of the journal
    const std::uint64_t inputs = sort.input_bytes() + sort.inputs.size() * page_bytes;
    const std::uint64_t bound = inputs + report.peak_temp_bytes + output + growth + 2 * page_bytes;
    LinesDisk disk(sort.disk(), {.capacity_bytes = bound, .records_events = false});
    EXPECT_NO_THROW((void)disk.machine.start(sort)) << sort.name();
    EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.sorted())) << sort.name();
  }
}

TEST(LinesJob, EveryFailureLeavesAJobThatCanBeResumedOrNothing) {
  std::vector sorts{small_lines()[1], named("csv_unique"), named("packed_merges")};
  if (is_soak()) sorts.insert(sorts.end(), {small_lines()[3], named("jsonl")});
  fail_everywhere<LinesDisk>(sorts);
}

TEST(LinesJob, ASyncThatFailedOnceIsNeverTakenForDurable) {
  for (const SmallLines& sort : {small_lines().front(), named("csv")}) fail_syncs_in_turn<LinesDisk>(sort, 6);
}

// No run is formed again where all were durable; where some were, only the others, from where the last one ends.

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

// The interruption comes after the first run, which has the header and does not end the first input.
TEST(LinesJob, AResumptionComparesTheHeadersOfFurtherInputs) {
  SmallLines sort = named("header");
  for (int i = 0; i < 20'000; ++i) sort.inputs.front() += std::to_string(i) + '\n';  // it does not fit the run buffers
  sort.inputs.back().front() = '#';
  Broken broken(sort, Role::journal, FaultPoint::sync, 4);
  ASSERT_GE(broken.disk.machine.look().contents.value().runs.size(), 2U);
  try {
    (void)broken.disk.machine.resume();
    ADD_FAILURE() << "the header was taken";
  } catch (const InputRefused& error) {
    EXPECT_NE(std::string(error.what()).find("is in the header, where /disk/a0 has"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(sort.holds_only(broken.disk.store.snapshot(), sort.previous())) << "the job has removed itself";
}

TEST(LinesJob, AResumptionTellsTheHeaderThatEarlierRunsHold) {
  SmallLines sort = named("csv");
  const std::string header = sort.inputs[0].substr(3, sort.inputs[0].find("rest\n") + 5 - 3);
  sort.inputs[0].insert(3 + header.size(), header);
  Broken broken(sort, Role::journal, FaultPoint::sync, 4);
  ASSERT_GE(broken.disk.machine.look().contents.value().runs.size(), 2U);
  const engine::rows::LinesReport report = broken.disk.machine.resume();
  const auto told = std::ranges::find_if(report.notices, [](const std::string& notice) {
    return notice.starts_with("/disk/a0: line 3 equals the header");  // which has two lines
  });
  EXPECT_NE(told, report.notices.end());
}

// A byte that changes in what the output holds already: the journal's sums show it, and nothing is changed.
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
    const engine::rows::LinesReport report = sound.machine.resume();
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
    if (!sort.top().empty()) runs.push_back(0);
    for (const std::uint64_t run : runs) {
      io::DiskImage damaged = interrupted;
      flip_byte(damaged.files.at(JobPaths(sort_output).run(run)), sort.header().layout.head_bytes + 7);
      LinesDisk disk(damaged, {.records_events = false});
      EXPECT_THROW((void)disk.machine.resume(), IoError) << sort.name() << ", run " << run;
      EXPECT_EQ(disk.store.contents(sort_output), sort.previous());
      (void)disk.machine.abandon();
      EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.previous()));
    }
  }
}

TEST(LinesJob, ADamagedRunThatIsPackedEndsItToo) {
  const SmallLines& sort = named("packed");
  Broken broken(sort, Role::output, FaultPoint::write, 1);
  const io::DiskImage interrupted = broken.disk.store.snapshot();
  const std::vector<RunDone> runs = broken.disk.machine.look().contents.value().runs;
  for (const RunDone& run : runs) {
    EXPECT_EQ(run.packed_bytes == 0, run.lines.value().is_header);
    const std::string path = JobPaths(sort_output).run(run.run);
    const std::uint64_t size = interrupted.files.at(path).size();
    for (const std::uint64_t at : {sort.header().layout.head_bytes + 7, size - page_bytes, size - 1}) {
      io::DiskImage damaged = interrupted;
      flip_byte(damaged.files.at(path), at);
      LinesDisk disk(damaged, {.records_events = false});
      EXPECT_THROW((void)disk.machine.resume(), IoError) << "run " << run.run << ", byte " << at;
      EXPECT_EQ(disk.store.contents(sort_output), sort.previous());
    }
  }
}

TEST(LinesJob, PackedRunsAreSmaller) {
  for (const char* const label : {"packed", "packed_merges", "truncated"}) {
    SmallLines sort = named(label);
    LinesDisk disk(sort.disk(), {.records_events = false});
    const engine::rows::LinesReport report = disk.machine.start(sort);
    ASSERT_TRUE(report.run_packing);
    EXPECT_GT(report.run_packing->packed_blocks, report.run_packing->blocks / 2);
    sort.compress = "none";
    LinesDisk plain(sort.disk(), {.records_events = false});
    EXPECT_LT(report.traffic.bytes_written, plain.machine.start(sort).traffic.bytes_written) << label;
  }
}

TEST(LinesJob, ARunThatIsShortOrMissingEndsItBeforeAnythingIsChanged) {
  for (const SmallLines& sort : {small_lines().front(), named("packed")}) {
    Broken broken(sort, Role::output, FaultPoint::write, 1);
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
}

TEST(LinesJob, AnInputThatIsNotWhatItWasIsRefused) {
  for (const SmallLines& sort : {small_lines().front(), named("csv_unique")})
    change_input<LinesDisk>(sort, lines_input(1), 1, run_records(sort) + 4);
}

TEST(LinesJob, AnInputThatIsGoneIsMissedOnlyWhileRunsAreFormed) {
  for (const SmallLines& sort : {small_lines().front(), named("csv_unique")})
    remove_input<LinesDisk>(sort, lines_input(0), run_records(sort) + 4);
}

// The input is refused when it begins, or when it is resumed: with runs or without.
TEST(LinesJob, ARefusedInputLeavesWhatWasThereBefore) {
  struct Case {
    const char *sort, *wrong_rows;
  };
  for (const auto& [name, wrong_rows] :
       {Case{"csv", "\n1,2\n"}, Case{"csv_unique", "1,2,3,4,5\n"}, Case{"jsonl", "{\"n\": 1\n"}, Case{"jsonl", "\n{]}\n"}}) {
    SmallLines sort = named(name);
    sort.inputs.insert(sort.inputs.begin(), 3, sort.inputs.front());
    sort.inputs.back() += wrong_rows;
    LinesDisk disk(sort.disk(), {.records_events = false});
    EXPECT_THROW((void)disk.machine.start(sort), InputRefused) << name;
    EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.previous())) << name;
    EXPECT_EQ(disk.store.open_files(), 0U);
    Broken broken(sort, Role::run, FaultPoint::sync, 2);
    EXPECT_THROW((void)broken.disk.machine.resume(), InputRefused) << name;
    EXPECT_TRUE(sort.holds_only(broken.disk.store.snapshot(), sort.previous())) << name;
  }
}

// A later abandon removes it where it cannot be removed now.
TEST(LinesJob, ARefusedInputIsToldAlsoWhereTheJobCannotBeRemoved) {
  SmallLines sort = named("csv_unique");
  sort.inputs.back() += "1,2,3,4,5\n";
  LinesDisk disk(sort.disk(), {.records_events = false});
  io::FaultPlan plan({{Role::journal, FaultPoint::remove, 1, {.kind = Effect::Kind::error, .number = EIO}}});
  io::FaultyStorage storage(disk.store, plan);
  io::FaultyQueue queue(*disk.queue, plan);
  EXPECT_THROW((void)LinesMachine(storage, queue).start(sort), InputRefused);
  EXPECT_EQ(plan.fired(), 1U);
  (void)disk.machine.abandon();
  EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.previous()));
}

TEST(LinesJob, AnAbandonedJobLeavesNothingAndIsNeverResumed) {
  abandon_everywhere<LinesDisk>(std::vector{small_lines()[0], small_lines()[1], named("csv")});
}

TEST(LinesJob, AnOutputThatWasNotWrittenAsItWasIsNoticedWhenItIsReadBack) {
  for (SmallLines sort : {small_lines()[1], named("csv"), named("jsonl")}) {
    sort.reread = true;
    lose_writes_of_output<LinesDisk>(sort);
  }
}

}  // namespace ecosort::demsort_inplace
