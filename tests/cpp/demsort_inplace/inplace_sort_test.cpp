// The in-place sort as a whole: the right result, every byte moved twice, and what happens when something fails on the way.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <map>
#include <utility>

#include "base/errors.h"
#include "cpp/demsort_inplace/inplace_harness.h"
#include "cpp/support/fault_sweep.h"
#include "cpp/support/sync_sweep.h"
#include "cpp/support/watchdog.h"
#include "demsort_inplace/kept_keys.h"
#include "doubles/crash_model.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"

namespace ecosort::demsort_inplace {

namespace {

using io::Effect;
using io::FaultPoint;
using io::Role;

const std::string job_directory = job_file + ".ecosort";

// Changes what one of the reads of keys in the heads of runs gives.
class WrongKeys : public io::Queue {
 public:
  WrongKeys(io::Queue& below, std::uint64_t head_bytes, std::uint64_t table_bytes, std::uint64_t nth)
      : below_(below), head_bytes_(head_bytes), table_bytes_(table_bytes), left_(nth) {}

  [[nodiscard]] const char* backend_name() const noexcept override { return below_.backend_name(); }
  void submit(const io::IoRequest& request) override {
    const bool is_of_keys = request.operation == io::Operation::read && request.file->role() == Role::run &&
                            request.offset + request.size == head_bytes_;
    if (is_of_keys && left_ > 0 && --left_ == 0) wrong_ = request;
    below_.submit(request);
  }
  void wait(std::vector<io::Completion>& out, bool block) override {
    const std::size_t before = out.size();
    below_.wait(out, block);
    for (std::size_t i = before; i < out.size(); ++i) {
      if (wrong_.data == nullptr || out[i].tag != wrong_.tag) continue;
      std::byte* const end = wrong_.data + wrong_.size;
      for (std::byte* at = end - table_bytes_; at < end; ++at) *at ^= std::byte{1};
      wrong_ = {};
    }
  }
  void notify() noexcept override { below_.notify(); }
  void cancel_streams() override { below_.cancel_streams(); }

 private:
  io::Queue& below_;
  const std::uint64_t head_bytes_, table_bytes_;
  std::uint64_t left_;
  io::IoRequest wrong_;
};

// The power-cut jobs, and ones with more runs, threads' worth of records, and every kind of keys.
std::vector<SmallJob> jobs() {
  std::vector<SmallJob> jobs = small_jobs();
  for (const engine::fixed::Keys keys : engine::fixed::all_keys) {
    jobs.push_back({.name = engine::fixed::to_string(keys),
                    .format = {53, {{20, 6}, {3, 9, true}}},
                    .keys = keys,
                    .records = 9'001,
                    .piece_records = 500,
                    .run_block_bytes = 8'192,
                    .interval_bytes = std::uint64_t{128} * 1024});
    jobs.push_back(jobs.back());
    jobs.back().run_block_bytes = 4'096;
    jobs.back().reads_keys = true;
  }
  jobs.push_back({.name = "one_record", .format = {100, {{0, 10}}}, .records = 1, .piece_records = 1});
  jobs.push_back({.name = "tiny_records", .format = {1, {{0, 1}}}, .records = 20'011, .piece_records = 4'999});
  return jobs;
}

}  // namespace

TEST(InPlaceSort, SortsStablyAndLeavesNothingBehind) {
  for (const SmallJob& job : jobs()) {
    for (const std::uint64_t seed : {1U, 2U}) {
      MemoryMachine disk(job.disk(), {.seed = seed, .records_events = false});
      const engine::fixed::SortReport report = disk.machine.start(job);
      EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted())) << job.name;
      EXPECT_EQ(report.records, job.records);
      EXPECT_EQ(report.runs, job.header().layout.runs());
      EXPECT_EQ(disk.store.open_files(), 0U);
    }
  }
}

