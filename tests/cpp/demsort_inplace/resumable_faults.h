// Resumable sorts of any kind must keep these promises when something fails on the way, for the tests of each kind
// (resumable_crash.h has the power cuts). A Sort says what is on the disk before and after; a Disk has a machine that works on
// it.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "cpp/demsort_inplace/resumable_harness.h"
#include "cpp/support/fault_sweep.h"
#include "cpp/support/sync_sweep.h"
#include "cpp/support/watchdog.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/recheck.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"

namespace ecosort::demsort_inplace {

using io::Effect;
using io::FaultPoint;
using io::Role;

template <class Disk>
using MachineOf = decltype(Disk::machine);

// A sort that fails at this point, on a disk of its own.
template <class Disk, class Sort>
struct BrokenSort {
  BrokenSort(const Sort& sort, Role role, FaultPoint point, std::uint64_t nth, int error = EIO)
      : disk(sort.disk(), {.records_events = false}),
        plan({{role, point, nth, {.kind = Effect::Kind::error, .number = error}}}),
        storage(disk.store, plan),
        queue(*disk.queue, plan) {
    EXPECT_THROW((void)MachineOf<Disk>(storage, queue).start(sort), IoError);
    EXPECT_EQ(plan.fired(), 1U);
  }
  Disk disk;
  io::FaultPlan plan;
  io::FaultyStorage storage;
  io::FaultyQueue queue;
};

// Brings to an end what is left on the disk, which is sound again.
template <class Disk, class Sort>
Left bring_to_an_end(Disk& disk, const Sort& sort) {
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

// Once for each thing that can fail, for a moment and for good: the sort ends with one error and can be resumed, or has left
// nothing.
template <class Disk, class Sort>
void fail_everywhere(const std::vector<Sort>& sorts) {
  Watchdog watchdog("a resumable sort under a fault");
  for (const Sort& sort : sorts) {
    Disk count(sort.disk(), {.records_events = false});
    Failing<MachineOf<Disk>> counted(count.store, *count.queue, {});
    (void)counted.machine.start(sort);
    std::uint64_t failures = 0, untouched = 0;
    const std::vector<io::Fault> faults = faults_to_try(counted.plan);
    for (const io::Fault& fault : faults) {
      const std::string what = fmt::format("{}: {}", sort.name(), to_text(fault));
      SCOPED_TRACE(what);
      watchdog.next(what);
      Disk disk(sort.disk(), {.records_events = false});
      Failing<MachineOf<Disk>> failing(disk.store, *disk.queue, {fault});
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

// Sweeps a sort and its resumption; the latter has at least so many.
template <class Disk, class Sort>
void fail_syncs_in_turn(const Sort& sort, std::size_t least_of_resumption) {
  Watchdog watchdog("a resumable sort under a failing sync");
  const auto end = [&](Disk& disk) { return bring_to_an_end(disk, sort); };
  const auto start = [&](MachineOf<Disk>& machine) { (void)machine.start(sort); };
  fail_each_sync<Disk>(watchdog, "start", sort.disk(), 15, start, end);
  const BrokenSort<Disk, Sort> broken(sort, Role::output, FaultPoint::write, 3);
  const auto resume = [](MachineOf<Disk>& machine) { (void)machine.resume(); };
  fail_each_sync<Disk>(watchdog, "resume", broken.disk.store.snapshot(), least_of_resumption, resume, end);
}

// The drive lost or changed something of the output: that shows when it is read back, and the output does not get its name.
template <class Disk, class Sort>
void lose_writes_of_output(const Sort& sort) {
  ASSERT_TRUE(sort.reread);
  for (const char* fault : {"output:write:2:flip", "output:write:1:lost"}) {
    io::FaultPlan plan(io::parse_faults(fault));
    Disk disk(sort.disk(), {.records_events = false});
    io::FaultyQueue queue(*disk.queue, plan);
    EXPECT_THROW((void)MachineOf<Disk>(disk.store, queue).start(sort), VerificationError) << sort.name() << ": " << fault;
    EXPECT_EQ(plan.fired(), 1U);
    EXPECT_EQ(disk.machine.look().kind, JobStatus::Kind::under_way);
    (void)disk.machine.abandon();
    EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), sort.previous())) << sort.name();
  }
}

// `merging`: the sync of the journal that fails when all runs are formed.
template <class Disk, class Sort>
void change_input(const Sort& sort, const std::string& input, std::uint64_t bytes, std::uint64_t merging) {
  for (const std::uint64_t nth : {std::uint64_t{3}, merging}) {
    BrokenSort<Disk, Sort> broken(sort, Role::journal, FaultPoint::sync, nth);
    io::MemoryStore& store = broken.disk.store;
    const io::FilePtr file = store.open_named(input, Role::input, io::Caching::buffered);
    store.set_size(*file, store.state(*file).size_bytes - bytes);
    EXPECT_THROW((void)broken.disk.machine.resume(), InputChanged) << nth;
    (void)broken.disk.machine.abandon();
    EXPECT_FALSE(store.exists(sort_directory));
    EXPECT_FALSE(store.exists(sort_output));
  }
}

template <class Disk, class Sort>
void remove_input(const Sort& sort, const std::string& input, std::uint64_t merging) {
  BrokenSort<Disk, Sort> formed_half(sort, Role::journal, FaultPoint::sync, 3);
  formed_half.disk.store.remove(input);
  EXPECT_THROW((void)formed_half.disk.machine.resume(), Error);
  EXPECT_EQ(formed_half.disk.machine.look().kind, JobStatus::Kind::under_way);
  BrokenSort<Disk, Sort> formed(sort, Role::journal, FaultPoint::sync, merging);
  formed.disk.store.remove(input);
  (void)formed.disk.machine.resume();
  EXPECT_EQ(formed.disk.store.contents(sort_output), sort.sorted());
}

template <class Disk, class Sort>
void abandon_everywhere(const std::vector<Sort>& sorts) {
  for (const Sort& sort : sorts) {
    for (const std::uint64_t nth : {2UL, 3UL, 5UL, 7UL}) {
      BrokenSort<Disk, Sort> broken(sort, Role::journal, FaultPoint::sync, nth);
      (void)broken.disk.machine.abandon();
      EXPECT_TRUE(sort.holds_only(broken.disk.store.snapshot(), sort.previous())) << sort.name() << " " << nth;
    }
    BrokenSort<Disk, Sort> broken(sort, Role::journal, FaultPoint::sync, 3);
    io::FaultPlan plan({{Role::journal, FaultPoint::remove, 2, {.kind = Effect::Kind::error, .number = EIO}}});
    io::FaultyStorage storage(broken.disk.store, plan);
    MachineOf<Disk> machine(storage, *broken.disk.queue);
    EXPECT_THROW((void)machine.abandon(), IoError);
    EXPECT_TRUE(broken.disk.machine.look().is_abandoned());
    (void)broken.disk.machine.resume();
    EXPECT_TRUE(sort.holds_only(broken.disk.store.snapshot(), sort.previous()));
  }
}

}  // namespace ecosort::demsort_inplace
