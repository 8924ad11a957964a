// A power cut after every event of small in-place jobs, and after every event of their resumption: no record is ever lost.
//
// The disk in memory has a durable and a volatile image (io/crash_model.h); what a cut leaves is resumed on a disk of its own,
// and the result compared byte by byte. The tests print which indices they covered. A mutant is a disk that ignores the calls of
// one place in the code that makes something durable: each one must be found out, or that call would be for nothing.
// ECOSORT_SOAK=1 looks at more images.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>

#include "base/errors.h"
#include "inplace_harness.h"
#include "io/crash_model.h"
#include "io/faulty_queue.h"
#include "io/faulty_storage.h"
#include "records/block_checksum.h"

namespace ecosort::inplace {

namespace {

using io::CrashModel;
using io::CutPolicy;
using io::DiskImage;
using io::Fault;
using io::FaultPoint;
using io::Role;
using io::StoreEvent;

using Log = std::vector<StoreEvent>;
using Keeps = std::function<bool(std::size_t)>;  // whether event number i reached the disk

const std::string job_directory = job_file + ".ecosort";

bool is_soak() { return std::getenv("ECOSORT_SOAK") != nullptr; }

std::uint64_t digest(const DiskImage& image) {
  std::uint64_t sum = image.directories.size();
  for (const auto& [path, contents] : image.files) {
    const std::string text = path + '\0' + text_of(contents);
    sum = records::block_checksum(reinterpret_cast<const std::byte*>(text.data()), text.size(), sum);
  }
  return sum;
}

// What may stand under the name in the end, besides the untouched original.
struct Wanted {
  const SmallJob* job;
  std::string input, sorted;
  bool may_be_unsorted = false;  // the job may have been abandoned

  explicit Wanted(const SmallJob& of) : job(&of), input(of.input()), sorted(of.sorted()) {}
  [[nodiscard]] bool accepts(const DiskImage& image) const {
    if (holds_only(image, sorted)) return true;
    if (!may_be_unsorted || image.files.size() != 1) return false;
    const std::string text = text_of(image.files.begin()->second);
    return holds_only(image, text) && as_multiset(text, job->format.record_size) == as_multiset(input, job->format.record_size);
  }
};

// Empty: every record is there, after `resume` if need be.
std::string recover(const DiskImage& image, const Wanted& wanted) {
  try {
    MemoryMachine disk(image, {.completes_in_order = true, .records_events = false});
    JobStatus status = examine(job_file, disk.store, *disk.queue);
    if (status.kind == JobStatus::Kind::none || status.kind == JobStatus::Kind::not_begun) {
      if (status.kind == JobStatus::Kind::not_begun) discard(job_file, std::move(status), disk.store);
      const DiskImage now = disk.store.snapshot();
      return holds_only(now, wanted.input) || wanted.accepts(now) ? "" : "the file is not whole, and there is no job";
    }
    status.journal = nullptr;
    (void)disk.machine.resume();
    return wanted.accepts(disk.store.snapshot()) ? "" : "the result is wrong";
  } catch (const std::exception& error) {
    return error.what();
  }
}

struct Outcome {
  std::uint64_t events = 0, images = 0, losses = 0;
  std::set<std::uint64_t> distinct;
  std::string first_loss;
};

struct Cut {
  CutPolicy policy;
  std::uint64_t seed;
};

std::vector<Cut> cuts(std::uint64_t chances) {
  std::vector<Cut> cuts{{CutPolicy::all_kept, 0}, {CutPolicy::all_lost, 0}};
  for (std::uint64_t seed = 1; seed <= chances; ++seed) {
    cuts.push_back({CutPolicy::random_subset, seed});
    cuts.push_back({CutPolicy::torn, seed});
  }
  return cuts;
}

const Keeps keeps_all = [](std::size_t) { return true; };

// Cuts the power after each event from `from` on; every image that was not seen before is recovered. `look`, if given, is shown
// every such image.
Outcome cut_everywhere(const DiskImage& initial, const Log& log, const Wanted& wanted, const std::vector<Cut>& policies,
                       const Keeps& keeps = keeps_all, std::size_t from = 0, bool stops_at_loss = false,
                       const std::function<void(const DiskImage&, std::size_t)>& look = {}) {
  Outcome outcome;
  CrashModel model(initial);
  const auto judge = [&](const DiskImage& image, std::size_t event, const std::string& what) {
    ++outcome.images;
    if (!outcome.distinct.insert(digest(image)).second) return;
    if (look) look(image, event);
    const std::string loss = recover(image, wanted);
    if (!loss.empty() && outcome.losses++ == 0) outcome.first_loss = fmt::format("event {}, {}: {}", event, what, loss);
  };
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (keeps(i)) model.apply(log[i]);
    if (i < from) continue;
    ++outcome.events;
    for (const Cut& cut : policies) {
      judge(model.image(cut.policy, cut.seed + i), i, fmt::format("{} {}", to_string(cut.policy), cut.seed));
      if (stops_at_loss && outcome.losses > 0) return outcome;
      if (!model.has_unsynced()) break;
    }
  }
  // A program that said it is done has left nothing to chance.
  if (!wanted.accepts(model.image(CutPolicy::all_lost, 0)) && outcome.losses++ == 0) outcome.first_loss = "at the end";
  return outcome;
}

struct Recorded {
  DiskImage initial;
  Log log;
  std::size_t resumed_at = 0;  // first event of the resumption
};

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
  EXPECT_THROW((void)Machine(storage, queue).start(job), IoError);
  EXPECT_EQ(plan.fired(), 1U);
  recorded.resumed_at = disk.store.log().size();
  (void)disk.machine.resume();
  EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted())) << job.name;
  recorded.log = disk.store.log();
  return recorded;
}

