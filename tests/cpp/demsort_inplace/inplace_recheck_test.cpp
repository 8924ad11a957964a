// Bytes change and space comes free late after a crash, before somebody resumes.
#include <gmock/gmock.h>

#include <cerrno>
#include <vector>

#include "base/errors.h"
#include "cpp/demsort_inplace/inplace_harness.h"
#include "demsort_inplace/recheck.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"

namespace ecosort::demsort_inplace {

namespace {

using io::Effect;
using io::FaultPoint;
using io::Role;

// The job, stopped at its second checkpoint or later.
io::DiskImage interrupted_in_merge(const SmallJob& job) {
  const auto nth = static_cast<unsigned>(job.header().layout.runs() + 3);  // the header, each run, the first checkpoint
  io::FaultPlan plan({{Role::journal, FaultPoint::sync, nth, {.kind = Effect::Kind::error, .number = EIO}}});
  MemoryMachine disk(job.disk(), {.records_events = false});
  io::FaultyQueue queue(*disk.queue, plan);
  EXPECT_THROW((void)JobMachine(disk.store, queue).start(job), IoError);
  return disk.store.snapshot();
}

// Bytes that the journal says the output holds.
std::uint64_t merged_bytes(const io::DiskImage& image, const SmallJob& job) {
  MemoryMachine disk(image, {.records_events = false});
  return examine(job_file, disk.store, *disk.queue).records_merged() * job.format.record_size;
}

}  // namespace

// A byte that changes in what the output holds already is in no run any more: the journal's sums show it before more is given up.
TEST(InPlaceRecheck, AChangedByteInTheOutputEndsItBeforeAnythingIsCutOff) {
  const SmallJob& job = small_jobs().front();
  const io::DiskImage interrupted = interrupted_in_merge(job);
  const std::uint64_t held = merged_bytes(interrupted, job);
  ASSERT_GT(held, 0U);
  for (const std::uint64_t at : {std::uint64_t{0}, held / 2, held - 1}) {
    io::DiskImage damaged = interrupted;
    flip_byte(damaged.files.at(JobPaths(job_file).output), at);
    MemoryMachine disk(damaged, {.records_events = false});
    EXPECT_THROW((void)disk.machine.resume(), OutputChanged) << "byte " << at;
    EXPECT_THROW((void)disk.machine.abandon(), OutputChanged) << "byte " << at;
    EXPECT_TRUE(have_same_files(disk.store.snapshot(), damaged)) << "byte " << at;
    disk.machine.trusts_drive = true;
    EXPECT_FALSE(disk.machine.resume().resumed.value().is_checked);
  }
  MemoryMachine sound(interrupted, {.records_events = false});
  EXPECT_TRUE(sound.machine.resume().resumed.value().is_checked);
  EXPECT_TRUE(holds_only(sound.store.snapshot(), job.sorted()));
}

// Records that change places leave the sums as they are.
TEST(InPlaceRecheck, RecordsThatChangedPlacesAreFoundByTheirOrder) {
  const SmallJob& job = small_jobs().front();
  io::DiskImage damaged = interrupted_in_merge(job);
  io::PagedBytes& output = damaged.files.at(JobPaths(job_file).output);
  const std::uint64_t size = job.format.record_size, last = merged_bytes(damaged, job) - size;
  std::vector<std::byte> smallest(size), largest(size);
  (void)output.read(0, smallest.data(), size);
  (void)output.read(last, largest.data(), size);
  ASSERT_NE(smallest, largest);
  output.write(0, largest.data(), size);
  output.write(last, smallest.data(), size);
  MemoryMachine disk(damaged, {.records_events = false});
  EXPECT_THROW((void)disk.machine.resume(), OutputChanged);
}

// A changed byte is found while runs are put back behind it as well, and when the job is complete but for the result's name.
TEST(InPlaceRecheck, AChangedByteIsFoundInEveryLaterStep) {
  const SmallJob& job = small_jobs().front();
  for (const bool abandons : {false, true}) {
    for (unsigned nth = 1;; ++nth) {
      MemoryMachine disk(interrupted_in_merge(job), {.records_events = false});
      io::FaultPlan plan({{Role::journal, FaultPoint::sync, nth, {.kind = Effect::Kind::error, .number = EIO}}});
      io::FaultyStorage storage(disk.store, plan);
      io::FaultyQueue queue(*disk.queue, plan);
      JobMachine failing(storage, queue);
      try {
        (void)(abandons ? failing.abandon() : failing.resume());
        EXPECT_GE(nth, 4U);
        break;
      } catch (const IoError&) {
      }
      io::DiskImage damaged = disk.store.snapshot();
      flip_byte(damaged.files.at(JobPaths(job_file).output), 0);
      MemoryMachine later(damaged, {.records_events = false});
      EXPECT_THROW((void)later.machine.resume(), OutputChanged) << "sync " << nth;
      EXPECT_TRUE(have_same_files(later.store.snapshot(), damaged));
      (void)disk.machine.resume();  // without the damage it continues
      const std::string text = text_of(disk.store.snapshot().files.at(job_file));
      EXPECT_EQ(as_multiset(text, job.format.record_size), as_multiset(job.input(), job.format.record_size));
    }
  }
}

// A file system that gives back what was cut off only after a while (XFS): waited for, in the space that the plan counts.
TEST(InPlaceRecheck, SpaceThatComesFreeLateIsWaitedFor) {
  for (const SmallJob& job : small_jobs()) {
    const io::MemoryStore::Options late{.capacity_bytes = job.bound_bytes(), .frees_late = true, .records_events = false};
    MemoryMachine disk(job.disk(), late);
    ASSERT_NO_THROW((void)disk.machine.start(job)) << job.name;
    EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted())) << job.name;
  }
  const SmallJob& job = small_jobs().front();
  MemoryMachine again(interrupted_in_merge(job),
                      {.capacity_bytes = job.bound_bytes(), .frees_late = true, .records_events = false});
  ASSERT_NO_THROW((void)again.machine.resume());
  EXPECT_TRUE(holds_only(again.store.snapshot(), job.sorted()));
}

}  // namespace ecosort::demsort_inplace
