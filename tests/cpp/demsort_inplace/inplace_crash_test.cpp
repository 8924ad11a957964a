// A power cut after every event of small in-place jobs, and after every event of their resumption: no record is ever lost.
//
// The disk in memory has a durable and a volatile image (io/crash_model.h); what a cut leaves is resumed on a disk of its own,
// and the result compared byte by byte. The tests print which indices they covered. A mutant is a disk that ignores the calls of
// one place in the code that makes something durable: each one must be found out, or that call would be for nothing.
// ECOSORT_SOAK=1 looks at more images.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include "base/errors.h"
#include "cpp/demsort_inplace/inplace_harness.h"
#include "cpp/support/power_cut.h"
#include "cpp/support/test_environment.h"
#include "doubles/crash_model.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"

namespace ecosort::demsort_inplace {

namespace {

using io::CutPolicy;
using io::DiskImage;
using io::Fault;
using io::FaultPoint;
using io::Role;
using io::StoreEvent;

const std::string job_directory = job_file + ".ecosort";

// The final name may have this, besides the untouched original.
struct Wanted {
  const SmallJob* job;
  std::string input, sorted, multiset;
  bool may_be_unsorted = false;  // the job may have been abandoned

  explicit Wanted(const SmallJob& of)
      : job(&of), input(of.input()), sorted(of.sorted()), multiset(as_multiset(input, of.format.record_size)) {}
  [[nodiscard]] bool accepts(const DiskImage& image) const {
    if (holds_only(image, sorted)) return true;
    if (!may_be_unsorted || image.files.size() != 1) return false;
    const std::string text = text_of(image.files.begin()->second);
    return holds_only(image, text) && as_multiset(text, job->format.record_size) == multiset;
  }
};

// Empty: every record is there, after `resume` if need be.
std::string recover(const DiskImage& image, const Wanted& wanted) {
  try {
    MemoryMachine disk(image, {.completes_in_order = true, .capacity_bytes = wanted.job->bound_bytes(), .records_events = false});
    JobStatus status = examine(job_file, disk.store, *disk.queue);
    if (status.kind != JobStatus::Kind::under_way && status.kind != JobStatus::Kind::complete) {
      const bool is_sorted = status.kind == JobStatus::Kind::removed;
      if (status.kind != JobStatus::Kind::none) discard(job_file, std::move(status), disk.store);
      const DiskImage now = disk.store.snapshot();
      return (!is_sorted && holds_only(now, wanted.input)) || wanted.accepts(now) ? ""
                                                                                  : "the file is not whole, and there is no job";
    }
    status.journal = nullptr;
    if (const std::string run = undescribed_run(image, job_file, *status.contents); !run.empty()) return run;
    (void)disk.machine.resume();
    return wanted.accepts(disk.store.snapshot()) ? "" : "the result is wrong";
  } catch (const std::exception& error) {
    return error.what();
  }
}

struct Recorded {
  DiskImage initial;
  EventLog log;
  std::size_t resumed_at = 0;  // first event of the resumption
};

Judge judge_for(const Recorded& recorded, const Wanted& wanted) {
  return [&recorded, &wanted](const DiskImage& image, std::size_t event) -> std::string {
    if (event == recorded.log.size()) return wanted.accepts(image) ? "" : "not all of it is durable";
    return recover(image, wanted);
  };
}

Outcome cut_within(const Recorded& recorded, const Wanted& wanted, const std::vector<Cut>& policies, std::size_t from = 0) {
  return cut_everywhere(
      {.initial = recorded.initial, .log = recorded.log, .policies = policies, .from = from, .in_turn = !is_soak()},
      judge_for(recorded, wanted));
}

// Returns whether anybody notices that only these events reached the disk.
bool is_noticed(const Recorded& recorded, const Wanted& wanted, const std::function<bool(std::size_t)>& keeps) {
  return is_found_out({.initial = recorded.initial, .log = recorded.log, .keeps = keeps, .from = recorded.resumed_at},
                      judge_for(recorded, wanted));
}

Recorded record(const SmallJob& job, std::uint64_t seed) {
  MemoryMachine disk(job.disk(), {.seed = seed});
  Recorded recorded{disk.store.snapshot(), {}, 0};
  (void)disk.machine.start(job);
  EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted())) << job.name;
  recorded.log = disk.store.log();
  return recorded;
}

