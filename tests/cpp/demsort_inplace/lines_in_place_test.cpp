// Lines in place: the right result in the space of the bound, power cuts, failures, and what is refused.
#include "demsort_inplace/lines_in_place.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>

#include "base/errors.h"
#include "base/random.h"
#include "cpp/demsort_inplace/lines_job_harness.h"
#include "cpp/demsort_inplace/resumable_crash.h"
#include "cpp/demsort_inplace/resumable_faults.h"
#include "cpp/support/fault_sweep.h"
#include "cpp/support/watchdog.h"
#include "formats/lines/line_run.h"

namespace ecosort::demsort_inplace {

namespace {

using Broken = BrokenSort<LinesDisk, SmallLines>;

const std::vector<SmallLines>& sorts() { return small_lines_in_place(); }

// The job directory is synced once for each run, besides for the beginning and the end.
std::vector<std::string> label_syncs_of(const Recorded<SmallLines>& recorded) {
  std::vector<std::string> labels = label_syncs(recorded.log, sort_directory, recorded.run_records);
  const std::string own = sort_directory + ' ';
  const std::string last = own + std::to_string(recorded.run_records + 2);
  for (std::string& label : labels)
    if (label.starts_with(own) && label != own + "1") label = label == last ? own + "at the end" : own + "for a run";
  return labels;
}

}  // namespace

TEST(LinesInPlace, SortsOnADiskThatHasNoMoreThanTheBound) {
  for (const SmallLines& sort : sorts()) {
    for (const std::uint64_t seed : {1U, 2U}) {
      LinesDisk disk(sort.disk(), {.seed = seed, .capacity_bytes = sort.bound_bytes(), .records_events = false});
      const engine::rows::LinesReport report = disk.machine.start(sort);
      EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.sorted())) << sort.name();
      EXPECT_EQ(report.output_bytes, sort.sorted().size());
      EXPECT_EQ(report.runs, sort.most_merged) << sort.name();
      EXPECT_EQ(report.merges, 0U);
      EXPECT_EQ(disk.store.open_files(), 0U);
    }
  }
}

TEST(LinesInPlace, ResumesOnADiskThatHasNoMoreThanTheBound) {
  for (const SmallLines& sort : sorts()) {
    LinesDisk disk(sort.disk(), {.capacity_bytes = sort.bound_bytes(), .records_events = false});
    disk.machine.interrupted = SIGTERM;  // from the beginning: it stops at every checkpoint there is
    std::uint64_t stops = 0;
    EXPECT_THROW((void)disk.machine.start(sort), Interrupted);
    while (disk.machine.look().kind == JobStatus::Kind::under_way && stops < 1'000) {
      try {
        (void)disk.machine.resume();
      } catch (const Interrupted&) {
        if (++stops > 40) disk.machine.interrupted = 0;  // what is read again may be interrupted as well
      }
    }
    EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.sorted())) << sort.name();
  }
}

TEST(LinesInPlaceCrash, NothingIsLostWhereverThePowerFails) { cut_all<LinesDisk>(sorts(), 500); }

TEST(LinesInPlaceCrash, EveryRunAndCheckpointCountsFromItsSyncOn) {
  std::uint64_t checkpoints = 0;
  for (const SmallLines& sort : sorts()) {
    const Recorded<SmallLines> recorded = record<LinesDisk>(sort, 4);
    checkpoints += check_promises(recorded, label_syncs_of(recorded), recorded.run_records);
  }
  EXPECT_GE(checkpoints, 2 * sorts().size());
}

TEST(LinesInPlaceCrash, NorWhenItFailsAgainDuringTheResumption) {
  Second all;
  for (const SmallLines& sort : sorts()) {
    const Second count = cut_twice<LinesDisk>(record<LinesDisk>(sort, 5), 3, false);
    all.jobs += count.jobs;
    all.images += count.images;
  }
  std::printf("%llu jobs resumed, %llu distinct images of a cut within\n", static_cast<unsigned long long>(all.jobs),
              static_cast<unsigned long long>(all.images));
  EXPECT_GE(all.images, 500U);
}

TEST(LinesInPlaceCrash, NorWhenTheProgramWasKilledBefore) {
  const SmallLines& sort = sorts().front();
  const std::uint64_t runs = record<LinesDisk>(sort, 6).run_records;
  cut_after_kill<LinesDisk>(sort, FaultPoint::sync, {2, 3, runs + 1, runs + 2, runs + 3});
  cut_after_kill<LinesDisk>(sort, FaultPoint::sync_directory, {3, 4, runs + 3, runs + 4, runs + 5});
}