Recorded record_from(const DiskImage& image, std::uint64_t seed, bool abandons) {
  MemoryMachine disk(image, {.seed = seed});
  if (abandons)
    (void)disk.machine.abandon();
  else
    (void)disk.machine.resume();
  return {image, disk.store.log(), 0};
}

// --- which call made an event

using Labels = std::vector<std::string>;

// The place in the code behind each sync of a job without interruption; empty for other events.
Labels label(const Log& log, std::uint64_t runs) {
  std::map<std::uint64_t, std::string> names;  // by inode
  std::map<std::string, std::uint64_t> total, seen;
  for (const StoreEvent& event : log) {
    if (event.kind == StoreEvent::Kind::link) names[event.inode] = event.name.substr(job_directory.size() + 1);
    if (event.kind == StoreEvent::Kind::issue_sync) ++total[names[event.inode]];
  }
  Labels labels(log.size());
  std::map<std::uint64_t, std::string> requests;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const StoreEvent& event = log[i];
    if (event.kind == StoreEvent::Kind::sync_directory) labels[i] = fmt::format("{} {}", event.name, ++seen[event.name]);
    if (event.kind == StoreEvent::Kind::complete_sync) labels[i] = requests[event.request];
    if (event.kind != StoreEvent::Kind::issue_sync) continue;
    const std::string& name = names[event.inode];
    const std::uint64_t number = ++seen[name];
    const bool is_last = number == total[name];
    labels[i] = name.starts_with("run-") ? "run"
                                         : name + (is_last                                   ? " at the end"
                                                   : number == 1 && name == "journal"        ? " header"
                                                   : number <= runs + 1 && name == "journal" ? " run"
                                                                                             : " checkpoint");
    requests[event.request] = labels[i];
  }
  return labels;
}

}  // namespace