// A job that fails at `fault`, as if it had been killed there, and is resumed while nothing was synced in between.
Recorded record_interrupted(const SmallJob& job, const Fault& fault, std::uint64_t seed) {
  MemoryMachine disk(job.disk(), {.seed = seed});
  Recorded recorded{disk.store.snapshot(), {}, 0};
  io::FaultPlan plan({fault});
  io::FaultyStorage storage(disk.store, plan);
  io::FaultyQueue queue(*disk.queue, plan);
  EXPECT_THROW((void)JobMachine(storage, queue).start(job), IoError);
  EXPECT_EQ(plan.fired(), 1U);
  recorded.resumed_at = disk.store.log().size();
  (void)disk.machine.resume();
  EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted())) << job.name;
  recorded.log = disk.store.log();
  return recorded;
}

Recorded record_from(const SmallJob& job, const DiskImage& image, std::uint64_t seed, bool abandons) {
  MemoryMachine disk(image, {.seed = seed, .capacity_bytes = job.bound_bytes()});
  if (abandons)
    (void)disk.machine.abandon();
  else
    (void)disk.machine.resume();
  return {image, disk.store.log(), 0};
}

// Interrupts a job at some of the images that a cut with this policy leaves, takes each further in one way or the other, and cuts
// the power within that. Returns how many there were, and how many distinct images of the second cut.
struct Second {
  std::uint64_t jobs = 0, images = 0;
};
Second cut_twice(const SmallJob& job, const Wanted& wanted, std::uint64_t seed, CutPolicy first, std::size_t parts,
                 bool abandons) {
  const Recorded recorded = record(job, seed);
  const std::size_t step = is_soak() ? 5 : recorded.log.size() / parts;
  std::size_t next = step / 2;
  Second count;
  const auto take_further = [&](const DiskImage& image, std::size_t event) -> std::string {
    if (event < next || event == recorded.log.size()) return "";
    if (MemoryMachine disk(image); disk.machine.kind() != JobStatus::Kind::under_way) return "";
    next = event + step;
    ++count.jobs;
    const Recorded second = record_from(job, image, event, abandons);
    const Outcome outcome = cut_within(
        second, wanted,
        {{CutPolicy::all_lost, 0}, {is_soak() || count.jobs % 2 == 0 ? CutPolicy::torn : CutPolicy::random_subset, 1}});
    EXPECT_EQ(outcome.losses, 0U) << job.name << ", taken on after event " << event << ": " << outcome.first_loss;
    count.images += outcome.distinct.size();
    return "";
  };
  (void)cut_everywhere({.initial = recorded.initial, .log = recorded.log, .policies = {{first, 2}}}, take_further);
  return count;
}

}  // namespace