TEST(InPlaceSort, MovesEveryByteTwice) {
  const SmallJob& job = small_jobs().front();
  const Layout layout = job.header().layout;
  MemoryMachine disk(job.disk(), {.records_events = false});
  const engine::fixed::SortReport report = disk.machine.start(job);
  const std::uint64_t moved = layout.bytes() + layout.all_run_bytes(), journal = Journal::size_bytes(job.header());
  EXPECT_GE(report.traffic.bytes_read, moved - layout.runs() * layout.head_bytes) << "descriptions are only written";
  EXPECT_LE(report.traffic.bytes_read, moved + (layout.runs() + 1) * 1'024) << "but for units at the edges of pieces";
  EXPECT_GE(report.traffic.bytes_written, moved);
  EXPECT_LE(report.traffic.bytes_written, moved + 4 * journal);
}

namespace {

// The job, stopped by a write that fails.
io::DiskImage interrupted_at(const SmallJob& job, Role role, unsigned nth) {
  io::FaultPlan plan({{role, FaultPoint::write, nth, {.kind = Effect::Kind::error, .number = EIO}}});
  MemoryMachine disk(job.disk(), {.records_events = false});
  io::FaultyQueue queue(*disk.queue, plan);
  EXPECT_THROW((void)JobMachine(disk.store, queue).start(job), IoError);
  return disk.store.snapshot();
}

// Brings to an end what is left on the disk, which is sound again.
Left bring_to_an_end(MemoryMachine& disk, const SmallJob& job) {
  JobStatus status = examine(job_file, disk.store, *disk.queue);
  const JobStatus::Kind kind = status.kind;
  if (kind == JobStatus::Kind::under_way || kind == JobStatus::Kind::complete) {
    status = {};  // it holds the job
    (void)disk.machine.resume();
  } else if (kind != JobStatus::Kind::none) {
    discard(job_file, std::move(status), disk.store);
  }
  const io::DiskImage now = disk.store.snapshot();
  if (holds_only(now, job.sorted())) return Left::sorted;
  const bool may_be_untouched = kind != JobStatus::Kind::under_way && kind != JobStatus::Kind::complete;
  return may_be_untouched && holds_only(now, job.input()) ? Left::untouched : Left::something_else;
}

}  // namespace

// Once for each thing that can fail, for a moment and for good: the job ends with one error, and is resumed to the right end.
TEST(InPlaceSort, EveryFailureLeavesAJobThatCanBeResumed) {
  Watchdog watchdog("an in-place job under a fault");
  for (const SmallJob& job : {small_jobs()[0], small_jobs()[4]}) {
    MemoryMachine count(job.disk(), {.records_events = false});
    Failing<JobMachine> counted(count.store, *count.queue, {});
    (void)counted.machine.start(job);
    std::uint64_t failures = 0, untouched = 0;
    const std::vector<io::Fault> faults = faults_to_try(counted.plan);
    for (const io::Fault& fault : faults) {
      const std::string what = fmt::format("{}: {}", job.name, to_text(fault));
      SCOPED_TRACE(what);
      watchdog.next(what);
      MemoryMachine disk(job.disk(), {.records_events = false});
      Failing<JobMachine> failing(disk.store, *disk.queue, {fault});
      bool has_failed = false;
      try {
        (void)failing.machine.start(job);
      } catch (const IoError&) {
        has_failed = true;
        ++failures;
      }
      ASSERT_GE(failing.plan.fired(), 1U);
      ASSERT_TRUE(has_failed || !is_sync(fault)) << "a failed sync was passed over";
      Left left{};
      ASSERT_NO_THROW(left = bring_to_an_end(disk, job));
      ASSERT_NE(left, Left::something_else);
      ASSERT_TRUE(has_failed || left == Left::sorted);
      untouched += left == Left::untouched ? 1 : 0;
    }
    std::printf("%s: %zu faults at %zu kinds of operations; %llu ended the job\n", job.name, faults.size(),
                distinct_points(faults), static_cast<unsigned long long>(failures));
    EXPECT_GE(distinct_points(faults), 25U);
    EXPECT_GT(failures, faults.size() / 2);
    EXPECT_GT(untouched, 3U);
  }
}

// Sweeps a job and its resumption.
TEST(InPlaceSort, ASyncThatFailedOnceIsNeverTakenForDurable) {
  Watchdog watchdog("an in-place job under a failing sync");
  const SmallJob& job = small_jobs().front();
  const auto end = [&](MemoryMachine& disk) { return bring_to_an_end(disk, job); };
  const auto start = [&](JobMachine& machine) { (void)machine.start(job); };
  fail_each_sync<MemoryMachine>(watchdog, "start", job.disk(), 15, start, end);
  const auto resume = [](JobMachine& machine) { (void)machine.resume(); };
  fail_each_sync<MemoryMachine>(watchdog, "resume", interrupted_at(job, Role::output, 3), 8, resume, end);
}

// The keys of the forecast are kept in the heads of the runs. Without them the merge comes to the same end, but reads the runs in
// part twice.
TEST(InPlaceSort, AResumedMergeReadsNoRunTwiceForItsForecast) {
  const SmallJob &job = small_jobs()[0], &by_windows = small_jobs()[1];
  ASSERT_TRUE(by_windows.reads_keys);
  const auto without_keys = [](const SmallJob& of, io::DiskImage image) {
    const Layout layout = of.header().layout;
    for (std::uint64_t run = 0; run < layout.runs(); ++run)
      flip_byte(image.files.at(JobPaths(job_file).run(run)), layout.head_bytes - 1);
    return image;
  };
  const io::DiskImage image = interrupted_at(job, Role::output, 3);
  const auto reads_of_runs = [&](const io::DiskImage& from) {
    MemoryMachine disk(from, {.records_events = false});
    io::FaultPlan plan(std::vector<io::Fault>{});
    io::FaultyQueue queue(*disk.queue, plan);
    (void)JobMachine(disk.store, queue).resume();
    EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted()));
    return plan.seen(Role::run, FaultPoint::read);
  };
  const std::uint64_t with_keys = reads_of_runs(image), without = reads_of_runs(without_keys(job, image));
  EXPECT_LT(with_keys, without);
  MemoryMachine disk(without_keys(by_windows, interrupted_at(by_windows, Role::output, 3)), {.records_events = false});
  (void)disk.machine.resume();
  EXPECT_TRUE(holds_only(disk.store.snapshot(), by_windows.sorted()));
}

