// A power cut after every event of small resumable sorts of any kind, and after every event of their resumption: the inputs are
// untouched, the output is what it was or the complete result, and work that the journal has is not done again.
//
// The last is a promise, too: from the moment at which a run or checkpoint was journalled, what any cut leaves must know of it. A
// mutant is a disk that ignores the calls of one place in the code that makes something durable; each one must break a promise.
// ECOSORT_SOAK=1 looks at more images.
//
// A Sort (resumable_harness.h, lines_job_harness.h) says what is on the disk before and after; a Disk has a machine that works on
// it.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/errors.h"
#include "cpp/demsort_inplace/resumable_harness.h"
#include "cpp/support/power_cut.h"
#include "cpp/support/test_environment.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"

namespace ecosort::demsort_inplace {

using io::CutPolicy;
using io::DiskImage;
using io::FaultPoint;
using io::Role;
using io::StoreEvent;

// Says what is done for good.
struct DurableProgress {
  bool is_complete = false;
  std::uint64_t runs = 0, merged = 0;
  [[nodiscard]] bool has(const DurableProgress& other) const {
    return is_complete || (!other.is_complete && runs >= other.runs && merged >= other.merged);
  }
};

template <class Sort>
struct Recorded {
  Sort sort;
  std::string sorted;
  DiskImage initial = {};
  EventLog log = {};
  std::size_t resumed_at = 0;                  // first event of the resumption
  std::vector<DurableProgress> promised = {};  // after each event
  std::uint64_t run_records = 0;               // of its journal
};

inline bool has_result(const DiskImage& image, const std::string& sorted) {
  const auto output = image.files.find(sort_output);
  return output != image.files.end() && output->second.holds(sorted);
}

template <class Disk, class Sort>
DurableProgress progress_of(const DiskImage& image, const Recorded<Sort>& recorded) {
  if (has_result(image, recorded.sorted)) return {.is_complete = true};
  Disk disk(image, {.completes_in_order = true, .records_events = false});
  const JobStatus status = disk.machine.look();
  if (status.kind == JobStatus::Kind::complete || status.kind == JobStatus::Kind::removed)
    return {.is_complete = !status.is_abandoned()};
  if (!status.contents) return {};
  return {.runs = status.contents->runs.size(), .merged = status.records_merged()};
}

// Empty: the inputs are there, and the output is what it was, or complete after `resume` where there is a job.
template <class Disk, class Sort>
std::string recover(const DiskImage& image, const Recorded<Sort>& recorded, bool may_be_abandoned) {
  const Sort& sort = recorded.sort;
  Disk disk(image, {.completes_in_order = true, .records_events = false});
  JobStatus status = disk.machine.look();
  const JobStatus::Kind kind = status.kind;
  if (kind == JobStatus::Kind::under_way || kind == JobStatus::Kind::complete) {
    status.journal = nullptr;
    if (const std::string run = undescribed_run(image, sort_output, *status.contents); !run.empty()) return run;
    (void)disk.machine.resume();
    const DiskImage now = disk.store.snapshot();
    if (sort.holds_only(now, recorded.sorted)) return "";
    return may_be_abandoned && sort.holds_given_up(now) ? "" : "the result is wrong";
  }
  if (kind != JobStatus::Kind::none) discard(sort_output, std::move(status), disk.store);
  const DiskImage now = disk.store.snapshot();
  if (sort.holds_only(now, recorded.sorted)) return "";
  return (kind != JobStatus::Kind::removed && sort.holds_only(now, sort.previous())) ||
                 (may_be_abandoned && sort.holds_given_up(now))
             ? ""
             : "neither the old output nor the new one";
}

template <class Disk, class Sort>
Judge judge_for(const Recorded<Sort>& recorded, bool may_be_abandoned = false) {
  return [&recorded, may_be_abandoned](const DiskImage& image, std::size_t event) -> std::string {
    try {
      if (event == recorded.log.size()) {
        const bool is_done =
            recorded.sort.holds_only(image, recorded.sorted) || (may_be_abandoned && recorded.sort.holds_given_up(image));
        return is_done ? "" : "not all of it is durable";
      }
      if (!recorded.promised.empty() && !progress_of<Disk>(image, recorded).has(recorded.promised[event])) return "work was lost";
      return recover<Disk>(image, recorded, may_be_abandoned);
    } catch (const std::exception& error) {
      return error.what();
    }
  };
}

// Moments that promise the same.
template <class Disk, class Sort>
std::function<std::uint64_t(std::size_t)> epochs_of(const Recorded<Sort>& recorded) {
  if (recorded.promised.empty()) return {};
  return [&recorded](std::size_t event) {
    const DurableProgress& promised = recorded.promised[event];
    return promised.is_complete ? UINT64_MAX : promised.runs << 32U | promised.merged;
  };
}

// Notes what is durable for certain after each event: what a cut leaves that loses everything it may. Only the end of a sync
// makes more of it durable.
template <class Disk, class Sort>
void note_promises(Recorded<Sort>& recorded) {
  io::CrashModel model(recorded.initial);
  for (const StoreEvent& event : recorded.log) {
    model.apply(event);
    const bool is_sync = event.kind == StoreEvent::Kind::complete_sync || event.kind == StoreEvent::Kind::sync_directory;
    if (is_sync || recorded.promised.empty())
      recorded.promised.push_back(progress_of<Disk>(model.image(CutPolicy::all_lost, 0), recorded));
    else
      recorded.promised.push_back(recorded.promised.back());
  }
}

template <class Disk, class Sort>
Recorded<Sort> record(const Sort& sort, std::uint64_t seed) {
  Disk disk(sort.disk(), {.seed = seed});
  Recorded<Sort> recorded{.sort = sort, .sorted = sort.sorted(), .initial = disk.store.snapshot()};
  recorded.run_records = decltype(disk.machine)::run_records(disk.machine.start(sort), sort);
  EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), recorded.sorted)) << sort.name();
  recorded.log = disk.store.log();
  note_promises<Disk>(recorded);
  return recorded;
}