TEST(InPlaceCrash, NoRecordIsLostWhereverThePowerFails) {
  std::uint64_t distinct = 0;
  for (const SmallJob& job : small_jobs()) {
    const Wanted wanted(job);
    const Recorded recorded = record(job, 3);
    const Outcome outcome = cut_everywhere(recorded.initial, recorded.log, wanted, cuts(is_soak() ? 24 : 8));
    EXPECT_EQ(outcome.losses, 0U) << job.name << ": " << outcome.first_loss;
    EXPECT_EQ(outcome.events, recorded.log.size());
    distinct += outcome.distinct.size();
    std::printf("%s: cut after events 0-%zu, %llu images, %zu distinct, %llu losses\n", job.name, recorded.log.size() - 1,
                static_cast<unsigned long long>(outcome.images), outcome.distinct.size(),
                static_cast<unsigned long long>(outcome.losses));
  }
  EXPECT_GE(distinct, 5'000U);
}

TEST(InPlaceCrash, NorWhenItFailsAgainDuringTheResumption) {
  std::uint64_t second_cuts = 0, resumptions = 0;
  for (const SmallJob& job : small_jobs()) {
    const Wanted wanted(job);
    const Recorded recorded = record(job, 4);
    const std::size_t step = is_soak() ? 5 : recorded.log.size() / 6;
    std::size_t next = step / 2;
    const auto look = [&](const DiskImage& image, std::size_t event) {
      if (event < next) return;
      if (MemoryMachine disk(image); disk.machine.kind() != JobStatus::Kind::under_way) return;
      next = event + step;
      ++resumptions;
      const Recorded second = record_from(image, event, false);
      const Outcome outcome =
          cut_everywhere(second.initial, second.log, wanted, {{CutPolicy::all_lost, 0}, {CutPolicy::torn, 1}});
      EXPECT_EQ(outcome.losses, 0U) << job.name << ", resumed after event " << event << ": " << outcome.first_loss;
      second_cuts += outcome.distinct.size();
    };
    (void)cut_everywhere(recorded.initial, recorded.log, wanted, {{CutPolicy::random_subset, 2}}, keeps_all, 0, false, look);
  }
  std::printf("%llu resumptions, %llu distinct images of a cut within them\n", static_cast<unsigned long long>(resumptions),
              static_cast<unsigned long long>(second_cuts));
  EXPECT_GE(second_cuts, 1'000U);
}

TEST(InPlaceCrash, NorWhenTheJobIsAbandoned) {
  std::uint64_t images = 0, abandoned = 0;
  for (const SmallJob& job : small_jobs()) {
    Wanted wanted(job);
    wanted.may_be_unsorted = true;
    const Recorded recorded = record(job, 5);
    const std::size_t step = is_soak() ? 5 : recorded.log.size() / 8;
    std::size_t next = step / 2;
    const auto look = [&](const DiskImage& image, std::size_t event) {
      if (event < next) return;
      if (MemoryMachine disk(image); disk.machine.kind() != JobStatus::Kind::under_way) return;
      next = event + step;
      ++abandoned;
      const Recorded second = record_from(image, event, true);
      const Outcome outcome =
          cut_everywhere(second.initial, second.log, wanted, {{CutPolicy::all_lost, 0}, {CutPolicy::torn, 1}});
      EXPECT_EQ(outcome.losses, 0U) << job.name << ", abandoned after event " << event << ": " << outcome.first_loss;
      images += outcome.distinct.size();
    };
    (void)cut_everywhere(recorded.initial, recorded.log, wanted, {{CutPolicy::all_kept, 0}}, keeps_all, 0, false, look);
  }
  std::printf("%llu jobs abandoned, %llu distinct images of a cut within\n", static_cast<unsigned long long>(abandoned),
              static_cast<unsigned long long>(images));
  EXPECT_GE(images, 300U);
}

// The program is killed first, the power fails later: what the kernel knew, but the drive did not, must not be built upon.
TEST(InPlaceCrash, NorWhenTheProgramWasKilledBefore) {
  const io::Effect failed{.kind = io::Effect::Kind::error, .number = EIO};
  const SmallJob& job = small_jobs().front();
  const Wanted wanted(job);
  const std::uint64_t runs = job.header().layout.runs();
  for (const std::uint64_t nth : {std::uint64_t{2}, runs + 1, runs + 2}) {
    const Recorded recorded = record_interrupted(job, {Role::journal, FaultPoint::sync, nth, failed}, nth);
    const Outcome outcome = cut_everywhere(recorded.initial, recorded.log, wanted, cuts(3), keeps_all, recorded.resumed_at);
    EXPECT_EQ(outcome.losses, 0U) << "journal sync " << nth << ": " << outcome.first_loss;
  }
  for (const std::uint64_t nth : {3U, 4U, 5U}) {
    const Recorded recorded = record_interrupted(job, {Role::journal, FaultPoint::sync_directory, nth, failed}, nth);
    const Outcome outcome = cut_everywhere(recorded.initial, recorded.log, wanted, cuts(3), keeps_all, recorded.resumed_at);
    EXPECT_EQ(outcome.losses, 0U) << "directory sync " << nth << ": " << outcome.first_loss;
  }
}

TEST(InPlaceCrash, EveryCallThatMakesSomethingDurableIsNeeded) {
  const SmallJob& job = small_jobs().front();
  const Wanted wanted(job);
  const Recorded recorded = record(job, 6);
  const Labels labels = label(recorded.log, job.header().layout.runs());
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
    const Keeps keeps = [&](std::size_t i) { return labels[i] != site; };
    EXPECT_GT(cut_everywhere(recorded.initial, recorded.log, wanted, cuts(8), keeps, 0, true).losses, 0U)
        << "nobody missed the sync of: " << site;
  }
  std::printf("%zu of %zu mutants looked for\n", sites.size() - 1, known.size() - 1);
}

// The same for what a resumption syncs before it goes on.
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
    const Keeps keeps = [&](std::size_t i) { return !dropped.contains(i); };
    return cut_everywhere(recorded.initial, recorded.log, wanted, cuts(8), keeps, recorded.resumed_at, true).losses > 0;
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

}  // namespace ecosort::inplace