// A key that is wrong would let the merge go too far, and a checkpoint would make that durable.
TEST(InPlaceSort, AKeyThatIsReadWronglyStopsItBeforeItIsFollowed) {
  for (const SmallJob& job : small_jobs()) {
    if (!job.reads_keys) continue;
    const Layout layout = job.header().layout;
    for (std::uint64_t nth = 1; nth <= 6; ++nth) {
      MemoryMachine disk(job.disk(), {.records_events = false});
      WrongKeys queue(*disk.queue, layout.head_bytes, kept_keys_bytes(layout.run_run_blocks(0), layout.key_stride), nth);
      try {
        (void)JobMachine(disk.store, queue).start(job);
        ADD_FAILURE() << job.name << ": read " << nth << " of keys was wrong";
      } catch (const IoError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("the keys in '/disk/data.ecosort/run-"));
      }
      (void)disk.machine.resume();
      EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted())) << job.name;
    }
  }
}

TEST(InPlaceSort, AFullDiskStopsItUntilThereIsRoomAgain) {
  const SmallJob& job = small_jobs().front();
  const std::uint64_t bound = job.header().layout.total_bytes() + Journal::size_bytes(job.header());
  // Someone else takes what the job gives up for a moment.
  io::FaultPlan plan({{Role::run, FaultPoint::reserve, 3, {.kind = Effect::Kind::error, .number = ENOSPC}}});
  MemoryMachine disk(job.disk(), {.capacity_bytes = bound, .records_events = false});
  io::FaultyStorage storage(disk.store, plan);
  io::FaultyQueue queue(*disk.queue, plan);
  EXPECT_THROW((void)JobMachine(storage, queue).start(job), IoError);
  EXPECT_EQ(disk.machine.kind(), JobStatus::Kind::under_way);
  (void)disk.machine.resume();
  EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted()));
}

// A bit that flips in a run is found before anything that depends on it is given up; the bit back in its place, all continues.
TEST(InPlaceSort, ADamagedRunStopsItAndNothingMoreIsGivenUp) {
  const SmallJob& job = small_jobs().front();
  io::FaultPlan plan({{Role::output, FaultPoint::write, 3, {.kind = Effect::Kind::error, .number = EIO}}});
  MemoryMachine disk(job.disk(), {.records_events = false});
  io::FaultyQueue queue(*disk.queue, plan);
  EXPECT_THROW((void)JobMachine(disk.store, queue).start(job), IoError);
  const io::DiskImage interrupted = disk.store.snapshot();
  for (std::uint64_t run = 0; run < job.header().layout.runs(); ++run) {
    io::DiskImage damaged = interrupted;
    io::PagedBytes& contents = damaged.files.at(JobPaths(job_file).run(run));
    if (contents.size() == 0) continue;
    const std::uint64_t head = job.header().layout.head_bytes, at = head + (contents.size() - head) / 3;
    std::byte byte{};
    contents.read(at, &byte, 1);
    const std::byte flipped = byte ^ std::byte{4};
    contents.write(at, &flipped, 1);
    MemoryMachine broken(damaged, {.records_events = false});
    EXPECT_THROW((void)broken.machine.resume(), IoError) << "run " << run;
    EXPECT_EQ(broken.machine.kind(), JobStatus::Kind::under_way);
    io::DiskImage repaired = broken.store.snapshot();
    io::PagedBytes& again = repaired.files.at(JobPaths(job_file).run(run));
    ASSERT_GT(again.size(), at) << "what was damaged was given up";
    again.write(at, &byte, 1);
    MemoryMachine mended(repaired, {.records_events = false});
    (void)mended.machine.resume();
    EXPECT_TRUE(holds_only(mended.store.snapshot(), job.sorted())) << "run " << run;
  }
}

