// Power cuts in resumable sorts of lines (resumable_crash.h).
#include <map>
#include <set>

#include "cpp/demsort_inplace/lines_job_harness.h"
#include "cpp/demsort_inplace/resumable_crash.h"

namespace ecosort::inplace {

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

TEST(LinesCrash, NothingIsLostWhereverThePowerFails) {
  std::uint64_t distinct = 0;
  for (const SmallLines& sort : small_lines()) {
    const Recorded<SmallLines> recorded = record<LinesDisk>(sort, 3);
    const Outcome outcome = cut_within<LinesDisk>(recorded, cuts(is_soak() ? 24 : 4));
    EXPECT_EQ(outcome.losses, 0U) << sort.name() << ": " << outcome.first_loss;
    EXPECT_EQ(outcome.events, recorded.log.size());
    distinct += outcome.distinct.size();
    print_outcome(sort.name(), outcome);
  }
  EXPECT_GE(distinct, 1'500U);
}

// The promises are not empty: each journalled run and checkpoint is one, from its sync on.
TEST(LinesCrash, EveryRunAndCheckpointCountsFromItsSyncOn) {
  for (const SmallLines& sort : small_lines()) {
    const Recorded<SmallLines> recorded = record<LinesDisk>(sort, 4);
    const std::vector<std::string> labels = label_syncs_of(recorded);
    std::uint64_t runs = 0, checkpoints = 0, merged = 0;
    for (std::size_t i = 0; i < recorded.log.size(); ++i) {
      if (recorded.log[i].kind != StoreEvent::Kind::complete_sync) continue;
      const Progress& promised = recorded.promised[i];
      if (labels[i] == "journal run") {
        EXPECT_EQ(promised.runs, ++runs) << sort.name();
      }
      if (labels[i] == "journal checkpoint") {
        EXPECT_TRUE(checkpoints == 0 || promised.merged > merged) << sort.name();  // the first one is the beginning of the merge
        merged = promised.merged;
        ++checkpoints;
      }
      if (labels[i] == "journal at the end") {
        EXPECT_TRUE(promised.is_complete) << sort.name();
      }
    }
    EXPECT_EQ(runs, recorded.run_records) << sort.name();
    EXPECT_GE(checkpoints, 2U) << sort.name();
  }
}

TEST(LinesCrash, NorWhenItFailsAgainDuringTheResumptionOrTheEndOfAnAbandonedJob) {
  for (const bool abandons : {false, true}) {
    Second all;
    for (const SmallLines& sort : small_lines()) {
      const Second count = cut_twice<LinesDisk>(record<LinesDisk>(sort, 5), 5, abandons);
      all.jobs += count.jobs;
      all.images += count.images;
    }
    std::printf("%llu jobs %s, %llu distinct images of a cut within\n", static_cast<unsigned long long>(all.jobs),
                abandons ? "abandoned" : "resumed", static_cast<unsigned long long>(all.images));
    EXPECT_GE(all.images, abandons ? 60U : 800U);
  }
}

// The program is killed first, the power fails later: what the kernel knew, but the drive did not, must not be built upon.
TEST(LinesCrash, NorWhenTheProgramWasKilledBefore) {
  const SmallLines& sort = small_lines()[1];
  const std::uint64_t runs = record<LinesDisk>(sort, 6).run_records;
  for (const std::uint64_t nth : {std::uint64_t{2}, std::uint64_t{3}, runs + 1, runs + 2, runs + 3}) {
    const Recorded<SmallLines> recorded = record_interrupted<LinesDisk>(sort, FaultPoint::sync, nth);
    const Outcome outcome = cut_within<LinesDisk>(recorded, cuts(3), recorded.resumed_at);
    EXPECT_EQ(outcome.losses, 0U) << "journal sync " << nth << ": " << outcome.first_loss;
  }
  for (const std::uint64_t nth : {std::uint64_t{3}, runs + 3, runs + 4}) {  // a run's name, the result's, the end
    const Recorded<SmallLines> recorded = record_interrupted<LinesDisk>(sort, FaultPoint::sync_directory, nth);
    const Outcome outcome = cut_within<LinesDisk>(recorded, cuts(3), recorded.resumed_at);
    EXPECT_EQ(outcome.losses, 0U) << "directory sync " << nth << ": " << outcome.first_loss;
  }
}

TEST(LinesCrash, EveryCallThatMakesSomethingDurableIsNeeded) {
  for (const SmallLines& sort : {small_lines()[0], small_lines()[3]}) {
    const Recorded<SmallLines> recorded = record<LinesDisk>(sort, 6);
    const std::vector<std::string> labels = label_syncs_of(recorded);
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
                                      "/disk/out.ecosort for a run",
                                      "/disk/out.ecosort at the end",
                                      "/disk 1",
                                      "/disk 2",
                                      "/disk 3"};
    EXPECT_EQ(sites, known);
    for (const std::string& site : sites) {
      if (site.empty()) continue;
      const Outcome outcome = cut_everywhere({.initial = recorded.initial,
                                              .log = recorded.log,
                                              .policies = cuts(8),
                                              .keeps = [&](std::size_t i) { return labels[i] != site; },
                                              .stops_at_loss = true,
                                              .epoch = epochs_of<LinesDisk>(recorded)},
                                             judge_for<LinesDisk>(recorded));
      EXPECT_GT(outcome.losses, 0U) << sort.name() << ": nobody missed the sync of: " << site;
    }
    std::printf("%s: %zu of %zu mutants looked for\n", sort.name(), sites.size() - 1, known.size() - 1);
  }
}

}  // namespace ecosort::inplace