TEST(LinesInPlaceCrash, EveryCallThatMakesSomethingDurableIsNeeded) {
  const std::set<std::string> known{"",
                                    "run",
                                    "journal header",
                                    "journal run",
                                    "journal checkpoint",
                                    "journal at the end",
                                    "output checkpoint",
                                    "output at the end",
                                    "/disk/out.ecosort 1",
                                    "/disk/out.ecosort for a run",
                                    "/disk/out.ecosort at the end",
                                    "/disk 1",
                                    "/disk 2",
                                    "/disk 3",
                                    "/disk 4"};
  const Recorded<SmallLines> recorded = record<LinesDisk>(sorts().front(), 6);
  miss_each_sync<LinesDisk>(recorded, label_syncs_of(recorded), known);
}

TEST(LinesInPlace, EveryFailureLeavesAJobThatCanBeResumedOrNothing) {
  fail_everywhere<LinesDisk>(std::vector{sorts()[0], sorts()[1]});
}

TEST(LinesInPlace, ASyncThatFailedOnceIsNeverTakenForDurable) { fail_syncs_in_turn<LinesDisk>(sorts().front(), 6); }

namespace {

// A job that has failed at this point, and again in each resumption, at the first thing that these write to the output.
void give_up(const SmallLines& sort, const io::Fault& fault) {
  SCOPED_TRACE(std::string(sort.name()) + ": " + to_text(fault));
  LinesDisk disk(sort.disk(), {.capacity_bytes = sort.bound_bytes(), .records_events = false});
  {
    Failing<LinesMachine> failing(disk.store, *disk.queue, {fault});
    ASSERT_THROW((void)failing.machine.start(sort), IoError);
  }
  for (int i = 0; i < 2; ++i) {
    Failing<LinesMachine> failing(disk.store, *disk.queue,
                                  {{.role = Role::output,
                                    .point = FaultPoint::write,
                                    .nth = 1,
                                    .effect = {.kind = Effect::Kind::error, .number = EIO},
                                    .is_persistent = true}});
    if (disk.machine.look().kind == JobStatus::Kind::under_way) {
      EXPECT_THROW((void)failing.machine.resume(), IoError);
    }
  }
  if (disk.machine.look().kind != JobStatus::Kind::under_way) return;
  (void)disk.machine.abandon();
  EXPECT_TRUE(sort.holds_given_up(disk.store.snapshot()));
  EXPECT_EQ(disk.store.open_files(), 0U);
}

std::vector<io::Fault> each_time(const SmallLines& sort, Role role, FaultPoint point) {
  LinesDisk disk(sort.disk(), {.records_events = false});
  Failing<LinesMachine> counted(disk.store, *disk.queue, {});
  (void)counted.machine.start(sort);
  std::vector<io::Fault> faults;
  for (std::uint64_t nth = 1; nth <= counted.plan.seen(role, point); ++nth)
    faults.push_back({role, point, nth, {.kind = Effect::Kind::error, .number = EIO}});
  return faults;
}

}  // namespace

TEST(LinesInPlace, GivenUpWhereEveryResumptionFailsItHasAllLinesOnADiskThatHasNoMoreThanTheBound) {
  Watchdog watchdog("a job of lines that is given up");
  for (const SmallLines& sort : sorts()) {
    watchdog.next(sort.name());
    for (const io::Fault& fault : each_time(sort, Role::journal, FaultPoint::sync)) give_up(sort, fault);
    for (const io::Fault& fault : each_time(sort, Role::output, FaultPoint::write)) give_up(sort, fault);
    for (const io::Fault& fault : each_time(sort, Role::run, FaultPoint::write)) give_up(sort, fault);
  }
}

TEST(LinesInPlaceCrash, NoLineIsLostWhereverThePowerFailsWhileItIsGivenUp) {
  Second all;
  for (const SmallLines& sort : sorts()) {
    const Second count = cut_twice<LinesDisk>(record<LinesDisk>(sort, 5), 5, true);
    all.jobs += count.jobs;
    all.images += count.images;
  }
  std::printf("%llu jobs given up, %llu distinct images of a cut within\n", static_cast<unsigned long long>(all.jobs),
              static_cast<unsigned long long>(all.images));
  EXPECT_GE(all.images, 300U);
}