// A job that fails at the n-th sync of its journal or directories, as if it had been killed there, and is resumed while nothing
// was synced in between.
template <class Disk, class Sort>
Recorded<Sort> record_interrupted(const Sort& sort, FaultPoint point, std::uint64_t nth) {
  Disk disk(sort.disk(), {.seed = nth});
  Recorded<Sort> recorded{.sort = sort, .sorted = sort.sorted(), .initial = disk.store.snapshot()};
  io::FaultPlan plan({{Role::journal, point, nth, {.kind = io::Effect::Kind::error, .number = EIO}}});
  io::FaultyStorage storage(disk.store, plan);
  io::FaultyQueue queue(*disk.queue, plan);
  EXPECT_THROW((void)decltype(disk.machine)(storage, queue).start(sort), IoError);
  EXPECT_EQ(plan.fired(), 1U);
  recorded.resumed_at = disk.store.log().size();
  if (disk.machine.look().contents)
    (void)disk.machine.resume();
  else
    recorded.run_records = decltype(disk.machine)::run_records(disk.machine.start(sort), sort);
  EXPECT_TRUE(sort.holds_only(disk.store.snapshot(), recorded.sorted)) << sort.name();
  recorded.log = disk.store.log();
  note_promises<Disk>(recorded);
  return recorded;
}

template <class Disk, class Sort>
Outcome cut_within(const Recorded<Sort>& recorded, const std::vector<Cut>& policies, std::size_t from = 0,
                   bool may_be_abandoned = false) {
  return cut_everywhere({.initial = recorded.initial,
                         .log = recorded.log,
                         .policies = policies,
                         .from = from,
                         .in_turn = !is_soak(),
                         .epoch = epochs_of<Disk>(recorded)},
                        judge_for<Disk>(recorded, may_be_abandoned));
}

struct Second {
  std::uint64_t jobs = 0, images = 0;
};

// Takes jobs further, in one way or the other, that were cut off at `parts` moments, and cuts the power within that.
template <class Disk, class Sort>
Second cut_twice(const Recorded<Sort>& recorded, std::size_t parts, bool abandons) {
  const std::size_t step = is_soak() ? 5 : recorded.log.size() / parts;
  io::CrashModel model(recorded.initial);
  Second count;
  for (std::size_t i = 0, next = step / 2; i < recorded.log.size(); ++i) {
    model.apply(recorded.log[i]);
    if (i < next) continue;
    Recorded<Sort> second{.sort = recorded.sort, .sorted = recorded.sorted, .initial = model.image(CutPolicy::random_subset, i)};
    Disk disk(second.initial, {.seed = i});
    if (disk.machine.look().kind != JobStatus::Kind::under_way) continue;
    next = i + step;
    ++count.jobs;
    (void)(abandons ? disk.machine.abandon() : disk.machine.resume());
    second.log = disk.store.log();
    if (!abandons) note_promises<Disk>(second);
    const Outcome outcome = cut_within<Disk>(second, {{CutPolicy::all_lost, 0}, {CutPolicy::torn, 1}}, 0, abandons);
    EXPECT_EQ(outcome.losses, 0U) << recorded.sort.name() << ", taken on after event " << i << ": " << outcome.first_loss;
    count.images += outcome.distinct.size();
  }
  return count;
}

