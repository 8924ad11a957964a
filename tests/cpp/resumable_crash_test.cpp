// A power cut after every event of small resumable sorts, and after every event of their resumption: the inputs are untouched,
// the output is what it was or the complete result, and work that the journal has is not done again.
//
// The last is a promise, too: from the moment at which a run or checkpoint was journalled, what any cut leaves must know of it. A
// mutant is a disk that ignores the calls of one place in the code that makes something durable; each one must break a promise.
// ECOSORT_SOAK=1 looks at more images.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/errors.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"
#include "power_cut.h"
#include "resumable_harness.h"
#include "test_environment.h"

namespace ecosort::inplace {

namespace {

using io::CutPolicy;
using io::DiskImage;
using io::FaultPoint;
using io::Role;
using io::StoreEvent;

// What is done for good.
struct Progress {
  bool is_complete = false;
  std::uint64_t runs = 0, merged = 0;
  [[nodiscard]] bool has(const Progress& other) const {
    return is_complete || (!other.is_complete && runs >= other.runs && merged >= other.merged);
  }
};

struct Recorded {
  SmallSort sort;
  std::string sorted;
  DiskImage initial = {};
  EventLog log = {};
  std::size_t resumed_at = 0;           // first event of the resumption
  std::vector<Progress> promised = {};  // after each event
};

bool has_result(const DiskImage& image, const std::string& sorted) {
  const auto output = image.files.find(sort_output);
  return output != image.files.end() && text_of(output->second) == sorted;
}

Progress progress_of(const DiskImage& image, const Recorded& recorded) {
  if (has_result(image, recorded.sorted)) return {.is_complete = true};
  SortDisk disk(image, {.completes_in_order = true, .records_events = false});
  const JobStatus status = disk.machine.look();
  if (status.kind == JobStatus::Kind::complete || status.kind == JobStatus::Kind::removed)
    return {.is_complete = !status.is_abandoned()};
  if (!status.contents) return {};
  return {.runs = status.contents->runs.size(), .merged = status.records_merged()};
}

// Empty: the inputs are there, and the output is what it was, or complete after `resume` where there is a job.
std::string recover(const DiskImage& image, const Recorded& recorded, bool may_be_abandoned) {
  const SmallSort& sort = recorded.sort;
  SortDisk disk(image, {.completes_in_order = true, .records_events = false});
  JobStatus status = disk.machine.look();
  const JobStatus::Kind kind = status.kind;
  if (kind == JobStatus::Kind::under_way || kind == JobStatus::Kind::complete) {
    status.journal = nullptr;
    (void)disk.machine.resume();
    const DiskImage now = disk.store.snapshot();
    if (sort.holds_only(now, recorded.sorted)) return "";
    return may_be_abandoned && sort.holds_only(now, sort.previous()) ? "" : "the result is wrong";
  }
  if (kind != JobStatus::Kind::none) discard(sort_output, std::move(status), disk.store);
  const DiskImage now = disk.store.snapshot();
  if (sort.holds_only(now, recorded.sorted)) return "";
  return kind != JobStatus::Kind::removed && sort.holds_only(now, sort.previous()) ? ""
                                                                                   : "neither the old output nor the new one";
}

Judge judge_for(const Recorded& recorded, bool may_be_abandoned = false) {
  return [&recorded, may_be_abandoned](const DiskImage& image, std::size_t event) -> std::string {
    try {
      if (event == recorded.log.size()) {
        const bool is_done = recorded.sort.holds_only(image, recorded.sorted) ||
                             (may_be_abandoned && recorded.sort.holds_only(image, recorded.sort.previous()));
        return is_done ? "" : "not all of it is durable";
      }
      if (!recorded.promised.empty() && !progress_of(image, recorded).has(recorded.promised[event])) return "work was lost";
      return recover(image, recorded, may_be_abandoned);
    } catch (const std::exception& error) {
      return error.what();
    }
  };
}

// Moments that promise the same.
std::function<std::uint64_t(std::size_t)> epochs_of(const Recorded& recorded) {
  if (recorded.promised.empty()) return {};
  return [&recorded](std::size_t event) {
    const Progress& promised = recorded.promised[event];
    return promised.is_complete ? UINT64_MAX : promised.runs << 32U | promised.merged;
  };
}

// What is durable for certain after each event: what a cut leaves that loses everything it may.
void note_promises(Recorded& recorded) {
  io::CrashModel model(recorded.initial);
  for (const StoreEvent& event : recorded.log) {
    model.apply(event);
    recorded.promised.push_back(progress_of(model.image(CutPolicy::all_lost, 0), recorded));
  }
}

Recorded record(const SmallSort& sort, std::uint64_t seed) {
  SortDisk disk(sort.disk(), {.seed = seed});
  Recorded recorded{.sort = sort, .sorted = sort.job.sorted(), .initial = disk.store.snapshot()};
  (void)disk.machine.start(sort);
  EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), recorded.sorted)) << sort.job.name;
  recorded.log = disk.store.log();
  note_promises(recorded);
  return recorded;
}