// With `--trust-drive` what a damaged block holds is given back as it is: the other records are there.
TEST(InPlaceSort, ADamagedRunIsGivenBackWhenTheDriveIsTrusted) {
  const SmallJob& job = small_jobs().front();
  for (const std::uint64_t nth : {1, 3}) {
    io::FaultPlan plan({{Role::output, FaultPoint::write, nth, {.kind = Effect::Kind::error, .number = EIO}}});
    MemoryMachine disk(job.disk(), {.records_events = false});
    io::FaultyQueue queue(*disk.queue, plan);
    EXPECT_THROW((void)JobMachine(disk.store, queue).start(job), IoError);
    io::DiskImage damaged = disk.store.snapshot();
    for (std::uint64_t run = 0; run < job.header().layout.runs(); ++run) {
      io::PagedBytes& contents = damaged.files.at(JobPaths(job_file).run(run));
      for (std::uint64_t at = job.header().layout.head_bytes; at < contents.size(); at += 1000) flip_byte(contents, at);
    }
    MemoryMachine broken(damaged, {.records_events = false});
    for (int i = 0; i < 2; ++i) EXPECT_THROW((void)broken.machine.abandon(), DamagedRun);
    broken.machine.trusts_drive = true;
    (void)broken.machine.abandon();
    EXPECT_EQ(broken.store.contents(job_file).size(), job.input().size());
    EXPECT_TRUE(broken.store.snapshot().files.size() == 1);
  }
}

// Somebody else removed files of the job directory.
TEST(InPlaceSort, AnInputThatIsGoneIsMissedOnlyWhereNoRunHoldsIt) {
  const SmallJob& job = small_jobs().front();
  const auto break_at = [&](Role role, FaultPoint point, std::uint64_t nth, const std::string& victim) {
    MemoryMachine disk(job.disk(), {.records_events = false});
    io::FaultPlan plan({{role, point, nth, {.kind = Effect::Kind::error, .number = EIO}}});
    io::FaultyStorage storage(disk.store, plan);
    io::FaultyQueue queue(*disk.queue, plan);
    EXPECT_THROW((void)JobMachine(storage, queue).start(job), IoError);
    disk.store.remove(victim);
    return disk.store.snapshot();
  };
  const std::string input = JobPaths(job_file).input;
  const io::DiskImage formed = break_at(Role::output, FaultPoint::write, 1, input);
  MemoryMachine resumed(formed, {.records_events = false});
  EXPECT_THAT(resumed.machine.resume().notices, testing::Contains(testing::HasSubstr("and with it the owner, the mode")));
  EXPECT_TRUE(holds_only(resumed.store.snapshot(), job.sorted()));
  MemoryMachine given_up(formed, {.records_events = false});
  (void)given_up.machine.abandon();
  EXPECT_EQ(as_multiset(given_up.store.contents(job_file), job.format.record_size),
            as_multiset(job.input(), job.format.record_size));

  MemoryMachine half(break_at(Role::journal, FaultPoint::sync, 4, input), {.records_events = false});
  EXPECT_THROW((void)half.machine.resume(), DamagedRun);
  EXPECT_THROW((void)half.machine.abandon(), DamagedRun);
  half.machine.trusts_drive = true;
  (void)half.machine.abandon();
  EXPECT_EQ(half.store.contents(job_file).size(), job.input().size());

  MemoryMachine complete(break_at(Role::journal, FaultPoint::rename, 2, JobPaths(job_file).output), {.records_events = false});
  EXPECT_THROW((void)complete.machine.resume(), ExplainedIoError);
  complete.machine.only_completes = true;  // as where a job that is given up is resumed
  EXPECT_THROW((void)complete.machine.abandon(), ExplainedIoError);
  complete.machine.only_completes = false;
  EXPECT_THAT(complete.machine.abandon().notices, testing::Contains(testing::HasSubstr("nothing of '/disk/data' is left")));
  EXPECT_TRUE(complete.store.snapshot().files.empty());
}