// The power fails after every event; so many images at least must differ.
template <class Disk, class Sort>
void cut_all(const std::vector<Sort>& sorts, std::uint64_t least_images) {
  std::uint64_t distinct = 0;
  for (const Sort& sort : sorts) {
    const Recorded<Sort> recorded = record<Disk>(sort, 3);
    const Outcome outcome = cut_within<Disk>(recorded, cuts(is_soak() ? 24 : 1));
    EXPECT_EQ(outcome.losses, 0U) << sort.name() << ": " << outcome.first_loss;
    EXPECT_EQ(outcome.events, recorded.log.size());
    distinct += outcome.distinct.size();
    print_outcome(sort.name(), outcome);
  }
  EXPECT_GE(distinct, least_images);
}

// It fails again during the resumption, or during the end of an abandoned job.
template <class Disk, class Sort>
void cut_all_twice(const std::vector<Sort>& sorts, std::uint64_t least_resumed, std::uint64_t least_abandoned) {
  for (const bool abandons : {false, true}) {
    Second all;
    for (const Sort& sort : sorts) {
      const Second count = cut_twice<Disk>(record<Disk>(sort, 5), 2, abandons);
      all.jobs += count.jobs;
      all.images += count.images;
    }
    std::printf("%llu jobs %s, %llu distinct images of a cut within\n", static_cast<unsigned long long>(all.jobs),
                abandons ? "abandoned" : "resumed", static_cast<unsigned long long>(all.images));
    EXPECT_GE(all.images, abandons ? least_abandoned : least_resumed);
  }
}

// The program is killed at such syncs first, the power fails later: what the kernel knew, but the drive did not, must not be
// built upon.
template <class Disk, class Sort>
void cut_after_kill(const Sort& sort, FaultPoint point, const std::vector<std::uint64_t>& syncs) {
  for (const std::uint64_t nth : syncs) {
    const Recorded<Sort> recorded = record_interrupted<Disk>(sort, point, nth);
    const Outcome outcome = cut_within<Disk>(recorded, cuts(is_soak() ? 3 : 1), recorded.resumed_at);
    EXPECT_EQ(outcome.losses, 0U) << sort.name() << ", sync " << nth << ": " << outcome.first_loss;
  }
}

// Each journalled run and checkpoint is a promise, from its sync on. Returns how many checkpoints there were.
template <class Sort>
std::uint64_t check_promises(const Recorded<Sort>& recorded, const std::vector<std::string>& labels, std::uint64_t run_records) {
  std::uint64_t runs = 0, checkpoints = 0, merged = 0;
  for (std::size_t i = 0; i < recorded.log.size(); ++i) {
    if (recorded.log[i].kind != StoreEvent::Kind::complete_sync) continue;
    const DurableProgress& promised = recorded.promised[i];
    const char* const name = recorded.sort.name();
    if (labels[i] == "journal run") {
      EXPECT_EQ(promised.runs, ++runs) << name;
    }
    if (labels[i] == "journal checkpoint") {
      EXPECT_TRUE(checkpoints == 0 || promised.merged > merged) << name;  // of rows, the first one begins the merge
      merged = promised.merged;
      ++checkpoints;
    }
    if (labels[i] == "journal at the end") {
      EXPECT_TRUE(promised.is_complete) << name;
    }
  }
  EXPECT_EQ(runs, run_records) << recorded.sort.name();
  return checkpoints;
}

// A disk that ignores the calls of one place in the code that makes something durable breaks a promise.
template <class Disk, class Sort>
void miss_each_sync(const Recorded<Sort>& recorded, const std::vector<std::string>& labels, const std::set<std::string>& known) {
  const std::set<std::string> sites(labels.begin(), labels.end());
  EXPECT_EQ(sites, known);
  for (const std::string& site : sites) {
    if (site.empty()) continue;
    const bool is_noticed = is_found_out({.initial = recorded.initial,
                                          .log = recorded.log,
                                          .keeps = [&](std::size_t i) { return labels[i] != site; },
                                          .epoch = epochs_of<Disk>(recorded)},
                                         judge_for<Disk>(recorded));
    EXPECT_TRUE(is_noticed) << recorded.sort.name() << ": no one missed the sync of: " << site;
  }
  std::printf("%s: %zu of %zu mutants looked for\n", recorded.sort.name(), sites.size() - 1, known.size() - 1);
}

}  // namespace ecosort::demsort_inplace