TEST(InPlaceCrash, NoRecordIsLostWhereverThePowerFails) {
  std::uint64_t distinct = 0;
  for (const SmallJob& job : small_jobs()) {
    const Wanted wanted(job);
    const Recorded recorded = record(job, 3);
    const Outcome outcome = cut_within(recorded, wanted, cuts(is_soak() ? 24 : 2));
    EXPECT_EQ(outcome.losses, 0U) << job.name << ": " << outcome.first_loss;
    EXPECT_EQ(outcome.events, recorded.log.size());
    distinct += outcome.distinct.size();
    print_outcome(job.name, outcome);
  }
  EXPECT_GE(distinct, 1'200U);
}

TEST(InPlaceCrashTwice, NoRecordIsLostDuringTheResumption) {
  Second all;
  for (const SmallJob& job : small_jobs()) {
    const Wanted wanted(job);
    const Second count = cut_twice(job, wanted, 4, CutPolicy::random_subset, 2, false);
    all.jobs += count.jobs;
    all.images += count.images;
  }
  std::printf("%llu resumptions, %llu distinct images of a cut within them\n", static_cast<unsigned long long>(all.jobs),
              static_cast<unsigned long long>(all.images));
  EXPECT_GE(all.images, 700U);
}

TEST(InPlaceCrashTwice, NorWhenTheJobIsAbandoned) {
  Second all;
  for (const SmallJob& job : small_jobs()) {
    Wanted wanted(job);
    wanted.may_be_unsorted = true;
    for (const CutPolicy policy : {CutPolicy::all_kept, CutPolicy::random_subset}) {
      const Second count = cut_twice(job, wanted, 5, policy, 1, true);
      all.jobs += count.jobs;
      all.images += count.images;
    }
  }
  std::printf("%llu jobs abandoned, %llu distinct images of a cut within\n", static_cast<unsigned long long>(all.jobs),
              static_cast<unsigned long long>(all.images));
  EXPECT_GE(all.images, 300U);
}

// A resumption that a crash ended can be abandoned, too.
TEST(InPlaceCrashTwice, NorWhenAResumptionThatFailedIsAbandoned) {
  std::uint64_t abandoned = 0;
  for (const SmallJob& job : small_jobs()) {
    Wanted wanted(job);
    wanted.may_be_unsorted = true;
    const Recorded first = record(job, 8);
    io::CrashModel model(first.initial);
    for (std::size_t i = 0; i < first.log.size(); ++i) {
      model.apply(first.log[i]);
      if (i % (first.log.size() / 4) != 0) continue;
      const DiskImage image = model.image(CutPolicy::torn, i);
      if (MemoryMachine disk(image); disk.machine.kind() != JobStatus::Kind::under_way) continue;
      const Recorded second = record_from(job, image, i, false);
      io::CrashModel later(second.initial);
      for (std::size_t k = 0; k < second.log.size(); ++k) {
        later.apply(second.log[k]);
        if (k % 9 != 0) continue;
        MemoryMachine disk(later.image(CutPolicy::torn, k), {.capacity_bytes = job.bound_bytes(), .records_events = false});
        if (disk.machine.kind() != JobStatus::Kind::under_way) continue;
        ++abandoned;
        ASSERT_NO_THROW((void)disk.machine.abandon()) << job.name << ", event " << k << " of a resumption after event " << i;
        EXPECT_TRUE(wanted.accepts(disk.store.snapshot())) << job.name << ", event " << k << " after event " << i;
      }
    }
  }
  std::printf("%llu resumptions abandoned\n", static_cast<unsigned long long>(abandoned));
  EXPECT_GE(abandoned, 100U);
}

namespace {

// The syncs of a job that was there already: file or directory, and which one of its syncs.
std::vector<std::string> number_syncs(const DiskImage& initial, const EventLog& log) {
  std::vector<std::string> names{""};  // by inode
  for (const auto& entry : initial.files) names.push_back(entry.first.substr(entry.first.rfind('/') + 1));
  std::map<std::string, unsigned> seen;
  std::map<std::uint64_t, std::string> requests;
  std::vector<std::string> labels(log.size());
  for (std::size_t i = 0; i < log.size(); ++i) {
    const StoreEvent& event = log[i];
    if (event.kind == StoreEvent::Kind::sync_directory) labels[i] = fmt::format("{} {}", event.name, ++seen[event.name]);
    if (event.kind == StoreEvent::Kind::issue_sync)
      labels[i] = requests[event.request] = fmt::format("{} {}", names.at(event.inode), ++seen[names.at(event.inode)]);
    if (event.kind == StoreEvent::Kind::complete_sync) labels[i] = requests[event.request];
  }
  return labels;
}

}  // namespace

TEST(InPlaceCrash, EveryCallThatMakesAnAbandonedJobDurableIsNeeded) {
  const SmallJob& job = small_jobs().front();
  Wanted wanted(job);
  wanted.may_be_unsorted = true;
  const Recorded whole = record(job, 9);
  // A cut leaves only what is durable, so that there is nothing in these for the first syncs: EveryCallOfAResumptionIsNeededToo.
  const std::set<std::string> needless{"", "journal 1", "journal 2", job_directory + " 1", "/disk 1"};
  std::size_t mutants = 0;
  for (const std::size_t share : {4U, 7U}) {  // tenths: one of the first phase, one of the second
    io::CrashModel model(whole.initial);
    for (std::size_t i = 0; i < whole.log.size() * share / 10; ++i) model.apply(whole.log[i]);
    const Recorded recorded = record_from(job, model.image(CutPolicy::all_kept, 0), share, true);
    const std::vector<std::string> labels = number_syncs(recorded.initial, recorded.log);
    for (const std::string& site : std::set<std::string>(labels.begin(), labels.end())) {
      if (needless.contains(site)) continue;
      ++mutants;
      EXPECT_TRUE(is_noticed(recorded, wanted, [&](std::size_t i) { return labels[i] != site; }))
          << "no one missed the sync of: " << site << " (" << share << " tenths)";
    }
  }
  std::printf("%zu mutants looked for\n", mutants);
  EXPECT_GE(mutants, 12U);
}

// The program is killed first, the power fails later: what the kernel knew, but the drive did not, must not be built upon.
TEST(InPlaceCrash, NorWhenTheProgramWasKilledBefore) {
  const io::Effect failed{.kind = io::Effect::Kind::error, .number = EIO};
  const SmallJob& job = small_jobs().front();
  const Wanted wanted(job);
  const std::uint64_t runs = job.header().layout.runs();
  for (const std::uint64_t nth : {std::uint64_t{2}, runs + 1, runs + 2}) {
    const Recorded recorded = record_interrupted(job, {Role::journal, FaultPoint::sync, nth, failed}, nth);
    const Outcome outcome = cut_within(recorded, wanted, cuts(is_soak() ? 3 : 1), recorded.resumed_at);
    EXPECT_EQ(outcome.losses, 0U) << "journal sync " << nth << ": " << outcome.first_loss;
  }
  for (const std::uint64_t nth : {3U, 4U, 5U}) {
    const Recorded recorded = record_interrupted(job, {Role::journal, FaultPoint::sync_directory, nth, failed}, nth);
    const Outcome outcome = cut_within(recorded, wanted, cuts(is_soak() ? 3 : 1), recorded.resumed_at);
    EXPECT_EQ(outcome.losses, 0U) << "directory sync " << nth << ": " << outcome.first_loss;
  }
}

TEST(InPlaceCrash, EveryCallThatMakesSomethingDurableIsNeeded) {
  const SmallJob& job = small_jobs().front();
  const Wanted wanted(job);
  const Recorded recorded = record(job, 6);
  const std::vector<std::string> labels = label_syncs(recorded.log, job_directory, job.header().layout.runs());
  const std::set<std::string> sites(labels.begin(), labels.end());
  const std::set<std::string> known{"",
                                    "run",
                                    "journal header",
                                    "journal run",
                                    "journal checkpoint",
                                    "journal at the end",
                                    "output checkpoint",
                                    "output at the end",
                                    "/disk/data.ecosort 1",
                                    "/disk 1",
                                    "/disk/data.ecosort 2",
                                    "/disk 2",
                                    "/disk 3",
                                    "/disk/data.ecosort 3",
                                    "/disk 4"};
  EXPECT_EQ(sites, known);
  for (const std::string& site : sites) {
    if (site.empty()) continue;
    EXPECT_TRUE(is_noticed(recorded, wanted, [&](std::size_t i) { return labels[i] != site; }))
        << "no one missed the sync of: " << site;
  }
  std::printf("%zu of %zu mutants looked for\n", sites.size() - 1, known.size() - 1);
}

// A resumption syncs before it continues, and needs each of these calls.
TEST(InPlaceCrash, EveryCallOfAResumptionIsNeededToo) {
  const io::Effect failed{.kind = io::Effect::Kind::error, .number = EIO};
  const SmallJob& job = small_jobs().front();
  const Wanted wanted(job);
  const auto is_found = [&](const Fault& fault, const std::function<bool(const StoreEvent&, std::uint64_t journal)>& is_dropped,
                            std::size_t most) {
    const Recorded recorded = record_interrupted(job, fault, 7);
    std::uint64_t journal = 0;
    for (const StoreEvent& event : recorded.log)
      if (event.kind == StoreEvent::Kind::link && event.name == job_directory + "/journal") journal = event.inode;
    std::set<std::size_t> dropped;
    std::set<std::uint64_t> requests;
    for (std::size_t i = recorded.resumed_at, matches = 0; i < recorded.log.size(); ++i) {
      const StoreEvent& event = recorded.log[i];
      const bool is_end = event.kind == StoreEvent::Kind::complete_sync && requests.contains(event.request);
      const bool is_match = matches < most && is_dropped(event, journal);
      if (is_end || is_match) dropped.insert(i);
      if (!is_match) continue;
      ++matches;
      if (event.kind == StoreEvent::Kind::issue_sync) requests.insert(event.request);
    }
    EXPECT_FALSE(dropped.empty());
    return is_noticed(recorded, wanted, [&](std::size_t i) { return !dropped.contains(i); });
  };
  const auto journal_sync = [](const StoreEvent& event, std::uint64_t journal) {
    return event.kind == StoreEvent::Kind::issue_sync && event.inode == journal;
  };
  const auto sync_of = [](const std::string& directory) {
    return [directory](const StoreEvent& event, std::uint64_t) {
      return event.kind == StoreEvent::Kind::sync_directory && event.name == directory;
    };
  };
  EXPECT_TRUE(is_found({Role::journal, FaultPoint::sync, 2, failed}, journal_sync, 2)) << "the journal's first sync";
  EXPECT_TRUE(is_found({Role::journal, FaultPoint::sync_directory, 3, failed}, sync_of(job_directory), 1)) << "the job directory";
  EXPECT_TRUE(is_found({Role::journal, FaultPoint::sync_directory, 4, failed}, sync_of("/disk"), 1))
      << "the directory of the file";
  EXPECT_TRUE(is_found({Role::journal, FaultPoint::sync_directory, 5, failed}, sync_of("/disk"), 1)) << "the name of the result";
}

}  // namespace ecosort::demsort_inplace