TEST(LinesInPlace, AFailureWhileItIsGivenUpLeavesAJobThatIsGivenUp) {
  for (const SmallLines& sort : {sorts()[0], sorts()[5]}) {
    for (const std::uint64_t nth : {std::uint64_t{3}, 1 + sort.most_merged + 2}) {
      const Broken broken(sort, Role::journal, FaultPoint::sync, nth);
      const io::DiskImage image = broken.disk.store.snapshot();
      LinesDisk count(image, {.records_events = false});
      Failing<LinesMachine> counted(count.store, *count.queue, {});
      (void)counted.machine.abandon();
      for (const io::Fault& fault : faults_to_try(counted.plan)) {
        SCOPED_TRACE(std::string(sort.name()) + ": " + to_text(fault));
        LinesDisk disk(image, {.records_events = false});
        Failing<LinesMachine> failing(disk.store, *disk.queue, {fault});
        bool has_failed = false;
        try {
          (void)failing.machine.abandon();
        } catch (const Error&) {
          has_failed = true;
        }
        ASSERT_TRUE(has_failed || !is_sync(fault)) << "a failed sync was passed over";
        JobStatus status = disk.machine.look();
        const JobStatus::Kind kind = status.kind;
        if (kind == JobStatus::Kind::not_begun || kind == JobStatus::Kind::removed) {
          discard(sort_output, std::move(status), disk.store);
        } else if (kind != JobStatus::Kind::none) {
          status = {};
          (void)disk.machine.abandon();
        }
        EXPECT_TRUE(sort.holds_given_up(disk.store.snapshot()));
      }
    }
  }
}

TEST(LinesInPlace, GivenUpWithoutTheSpaceItSaysHowMuchIsNeeded) {
  const SmallLines& sort = sorts().front();
  for (const std::uint64_t nth : {std::uint64_t{3}, 1 + sort.most_merged + 2}) {
    Broken broken(sort, Role::journal, FaultPoint::sync, nth);
    const io::Fault full{
        Role::output, FaultPoint::reserve, 1, {.kind = Effect::Kind::error, .number = ENOSPC}, /*is_persistent=*/true};
    Failing<LinesMachine> failing(broken.disk.store, *broken.disk.queue, {full});
    try {
      (void)failing.machine.abandon();
      ADD_FAILURE() << "there was space";
    } catch (const IoError& error) {
      EXPECT_EQ(error.error_number(), ENOSPC);
      EXPECT_THAT(error.what(), testing::HasSubstr("bytes) of free space are needed in '/disk'"));
    }
    (void)broken.disk.machine.resume();
    EXPECT_TRUE(sort.holds_given_up(broken.disk.store.snapshot()));
  }
}

// With `--trust-drive` what a damaged block holds is given back as it is.
TEST(LinesInPlace, ADamagedRunIsGivenBackWhenTheDriveIsTrusted) {
  const SmallLines& sort = sorts().front();
  const Broken broken(sort, Role::journal, FaultPoint::sync, 4);
  io::DiskImage damaged = broken.disk.store.snapshot();
  flip_byte(damaged.files.at(JobPaths(sort_output).run(0)), sort.header().layout.head_bytes + 7);
  LinesDisk disk(damaged, {.records_events = false});
  for (int i = 0; i < 2; ++i) EXPECT_THROW((void)disk.machine.abandon(), DamagedRun);
  disk.machine.trusts_drive = true;
  (void)disk.machine.abandon();
  EXPECT_EQ(disk.store.contents(sort_output).size(), sort.previous().size());
  EXPECT_FALSE(sort.holds_given_up(disk.store.snapshot()));
  EXPECT_FALSE(disk.store.exists(sort_directory));
}

TEST(LinesInPlace, AJobThatWasGivenUpIsGivenUpByResumeToo) {
  const SmallLines& sort = sorts().front();
  Broken broken(sort, Role::run, FaultPoint::write, 2);
  io::FaultPlan plan({{Role::journal, FaultPoint::remove, 2, {.kind = Effect::Kind::error, .number = EIO}}});
  io::FaultyStorage storage(broken.disk.store, plan);
  LinesMachine machine(storage, *broken.disk.queue);
  EXPECT_THROW((void)machine.abandon(), IoError);
  EXPECT_TRUE(broken.disk.machine.look().is_abandoned());
  (void)broken.disk.machine.resume();
  EXPECT_TRUE(sort.holds_only(broken.disk.store.snapshot(), sort.previous()));
}

