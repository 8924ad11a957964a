// Power cuts in resumable sorts of records (resumable_crash.h).
#include "cpp/demsort_inplace/resumable_crash.h"

#include <set>

namespace ecosort::demsort_inplace {

TEST(ResumableCrash, NothingIsLostWhereverThePowerFails) { cut_all<SortDisk>(small_sorts(), 1'200); }

TEST(ResumableCrash, EveryRunAndCheckpointCountsFromItsSyncOn) {
  for (const SmallSort& sort : small_sorts()) {
    const Recorded<SmallSort> recorded = record<SortDisk>(sort, 4);
    const std::uint64_t runs = sort.job.header().layout.runs();
    const std::uint64_t checkpoints = check_promises(recorded, label_syncs(recorded.log, sort_directory, runs), runs);
    EXPECT_GE(checkpoints, std::min<std::uint64_t>(runs - 1, 1)) << sort.name();
  }
}

TEST(ResumableCrashTwice, NothingIsLostDuringTheResumptionOrTheEndOfAnAbandonedJob) {
  cut_all_twice<SortDisk>(small_sorts(), 500, 50);
}

TEST(ResumableCrash, NorWhenTheProgramWasKilledBefore) {
  const SmallSort sort = small_sorts().front();
  const std::uint64_t runs = sort.job.header().layout.runs();
  cut_after_kill<SortDisk>(sort, FaultPoint::sync, {2, runs + 1, runs + 2});
  cut_after_kill<SortDisk>(sort, FaultPoint::sync_directory, {3, 4});  // the name of the result, and the end of the directory
}

TEST(ResumableCrash, EveryCallThatMakesSomethingDurableIsNeeded) {
  const std::set<std::string> known{"",
                                    "run",
                                    "journal header",
                                    "journal run",
                                    "journal checkpoint",
                                    "journal at the end",
                                    "output checkpoint",
                                    "output at the end",
                                    "/disk/out.ecosort 1",
                                    "/disk 1",
                                    "/disk 2",
                                    "/disk/out.ecosort 2",
                                    "/disk 3"};
  const Recorded<SmallSort> recorded = record<SortDisk>(small_sorts().front(), 6);
  miss_each_sync<SortDisk>(recorded, label_syncs(recorded.log, sort_directory, recorded.sort.job.header().layout.runs()), known);
}

}  // namespace ecosort::demsort_inplace