// The same place fails on every attempt: nothing changes by that. Once the drive works again, or when it is trusted, all is given
// back.
TEST(InPlaceSort, APlaceThatFailsEveryTimeIsNoDeadEnd) {
  for (const SmallJob& job : small_jobs()) {
    for (const auto& [role, point] : {std::pair{Role::run, FaultPoint::read}, std::pair{Role::output, FaultPoint::write}}) {
      for (const std::uint64_t nth : {1, 2, 5}) {
        SCOPED_TRACE(std::string(job.name) + " " + std::to_string(nth));
        MemoryMachine disk(job.disk(), {.records_events = false});
        const auto fail = [&](const auto& work) {
          io::FaultPlan plan({{role, point, nth, {.kind = Effect::Kind::error, .number = EIO}, /*is_persistent=*/true}});
          io::FaultyQueue queue(*disk.queue, plan);
          JobMachine machine(disk.store, queue);
          try {
            work(machine);
          } catch (const IoError&) {
            return true;
          }
          return false;
        };
        if (!fail([&](JobMachine& machine) { (void)machine.start(job); })) continue;
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(fail([](JobMachine& machine) { (void)machine.resume(); }));
        const io::DiskImage stuck = disk.store.snapshot();
        (void)disk.machine.abandon();
        EXPECT_EQ(as_multiset(disk.store.contents(job_file), job.format.record_size),
                  as_multiset(job.input(), job.format.record_size));
        if (role == Role::output) continue;
        MemoryMachine trusting(stuck, {.records_events = false});
        io::FaultPlan plan({{role, point, nth, {.kind = Effect::Kind::error, .number = EIO}, /*is_persistent=*/true}});
        io::FaultyQueue queue(*trusting.queue, plan);
        JobMachine machine(trusting.store, queue);
        machine.trusts_drive = true;
        EXPECT_THAT(machine.abandon().notices,
                    testing::Contains(testing::HasSubstr("could not be read: zeros are in their place")));
        EXPECT_EQ(trusting.store.contents(job_file).size(), job.input().size());
      }
    }
  }
}

namespace {

std::map<std::string, std::string> texts_of(const io::DiskImage& image) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, contents] : image.files) texts[name] = text_of(contents);
  return texts;
}

}  // namespace

// A record of the journal that cannot be read any more must not make what it spoke of look like what no one needs.
TEST(InPlaceSort, ADamagedJournalDestroysNothing) {
  const SmallJob& job = small_jobs().front();
  const std::string journal = JobPaths(job_file).journal;
  unsigned refused = 0;
  for (const auto& [role, nth] : {std::pair{Role::run, 4U}, std::pair{Role::output, 3U}}) {
    const io::DiskImage interrupted = interrupted_at(job, role, nth);
    for (std::uint64_t at = 40; at < interrupted.files.at(journal).size(); at += 4096) {
      io::DiskImage damaged = interrupted;
      flip_byte(damaged.files.at(journal), at);
      MemoryMachine broken(damaged, {.records_events = false});
      try {
        (void)broken.machine.resume();  // the record was not needed
        EXPECT_TRUE(holds_only(broken.store.snapshot(), job.sorted())) << "byte " << at;
        continue;
      } catch (const Error&) {
        ++refused;
      }
      EXPECT_EQ(texts_of(broken.store.snapshot()), texts_of(damaged)) << "byte " << at;
      io::DiskImage repaired = broken.store.snapshot();
      flip_byte(repaired.files.at(journal), at);
      MemoryMachine mended(repaired, {.records_events = false});
      (void)mended.machine.resume();
      EXPECT_TRUE(holds_only(mended.store.snapshot(), job.sorted())) << "byte " << at;
    }
  }
  EXPECT_GE(refused, 4U);
}

// A record that somebody appends while the job is planned, or to the file that is being sorted, must not be gone.
TEST(InPlaceSort, AnAppendedRecordIsNeverCutOff) {
  const SmallJob& job = small_jobs().front();
  const std::string more(job.format.record_size, 'x');
  {
    MemoryMachine disk(io::make_image({{job_file, job.input() + more}}), {.records_events = false});
    EXPECT_THROW((void)disk.machine.start(job), IoError);
    EXPECT_TRUE(holds_only(disk.store.snapshot(), job.input() + more));
  }
  io::DiskImage image = interrupted_at(job, Role::run, 4);
  io::PagedBytes& input = image.files.at(JobPaths(job_file).input);
  input.write(input.size(), reinterpret_cast<const std::byte*>(more.data()), more.size());
  MemoryMachine disk(image, {.records_events = false});
  EXPECT_THROW((void)disk.machine.resume(), IoError);
  EXPECT_EQ(texts_of(disk.store.snapshot()), texts_of(image));
}

