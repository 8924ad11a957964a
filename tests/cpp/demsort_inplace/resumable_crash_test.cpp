// Power cuts in resumable sorts of records (resumable_crash.h).
#include "cpp/demsort_inplace/resumable_crash.h"

#include <set>

namespace ecosort::inplace {

TEST(ResumableCrash, NothingIsLostWhereverThePowerFails) {
  std::uint64_t distinct = 0;
  for (const SmallSort& sort : small_sorts()) {
    const Recorded<SmallSort> recorded = record<SortDisk>(sort, 3);
    const Outcome outcome = cut_within<SortDisk>(recorded, cuts(is_soak() ? 24 : 4));
    EXPECT_EQ(outcome.losses, 0U) << sort.job.name << ": " << outcome.first_loss;
    EXPECT_EQ(outcome.events, recorded.log.size());
    distinct += outcome.distinct.size();
    print_outcome(sort.job.name, outcome);
  }
  EXPECT_GE(distinct, 4'000U);
}

// The promises are not empty: each journalled run and checkpoint is one, from its sync on.
TEST(ResumableCrash, EveryRunAndCheckpointCountsFromItsSyncOn) {
  for (const SmallSort& sort : small_sorts()) {
    const Recorded<SmallSort> recorded = record<SortDisk>(sort, 4);
    const std::vector<std::string> labels = label_syncs(recorded.log, sort_directory, sort.job.header().layout.runs());
    std::uint64_t runs = 0, checkpoints = 0, merged = 0;
    for (std::size_t i = 0; i < recorded.log.size(); ++i) {
      if (recorded.log[i].kind != StoreEvent::Kind::complete_sync) continue;
      const Progress& promised = recorded.promised[i];
      if (labels[i] == "journal run") {
        EXPECT_EQ(promised.runs, ++runs) << sort.job.name;
      }
      if (labels[i] == "journal checkpoint") {
        EXPECT_GT(promised.merged, merged) << sort.job.name;
        merged = promised.merged;
        ++checkpoints;
      }
      if (labels[i] == "journal at the end") {
        EXPECT_TRUE(promised.is_complete) << sort.job.name;
      }
    }
    EXPECT_EQ(runs, sort.job.header().layout.runs());
    EXPECT_GE(checkpoints, std::min<std::uint64_t>(runs - 1, 1)) << sort.job.name;
  }
}

TEST(ResumableCrash, NorWhenItFailsAgainDuringTheResumptionOrTheEndOfAnAbandonedJob) {
  for (const bool abandons : {false, true}) {
    Second all;
    for (const SmallSort& sort : small_sorts()) {
      const Second count = cut_twice<SortDisk>(record<SortDisk>(sort, 5), 5, abandons);
      all.jobs += count.jobs;
      all.images += count.images;
    }
    std::printf("%llu jobs %s, %llu distinct images of a cut within\n", static_cast<unsigned long long>(all.jobs),
                abandons ? "abandoned" : "resumed", static_cast<unsigned long long>(all.images));
    EXPECT_GE(all.images, abandons ? 100U : 1'000U);
  }
}

// The program is killed first, the power fails later: what the kernel knew, but the drive did not, must not be built upon.
TEST(ResumableCrash, NorWhenTheProgramWasKilledBefore) {
  const SmallSort sort = small_sorts().front();
  const std::uint64_t runs = sort.job.header().layout.runs();
  for (const std::uint64_t nth : {std::uint64_t{2}, runs + 1, runs + 2}) {
    const Recorded<SmallSort> recorded = record_interrupted<SortDisk>(sort, FaultPoint::sync, nth);
    const Outcome outcome = cut_within<SortDisk>(recorded, cuts(3), recorded.resumed_at);
    EXPECT_EQ(outcome.losses, 0U) << "journal sync " << nth << ": " << outcome.first_loss;
  }
  for (const std::uint64_t nth : {3U, 4U}) {  // the name of the result, and the end of the directory
    const Recorded<SmallSort> recorded = record_interrupted<SortDisk>(sort, FaultPoint::sync_directory, nth);
    const Outcome outcome = cut_within<SortDisk>(recorded, cuts(3), recorded.resumed_at);
    EXPECT_EQ(outcome.losses, 0U) << "directory sync " << nth << ": " << outcome.first_loss;
  }
}

TEST(ResumableCrash, EveryCallThatMakesSomethingDurableIsNeeded) {
  const Recorded<SmallSort> recorded = record<SortDisk>(small_sorts().front(), 6);
  const std::vector<std::string> labels = label_syncs(recorded.log, sort_directory, recorded.sort.job.header().layout.runs());
  const std::set<std::string> sites(labels.begin(), labels.end());
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
  EXPECT_EQ(sites, known);
  for (const std::string& site : sites) {
    if (site.empty()) continue;
    const Outcome outcome = cut_everywhere({.initial = recorded.initial,
                                            .log = recorded.log,
                                            .policies = cuts(8),
                                            .keeps = [&](std::size_t i) { return labels[i] != site; },
                                            .stops_at_loss = true,
                                            .epoch = epochs_of<SortDisk>(recorded)},
                                           judge_for<SortDisk>(recorded));
    EXPECT_GT(outcome.losses, 0U) << "nobody missed the sync of: " << site;
  }
  std::printf("%zu of %zu mutants looked for\n", sites.size() - 1, known.size() - 1);
}

}  // namespace ecosort::inplace