// A job that fails at the n-th sync of its journal or directories, as if it had been killed there, and is resumed while nothing
// was synced in between.
Recorded record_interrupted(const SmallSort& sort, FaultPoint point, std::uint64_t nth) {
  SortDisk disk(sort.disk(), {.seed = nth});
  Recorded recorded{.sort = sort, .sorted = sort.job.sorted(), .initial = disk.store.snapshot()};
  io::FaultPlan plan({{Role::journal, point, nth, {.kind = io::Effect::Kind::error, .number = EIO}}});
  io::FaultyStorage storage(disk.store, plan);
  io::FaultyQueue queue(*disk.queue, plan);
  EXPECT_THROW((void)SortMachine(storage, queue).start(sort), IoError);
  EXPECT_EQ(plan.fired(), 1U);
  recorded.resumed_at = disk.store.log().size();
  if (disk.machine.look().contents)
    (void)disk.machine.resume();
  else
    (void)disk.machine.start(sort);
  EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), recorded.sorted)) << sort.job.name;
  recorded.log = disk.store.log();
  note_promises(recorded);
  return recorded;
}

Outcome cut_within(const Recorded& recorded, const std::vector<Cut>& policies, std::size_t from = 0,
                   bool may_be_abandoned = false) {
  return cut_everywhere(
      {.initial = recorded.initial, .log = recorded.log, .policies = policies, .from = from, .epoch = epochs_of(recorded)},
      judge_for(recorded, may_be_abandoned));
}

struct Second {
  std::uint64_t jobs = 0, images = 0;
};

// Takes jobs further, in one way or the other, that were cut off at `parts` moments, and cuts the power within that.
Second cut_twice(const Recorded& recorded, std::size_t parts, bool abandons) {
  const std::size_t step = is_soak() ? 5 : recorded.log.size() / parts;
  io::CrashModel model(recorded.initial);
  Second count;
  for (std::size_t i = 0, next = step / 2; i < recorded.log.size(); ++i) {
    model.apply(recorded.log[i]);
    if (i < next) continue;
    Recorded second{.sort = recorded.sort, .sorted = recorded.sorted, .initial = model.image(CutPolicy::random_subset, i)};
    SortDisk disk(second.initial, {.seed = i});
    if (disk.machine.look().kind != JobStatus::Kind::under_way) continue;
    next = i + step;
    ++count.jobs;
    (void)(abandons ? disk.machine.abandon() : disk.machine.resume());
    second.log = disk.store.log();
    if (!abandons) note_promises(second);
    const Outcome outcome = cut_within(second, {{CutPolicy::all_lost, 0}, {CutPolicy::torn, 1}}, 0, abandons);
    EXPECT_EQ(outcome.losses, 0U) << recorded.sort.job.name << ", taken on after event " << i << ": " << outcome.first_loss;
    count.images += outcome.distinct.size();
  }
  return count;
}

}  // namespace

TEST(ResumableCrash, NothingIsLostWhereverThePowerFails) {
  std::uint64_t distinct = 0;
  for (const SmallSort& sort : small_sorts()) {
    const Recorded recorded = record(sort, 3);
    const Outcome outcome = cut_within(recorded, cuts(is_soak() ? 24 : 4));
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
    const Recorded recorded = record(sort, 4);
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
      const Second count = cut_twice(record(sort, 5), 5, abandons);
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
    const Recorded recorded = record_interrupted(sort, FaultPoint::sync, nth);
    const Outcome outcome = cut_within(recorded, cuts(3), recorded.resumed_at);
    EXPECT_EQ(outcome.losses, 0U) << "journal sync " << nth << ": " << outcome.first_loss;
  }
  for (const std::uint64_t nth : {3U, 4U}) {  // the name of the result, and the end of the directory
    const Recorded recorded = record_interrupted(sort, FaultPoint::sync_directory, nth);
    const Outcome outcome = cut_within(recorded, cuts(3), recorded.resumed_at);
    EXPECT_EQ(outcome.losses, 0U) << "directory sync " << nth << ": " << outcome.first_loss;
  }
}

TEST(ResumableCrash, EveryCallThatMakesSomethingDurableIsNeeded) {
  const Recorded recorded = record(small_sorts().front(), 6);
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
                                            .epoch = epochs_of(recorded)},
                                           judge_for(recorded));
    EXPECT_GT(outcome.losses, 0U) << "nobody missed the sync of: " << site;
  }
  std::printf("%zu of %zu mutants looked for\n", sites.size() - 1, known.size() - 1);
}

}  // namespace ecosort::inplace