namespace {

// Somebody makes a file under the old name in the last moment.
class Intruder : public io::FaultyStorage {
 public:
  Intruder(io::NamedStorage& below, io::FaultPlan& plan, std::string from)
      : FaultyStorage(below, plan), below_(below), from_(std::move(from)) {}
  void rename_new(const std::string& from, const std::string& to) override {
    if (from == from_) below_.close(below_.create_named(to, Role::output, io::Caching::buffered));
    FaultyStorage::rename_new(from, to);
  }

 private:
  io::NamedStorage& below_;
  std::string from_;
};

}  // namespace

TEST(InPlaceSort, AFileThatIsMadeWhileTheResultGetsItsNameStays) {
  const SmallJob& job = small_jobs().front();
  MemoryMachine disk(job.disk(), {.records_events = false});
  io::FaultPlan none;
  Intruder storage(disk.store, none, JobPaths(job_file).output);
  EXPECT_THROW((void)JobMachine(storage, *disk.queue).start(job), JobRefused);
  EXPECT_EQ(disk.store.contents(job_file), "");
  disk.store.remove(job_file);
  (void)disk.machine.resume();
  EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted()));
}

TEST(InPlaceSort, WhereNoSpaceCanBeReservedNothingIsBegun) {
  const SmallJob& job = small_jobs().front();
  io::FaultPlan plan({{Role::run, FaultPoint::reserve, 1, {.kind = Effect::Kind::error, .number = EOPNOTSUPP}, true}});
  MemoryMachine disk(job.disk(), {.records_events = false});
  io::FaultyStorage storage(disk.store, plan);
  io::FaultyQueue queue(*disk.queue, plan);
  EXPECT_THROW((void)JobMachine(storage, queue).start(job), UsageError);
  EXPECT_TRUE(holds_only(disk.store.snapshot(), job.input()));
}

namespace {

// Somebody touches the input while it is being sorted.
class Toucher : public io::FaultyStorage {
 public:
  Toucher(io::NamedStorage& below, io::FaultPlan& plan, unsigned nth) : FaultyStorage(below, plan), left_(nth) {}
  io::FileState state(const io::File& file) override {
    io::FileState state = FaultyStorage::state(file);
    if (file.role() == Role::input && (left_ == 0 || --left_ == 0)) ++state.modified_ns;
    return state;
  }

 private:
  unsigned left_;
};

// The job under a fault of its queue ends with a failed verification; as nothing that was needed is gone, it can be resumed.
void expect_failed_verification(const SmallJob& job, const std::string& fault, const std::string& words) {
  SCOPED_TRACE(fmt::format("{}: {}", job.name, fault));
  io::FaultPlan plan(io::parse_faults(fault));
  MemoryMachine disk(job.disk(), {.records_events = false});
  io::FaultyQueue queue(*disk.queue, plan);
  try {
    (void)JobMachine(disk.store, queue).start(job);
    ADD_FAILURE() << "not noticed";
  } catch (const VerificationError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(words));
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
  ASSERT_GT(plan.fired(), 0U);
  ASSERT_EQ(disk.machine.kind(), JobStatus::Kind::under_way);
  (void)disk.machine.resume();
  EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted()));
}

// The records that the journal has of a run are said to be others.
io::DiskImage with_another_tally(const io::DiskImage& image) {
  MemoryMachine disk(image, {.records_events = false});
  io::Reactor reactor(*disk.queue, 1, 1);
  const io::FilePtr file = disk.store.open_named(JobPaths(job_file).journal, Role::journal, io::Caching::direct_if_possible);
  Journal journal(reactor, *file);
  const auto alter = [&]() -> Task<void> {
    const std::optional<JournalContents> contents = co_await journal.open();
    RunDone done = contents.value().runs.front();
    done.tally.hash = {1, 2, done.tally.hash.count};
    co_await journal.append(done);
  };
  const std::atomic<int> nothing{0};
  TaskGroup group(reactor.scope());
  group.spawn(alter());
  reactor.run(group, nothing);
  return disk.store.snapshot();
}

}  // namespace

TEST(InPlaceSort, AnInputThatChangesIsGivenUpNoFurther) {
  const SmallJob& job = small_jobs().front();
  unsigned stopped = 0;
  for (unsigned nth = 4; nth <= 12; ++nth) {
    MemoryMachine disk(job.disk(), {.records_events = false});
    io::FaultPlan none;
    Toucher storage(disk.store, none, nth);
    try {
      (void)JobMachine(storage, *disk.queue).start(job);
      continue;  // it was asked less often
    } catch (const IoError& error) {
      ++stopped;
      EXPECT_THAT(error.what(), ::testing::HasSubstr("changed by someone else"));
    }
    ASSERT_EQ(disk.machine.kind(), JobStatus::Kind::under_way);
    (void)disk.machine.resume();
    EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted()));
  }
  EXPECT_GE(stopped, 4U);
}