TEST(LinesInPlace, AnInputThatIsNotWhatItWasIsRefused) {
  const SmallLines& sort = sorts().front();
  const std::string input = JobPaths(sort_output).input;
  for (const bool has_runs : {false, true}) {
    Broken broken(sort, has_runs ? Role::journal : Role::run, has_runs ? FaultPoint::sync : FaultPoint::write, has_runs ? 4 : 2);
    io::MemoryStore& store = broken.disk.store;
    EXPECT_EQ(broken.disk.machine.look().contents->runs.empty(), !has_runs);
    {
      const io::FilePtr file = store.open_named(input, Role::input, io::Caching::buffered);
      store.set_size(*file, store.state(*file).size_bytes - 1);
      if (!has_runs) store.set_size(*file, store.state(*file).size_bytes + 1);
    }
    const io::DiskImage before = store.snapshot();
    EXPECT_THROW((void)broken.disk.machine.resume(), IoError);
    EXPECT_TRUE(have_same_files(store.snapshot(), before));
  }
}

// Somebody else removed files of the job directory.
TEST(LinesInPlace, AnInputThatIsGoneIsMissedOnlyWhereNoRunHoldsIt) {
  const SmallLines& sort = sorts().front();
  const std::string input = JobPaths(sort_output).input;
  for (const bool is_given_up : {false, true}) {
    Broken formed(sort, Role::journal, FaultPoint::sync, 1 + sort.most_merged + 2);
    formed.disk.store.remove(input);
    const engine::rows::LinesReport report = is_given_up ? formed.disk.machine.abandon() : formed.disk.machine.resume();
    const io::DiskImage image = formed.disk.store.snapshot();
    EXPECT_TRUE(is_given_up ? sort.holds_given_up(image) : sort.holds_only(image, sort.sorted()));
    EXPECT_THAT(report.notices, testing::Contains(testing::HasSubstr("and with it the owner, the mode")));
  }
  Broken half(sort, Role::journal, FaultPoint::sync, 4);
  half.disk.store.remove(input);
  EXPECT_THROW((void)half.disk.machine.resume(), DamagedRun);
  EXPECT_THROW((void)half.disk.machine.abandon(), DamagedRun);
  half.disk.machine.trusts_drive = true;
  EXPECT_THAT(half.disk.machine.abandon().notices, testing::Contains(testing::HasSubstr("zeros are in place of the rest")));
  EXPECT_EQ(half.disk.store.contents(sort_output).size(), sort.previous().size());
}

TEST(LinesInPlace, AResultThatIsGoneLeavesAJobThatCanBeGivenUp) {
  Broken broken(sorts().front(), Role::journal, FaultPoint::rename, 2);
  io::MemoryStore& store = broken.disk.store;
  store.remove(JobPaths(sort_output).output);
  EXPECT_THROW((void)broken.disk.machine.resume(), ExplainedIoError);
  EXPECT_THAT(broken.disk.machine.abandon().notices, testing::Contains(testing::HasSubstr("nothing of '/disk/out' is left")));
  EXPECT_TRUE(store.snapshot().files.empty());
  EXPECT_FALSE(store.exists(sort_directory));
}

TEST(LinesInPlace, ALineThatIsTooLongIsSortedWithMoreMemory) {
  SmallLines sort = sorts().front();
  sort.inputs.front() += '\n' + std::string(20'000, 'x');
  sort.most_merged = 12;
  LinesDisk disk(sort.disk(), {.records_events = false});
  EXPECT_THROW((void)disk.machine.start(sort), NotEnoughMemory);
  EXPECT_EQ(disk.machine.look().kind, JobStatus::Kind::under_way);
  SmallLines roomier = sort;
  roomier.run_buffer_bytes = std::uint64_t{400} * 1024;
  JobStatus status = disk.machine.look();
  (void)disk.machine.resume_with(roomier.job(), std::move(status));
  EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.sorted()));
}

TEST(LinesInPlace, RunsThatOneMergeCannotTakeWantMoreMemory) {
  const SmallLines& sort = sorts().front();
  LinesDisk disk(sort.disk(), {.records_events = false});
  EXPECT_THROW((void)disk.machine.start_with_memory(sort, std::uint64_t{64} * 1024), NotEnoughMemory);
  EXPECT_EQ(disk.machine.look().kind, JobStatus::Kind::under_way);
  (void)disk.machine.resume();
  EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.sorted()));
}

namespace {

std::string repeated(const std::string& line, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += line;
  return text;
}

planner::LinePlan small_plan() {
  planner::LinePlan plan = sorts().front().job().plan;
  plan.run_buffer_bytes = std::uint64_t{256} * 1024;
  plan.memory_bytes = std::uint64_t{4} << 20U;
  return plan;
}

std::uint64_t runs_of(const std::string& text) {
  SmallLines sort = sorts().front();
  sort.inputs = {text};
  sort.run_buffer_bytes = small_plan().run_buffer_bytes;
  sort.most_merged = 1'000;
  LinesDisk disk(sort.disk(), {.records_events = false});
  return disk.machine.start_with_memory(sort, small_plan().memory_bytes).runs;
}

}  // namespace

