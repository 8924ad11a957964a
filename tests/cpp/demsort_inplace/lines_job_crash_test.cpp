// Power cuts in resumable sorts of lines (resumable_crash.h).
#include <map>
#include <set>

#include "cpp/demsort_inplace/lines_job_harness.h"
#include "cpp/demsort_inplace/resumable_crash.h"

namespace ecosort::demsort_inplace {

namespace {

// The directory is synced once for each run, besides for the beginning and the end.
std::vector<std::string> label_syncs_of(const Recorded<SmallLines>& recorded) {
  std::vector<std::string> labels = label_syncs(recorded.log, sort_directory, recorded.run_records);
  const std::string own = sort_directory + ' ';
  const std::string last = own + std::to_string(recorded.run_records + 2);
  for (std::string& label : labels)
    if (label.starts_with(own) && label != own + "1") label = label == last ? own + "at the end" : own + "for a run";
  return labels;
}

}  // namespace

TEST(LinesCrash, NothingIsLostWhereverThePowerFails) { cut_all<LinesDisk>(small_lines(), 800); }

TEST(LinesCrash, EveryRunAndCheckpointCountsFromItsSyncOn) {
  for (const SmallLines& sort : small_lines()) {
    const Recorded<SmallLines> recorded = record<LinesDisk>(sort, 4);
    EXPECT_GE(check_promises(recorded, label_syncs_of(recorded), recorded.run_records), 2U) << sort.name();
  }
}

TEST(LinesCrashTwice, NothingIsLostDuringTheResumptionOrTheEndOfAnAbandonedJob) {
  cut_all_twice<LinesDisk>(small_lines(), 1'000, 100);
}

TEST(LinesCrash, NorWhenTheProgramWasKilledBefore) {
  for (const SmallLines& sort : {small_lines()[1], small_lines()[6]}) {  // with a header
    const std::uint64_t runs = record<LinesDisk>(sort, 6).run_records;
    cut_after_kill<LinesDisk>(sort, FaultPoint::sync, {2, 3, runs + 1, runs + 2, runs + 3});
    cut_after_kill<LinesDisk>(sort, FaultPoint::sync_directory, {3, runs + 3, runs + 4});  // a run's name, the result's, the end
  }
}

TEST(LinesCrash, EveryCallThatMakesSomethingDurableIsNeeded) {
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
                                    "/disk 3"};
  for (const SmallLines& sort : {small_lines()[0], small_lines()[3], small_lines()[7]}) {
    const Recorded<SmallLines> recorded = record<LinesDisk>(sort, 6);
    miss_each_sync<LinesDisk>(recorded, label_syncs_of(recorded), known);
  }
}

}  // namespace ecosort::demsort_inplace