TEST(InPlaceSort, AnInputThatIsTouchedBeforeItBeginsIsLeftAlone) {
  const SmallJob& job = small_jobs().front();
  for (unsigned nth = 2; nth <= 3; ++nth) {
    MemoryMachine disk(job.disk(), {.records_events = false});
    io::FaultPlan none;
    Toucher storage(disk.store, none, nth);
    EXPECT_THROW((void)JobMachine(storage, *disk.queue).start(job), IoError);
    EXPECT_TRUE(holds_only(disk.store.snapshot(), job.input()));
  }
}

// Memory that fails between reading a record and writing it. What is given up is what was verified.
TEST(InPlaceSort, RecordsThatChangeInMemoryAreNoticedBeforeTheirSourceIsGivenUp) {
  const SmallJob& job = small_jobs()[4];  // no key ends a page
  expect_failed_verification(job, "input:read:1:decay", "were read as piece 0");
  expect_failed_verification(job, "input:read:2:decay", "were read as piece");
}

// Memory that fails after the checksum of a run block was found right and before its records are merged: what leaves the run
// blocks is compared with what they held then before a run is cut off, so that the job can be resumed to the right end.
TEST(InPlaceSort, RecordsThatChangeInMemoryDuringTheMergeAreNoticedBeforeTheRunsAreGivenUp) {
  for (const SmallJob& job : {small_jobs()[4], small_jobs()[6]}) {  // no page ends with a key or a checksum
    for (const unsigned nth : {1U, 2U, 4U}) {
      expect_failed_verification(job, fmt::format("run:read:{}:decay", nth), "were taken from the runs");
      expect_failed_verification(job, fmt::format("run:read:{}:decay:persistent", nth), "were taken from the runs");
    }
  }
}

TEST(InPlaceSort, AResultThatIsNotWhatWasReadIsNotComplete) {
  const SmallJob& job = small_jobs().front();
  const io::DiskImage interrupted = interrupted_at(job, Role::output, 3);
  MemoryMachine disk(with_another_tally(interrupted), {.records_events = false});
  EXPECT_THROW((void)disk.machine.resume(), VerificationError);
  EXPECT_EQ(disk.machine.kind(), JobStatus::Kind::under_way);
  EXPECT_FALSE(disk.store.exists(job_file));
}

TEST(InPlaceSort, AnOutputThatWasNotWrittenAsItWasIsNoticedWhenItIsReadBack) {
  SmallJob job = small_jobs().front();
  job.reread = true;
  for (const char* fault : {"output:write:2:flip", "output:write:1:lost"}) {
    io::FaultPlan plan(io::parse_faults(fault));
    MemoryMachine disk(job.disk(), {.records_events = false});
    io::FaultyQueue queue(*disk.queue, plan);
    EXPECT_THROW((void)JobMachine(disk.store, queue).start(job), VerificationError) << fault;
    EXPECT_FALSE(disk.store.exists(job_file));
  }
}

// The keys that run blocks begin with steer the merge before the run blocks are loaded. One that is wrong must not let it go too
// far: a checkpoint would make that durable, and the order could not be mended any more.
TEST(InPlaceSort, AWrongKeyAtTheBeginningOfARunBlockNeverReachesACheckpoint) {
  const SmallJob& job = small_jobs().front();
  const Layout layout = job.header().layout;
  io::FaultPlan plan({{Role::output, FaultPoint::write, 1, {.kind = Effect::Kind::error, .number = EIO}}});
  MemoryMachine disk(job.disk(), {.records_events = false});
  io::FaultyQueue queue(*disk.queue, plan);
  EXPECT_THROW((void)JobMachine(disk.store, queue).start(job), IoError);
  const io::DiskImage interrupted = disk.store.snapshot();
  for (std::uint64_t run = 0; run < layout.runs(); ++run) {
    for (std::uint64_t at = layout.head_bytes; at < layout.run_file_bytes(run, 0); at += layout.run_block.bytes) {
      const std::string path = JobPaths(job_file).run(run);
      io::DiskImage damaged = interrupted;
      const std::byte highest{0xff};
      std::byte byte{};
      damaged.files.at(path).read(at, &byte, 1);
      damaged.files.at(path).write(at, &highest, 1);
      MemoryMachine broken(damaged, {.records_events = false});
      EXPECT_THROW((void)broken.machine.resume(), IoError) << "run " << run << " byte " << at;
      io::DiskImage repaired = broken.store.snapshot();
      ASSERT_GT(repaired.files.at(path).size(), at) << "what was damaged was given up";
      repaired.files.at(path).write(at, &byte, 1);
      MemoryMachine mended(repaired, {.records_events = false});
      ASSERT_NO_THROW((void)mended.machine.resume()) << "run " << run << " byte " << at;
      EXPECT_TRUE(holds_only(mended.store.snapshot(), job.sorted())) << "run " << run << " byte " << at;
    }
  }
}