// The bound holds for all lines, however their kinds follow each other.
TEST(LinesInPlace, ThereAreNeverMoreRunsThanAreCounted) {
  const std::string empty = "\n", word = "seven77\n", longer = std::string(7'000, 'l') + '\n',
                    longest = std::string(31'000, 'L') + '\n';
  Random random(77);
  std::string mixed;
  while (mixed.size() < 400'000) {
    const std::string& kind = *std::vector{&empty, &word, &longer, &longest}[random.below(4)];
    mixed += repeated(kind, random.below(20'000) + 1);
  }
  std::string closing;  // an empty line in front of each that does not fit beside it
  while (closing.size() < 400'000) closing += '\n' + std::string(7'900, 'c') + '\n';
  const std::vector<std::string> texts{repeated(empty, 60'000),
                                       repeated(empty, 60'000) + repeated(longest, 300'000),
                                       repeated(longest, 300'000) + repeated(empty, 60'000),
                                       repeated(empty, 60'000) + closing,
                                       repeated(longer, 200'000) + repeated(empty, 30'000) + repeated(longer, 200'000),
                                       mixed,
                                       repeated(word, 300'000)};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::uint64_t runs = runs_of(texts[i]), most = most_runs_in_place(small_plan(), texts[i].size() + 1);
    EXPECT_LE(runs, most) << i;
    if (i == 0) {
      EXPECT_GE(4 * runs, most) << "the count is near the worst there is";
    }
  }
}

namespace {

JobHeader header_for(std::uint64_t bytes) {
  JobHeader header{.kind = JobHeader::Kind::lines_in_place, .inputs = {{.path = "/f", .size_bytes = bytes}}};
  header.layout.unit = page_bytes;
  header.layout.head_bytes = page_bytes;
  header.lines = LineTerms{};
  return header;
}

planner::LinePlan memory_of(std::uint64_t bytes) { return planner::plan_lines(bytes, 4, 100'000, false); }

}  // namespace

TEST(LinesInPlacePlan, TakesTheMostMemoryThatTheSpaceAllows) {
  constexpr std::uint64_t GB = 1'000'000'000, unlimited = std::uint64_t{1} << 60U;
  for (const std::uint64_t bytes : {GB / 10, GB, 10 * GB, 100 * GB}) {
    const JobHeader header = header_for(bytes);
    const planner::LinePlan memory = memory_of(std::uint64_t{1} << 30U);
    const LinesInPlaceChoice ample = choose_lines_in_place(header, memory, unlimited, 0);
    ASSERT_TRUE(ample.best && ample.least) << bytes;
    EXPECT_LE(ample.best->plan.memory_bytes, memory.memory_bytes);
    EXPECT_LE(ample.best->need_bytes(), std::max(bytes / 5, 3 * ample.best->plan.run_buffer_bytes)) << bytes;
    const std::uint64_t least = ample.least->need_bytes();
    EXPECT_TRUE(choose_lines_in_place(header, memory, least, 0).best) << bytes;
    EXPECT_FALSE(choose_lines_in_place(header, memory, least - 1, 0).best) << bytes;
    std::uint64_t before = 0;
    for (std::uint64_t free = least; free < 2 * ample.best->need_bytes(); free += free / 4) {
      const LinesInPlace plan = *choose_lines_in_place(header, memory, free, 0).best;
      EXPECT_LE(plan.need_bytes(), free);
      EXPECT_GE(plan.plan.memory_bytes, before);
      before = plan.plan.memory_bytes;
    }
  }
}

TEST(LinesInPlacePlan, SaysWhatMemorySuffices) {
  for (const std::uint64_t bytes : {std::uint64_t{1} << 30U, std::uint64_t{1} << 36U}) {
    const JobHeader header = header_for(bytes);
    const planner::LinePlan little = memory_of(planner::least_line_memory_bytes);
    EXPECT_FALSE(choose_lines_in_place(header, little, UINT64_MAX, 0).least);
    const std::uint64_t enough = least_lines_memory_bytes(header, little);
    EXPECT_TRUE(choose_lines_in_place(header, memory_of(enough), UINT64_MAX, 0).best) << bytes;
  }
}

}  // namespace ecosort::demsort_inplace
