// A drive could not make something durable once: that must not be taken for durable, whatever it says later.
#pragma once

#include <gmock/gmock.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/errors.h"
#include "cpp/support/fault_sweep.h"
#include "cpp/support/watchdog.h"
#include "doubles/crash_model.h"

namespace ecosort::demsort_inplace {

// Each sync of `work(machine)` on such a disk fails once; the run must end there. The power is cut at its end, and what
// `bring_to_an_end(disk)` makes of the disk then must be the sorted records, or the untouched ones. `least`: of syncs.
template <class Disk, class Work, class End>
void fail_each_sync(Watchdog& watchdog, const std::string& what, const io::DiskImage& initial, std::size_t least,
                    const Work& work, const End& bring_to_an_end) {
  using Worker = decltype(Disk::machine);
  Disk count(initial, {.records_events = false});
  Failing<Worker> counted(count.store, *count.queue, {});
  work(counted.machine);
  const std::vector<io::Fault> faults = syncs_to_fail(counted.plan);
  EXPECT_GE(faults.size(), least);
  for (const io::Fault& fault : faults) {
    const std::string step = what + " " + to_text(fault);
    SCOPED_TRACE(step);
    watchdog.next(step);
    Disk disk(initial);
    Failing<Worker> failing(disk.store, *disk.queue, {fault});
    EXPECT_THROW(work(failing.machine), IoError);
    EXPECT_EQ(failing.plan.fired(), 1U);
    io::CrashModel model(initial);
    for (const io::StoreEvent& event : disk.store.log()) model.apply(event);
    for (const io::CutPolicy policy : {io::CutPolicy::all_lost, io::CutPolicy::torn, io::CutPolicy::all_kept}) {
      Disk after(model.image(policy, 1), {.records_events = false});
      Left left{};
      ASSERT_NO_THROW(left = bring_to_an_end(after));
      EXPECT_NE(left, Left::something_else);
    }
  }
  std::printf("%s: %zu syncs failed in turn\n", what.c_str(), faults.size());
}

}  // namespace ecosort::demsort_inplace