TEST(InPlaceSort, AnInterruptStopsAtACheckpointAndTheRestIsResumed) {
  const SmallJob& job = small_jobs().front();
  MemoryMachine disk(job.disk(), {.records_events = false});
  disk.machine.interrupted = SIGINT;  // from the beginning: it stops at every checkpoint there is
  std::uint64_t stops = 0;
  try {
    (void)disk.machine.start(job);
  } catch (const Interrupted&) {
    ++stops;
  }
  while (disk.machine.kind() == JobStatus::Kind::under_way && stops < 1'000) {
    try {
      (void)disk.machine.resume();
    } catch (const Interrupted&) {
      ++stops;
      // In the second phase a checkpoint needs a batch: without one there would be no progress.
      if (stops > job.header().layout.runs()) disk.machine.interrupted = 0;
    }
  }
  EXPECT_GE(stops, job.header().layout.runs());
  EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted()));
}

TEST(InPlaceSort, CanBeResumedWithMoreMemoryAndAbandonedInEveryPhase) {
  for (const SmallJob& job : {small_jobs()[0], small_jobs()[1], small_jobs()[4]}) {
    for (const auto& [role, nth] : {std::pair{Role::journal, 2UL}, std::pair{Role::journal, 3UL}, std::pair{Role::journal, 4UL},
                                    std::pair{Role::output, 1UL}}) {
      io::FaultPlan plan({{role, FaultPoint::sync, nth, {.kind = Effect::Kind::error, .number = EIO}}});
      MemoryMachine disk(job.disk(), {.records_events = false});
      io::FaultyQueue queue(*disk.queue, plan);
      EXPECT_THROW((void)JobMachine(disk.store, queue).start(job), IoError);
      const io::DiskImage interrupted = disk.store.snapshot();
      (void)disk.machine.resume(16 * planner::least_memory_bytes);
      EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted())) << job.name;

      const std::uint64_t bound = job.header().layout.total_bytes() + Journal::size_bytes(job.header());
      MemoryMachine other(interrupted, {.capacity_bytes = bound, .records_events = false});
      (void)other.machine.abandon();
      const std::string back = other.store.contents(job_file);
      EXPECT_TRUE(holds_only(other.store.snapshot(), back));
      EXPECT_EQ(as_multiset(back, job.format.record_size), as_multiset(job.input(), job.format.record_size)) << job.name;
    }
  }
}

TEST(InPlaceSort, AnAbandonedJobIsNeverMergedAgain) {
  const SmallJob& job = small_jobs().front();
  io::FaultPlan plan({{Role::journal, FaultPoint::sync, 3, {.kind = Effect::Kind::error, .number = EIO}}});
  MemoryMachine disk(job.disk(), {.records_events = false});
  io::FaultyQueue queue(*disk.queue, plan);
  EXPECT_THROW((void)JobMachine(disk.store, queue).start(job), IoError);
  io::FaultPlan cut({{Role::output, FaultPoint::sync, 1, {.kind = Effect::Kind::error, .number = EIO}}});
  io::FaultyQueue failing(*disk.queue, cut);
  EXPECT_THROW((void)JobMachine(disk.store, failing).abandon(), IoError);
  EXPECT_TRUE(examine(job_file, disk.store, *disk.queue).is_abandoned());
  (void)disk.machine.resume();
  EXPECT_EQ(as_multiset(disk.store.contents(job_file), 101), as_multiset(job.input(), 101));
}

TEST(InPlaceSort, AFileUnderTheOldNameIsNotOverwritten) {
  const SmallJob& job = small_jobs().front();
  io::FaultPlan plan({{Role::journal, FaultPoint::sync, 3, {.kind = Effect::Kind::error, .number = EIO}}});
  MemoryMachine disk(job.disk(), {.records_events = false});
  io::FaultyQueue queue(*disk.queue, plan);
  EXPECT_THROW((void)JobMachine(disk.store, queue).start(job), IoError);
  disk.store.close(disk.store.create_named(job_file, Role::output, io::Caching::buffered));
  EXPECT_THROW((void)disk.machine.kind(), UsageError);
  disk.store.remove(job_file);
  (void)disk.machine.resume();
  EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted()));
}

}  // namespace ecosort::demsort_inplace
