// A job says how far it is: within 5 points of the bytes that are done, at every moment, whatever its kind is and wherever it was
// interrupted before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "base/errors.h"
#include "base/random.h"
#include "cpp/demsort_inplace/lines_job_harness.h"
#include "cpp/demsort_inplace/resumable_harness.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"

namespace ecosort::demsort_inplace {

namespace {

using engine::Phase;
using io::Effect;
using io::FaultPoint;
using io::Role;

// Compares what a job said with what had been moved by then.
struct Moment {
  engine::Progress::Reading said;
  std::uint64_t moved = 0;
};

// Decorator: notes a moment each time that the job waits for its requests.
class WatchingQueue : public io::Queue {
 public:
  WatchingQueue(io::Queue& below, std::function<engine::Progress::Reading()> read) : below_(below), read_(std::move(read)) {}

  [[nodiscard]] const char* backend_name() const noexcept override { return below_.backend_name(); }
  void submit(const io::IoRequest& request) override {
    weights_[request.tag] = weight_of(request);
    below_.submit(request);
  }
  void wait(std::vector<io::Completion>& out, bool block) override {
    moments.push_back({read_(), moved_});
    const std::size_t before = out.size();
    below_.wait(out, block);
    for (std::size_t i = before; i < out.size(); ++i)
      if (out[i].result > 0) moved_ += weights_[out[i].tag] * static_cast<std::uint64_t>(out[i].result);
  }
  void notify() noexcept override { below_.notify(); }

  [[nodiscard]] std::uint64_t moved() const { return moved_; }

  std::vector<Moment> moments;

 private:
  // Weighs what is read and written; where that was read from runs, twice what is written: what else is read of runs (the keys of
  // a forecast), and of the unit that the output ends in, is none of the job's bytes.
  std::uint64_t weight_of(const io::IoRequest& request) const {
    const Role role = request.file->role();
    const Phase phase = read_().phase;
    const bool is_write = request.operation == io::Operation::write;
    if (role == Role::journal || (!is_write && request.operation != io::Operation::read)) return 0;
    if (phase == Phase::merge || phase == Phase::put_back) return is_write && role == Role::output ? 2 : 0;
    if (phase == Phase::intermediate_merge) return is_write ? 2 : 0;
    return is_write || role != Role::run ? 1 : 0;
  }

  io::Queue& below_;
  std::function<engine::Progress::Reading()> read_;
  std::map<std::uint64_t, std::uint64_t> weights_;
  std::uint64_t moved_ = 0;
};

constexpr std::uint64_t KiB = 1024;

// Records in place; `Disk` as in the harnesses.
struct InPlace {
  using Disk = MemoryMachine;
  using Sort = SmallJob;
  static std::vector<Sort> sorts() {
    Sort plain{
        .name = "plain", .format = {100, {{0, 10}}}, .records = 12'000, .piece_records = 1'500, .interval_bytes = 96 * KiB};
    Sort reread = plain;
    reread.name = "reread";
    reread.reread = true;
    return {plain, reread};
  }
  static JobStatus look(Disk& disk) { return examine(job_file, disk.store, *disk.queue); }
  static std::string name(const Sort& sort) { return std::string("in place, ") + sort.name; }
};

struct BesideInput {
  using Disk = SortDisk;
  using Sort = SmallSort;
  static std::vector<Sort> sorts() {
    return {{.job = InPlace::sorts().front()}, {.job = InPlace::sorts().back(), .keeps_runs = true}};
  }
  static JobStatus look(Disk& disk) { return disk.machine.look(); }
  static std::string name(const Sort& sort) { return std::string("beside, ") + sort.name(); }
};

// Lines of about so many letters, behind numbers.
std::string numbered(std::uint64_t seed, std::size_t lines, std::size_t letters, const char* format) {
  Random random(seed);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i)
    text += fmt::format(fmt::runtime(format), random.below(1'000'000), std::string(letters / 2 + random.below(letters), 'x'));
  return text;
}

struct Lines {
  using Disk = LinesDisk;
  using Sort = SmallLines;
  static std::vector<Sort> sorts() {
    const std::string lines = numbered(1, 7'000, 60, "{} {}\n");
    Sort plain{.label = "plain",
               .inputs = {lines, numbered(2, 3'000, 60, "{} {}\n")},
               .run_buffer_bytes = 96 * KiB,
               .interval_bytes = 64 * KiB};
    Sort reread = plain;
    reread.label = "reread";
    reread.reread = true;
    Sort groups = plain;
    groups.label = "groups";
    groups.most_merged = 4;
    Sort csv = plain;
    csv.label = "csv";
    csv.command = "csv";
    csv.words = {"n:number"};
    csv.inputs = {"n,text\n" + numbered(3, 8'000, 60, "{},{}\n")};
    Sort jsonl = plain;
    jsonl.label = "jsonl";
    jsonl.command = "jsonl";
    jsonl.words = {"n:number"};
    jsonl.inputs = {numbered(4, 7'000, 60, "{{\"n\": {}, \"t\": \"{}\"}}\n")};
    Sort in_place = plain;
    in_place.label = "in_place";
    in_place.inputs = {lines};
    in_place.most_merged = 20;
    in_place.in_place = true;
    return {plain, reread, groups, csv, jsonl, in_place};
  }
  static JobStatus look(Disk& disk) { return disk.machine.look(); }
  static std::string name(const Sort& sort) { return std::string("lines, ") + sort.name(); }
};

bool is_given_up(const JournalContents& contents) {
  return contents.state && (contents.state->kind == State::Kind::abandoning || contents.state->kind == State::Kind::abandoned);
}

// Bytes that were moved for what the journal says, by a sort or by putting back.
std::uint64_t moved_before(const JournalContents& contents, bool abandons) {
  const Layout& layout = contents.header.layout;
  std::uint64_t formed = 0, merged_before = 0, written = 0, input = 0;
  if (!contents.header.lines) {
    for (const RunDone& run : contents.runs) formed += layout.run_records(run.run) * layout.record_size;
    written = contents.state ? contents.state->records * layout.record_size : 0;
    input = layout.bytes();
  } else {
    for (const RunDone& run : contents.runs) (run.lines->merged > 0 ? merged_before : formed) += run.lines->bytes;
    written = contents.state ? contents.state->lines->bytes : 0;
    for (const InputIdentity& of : contents.header.inputs) input += of.size_bytes;
  }
  const bool is_read_back = contents.header.reread && contents.state && contents.state->kind == State::Kind::merged;
  if (!abandons) return 2 * (formed + merged_before + written) + (is_read_back ? written : 0);
  if (contents.header.lines || is_given_up(contents)) return 2 * written;
  return 2 * (contents.runs.size() < layout.runs() ? input - formed : written);
}

void check(const WatchingQueue& watch, std::uint64_t before, const std::string& what) {
  const double all = static_cast<double>(before + watch.moved());
  double last = 0;
  unsigned number = 0;
  for (const Moment& moment : watch.moments) {
    const engine::Progress::Reading& said = moment.said;
    if (moment.moved == 0 && said.share < 0) continue;  // it looks at the journal
    const double right = static_cast<double>(before + moment.moved) / all;
    ASSERT_NEAR(said.share, right, 0.05) << what << ", " << engine::to_string(said.phase) << ", " << said.bytes << " of "
                                         << said.total_bytes;
    ASSERT_GE(said.share, last - 0.01) << what << ", " << engine::to_string(said.phase);
    ASSERT_GE(said.share_at_end, said.share) << what;
    ASSERT_GE(said.number, number) << what;
    ASSERT_LE(said.number, said.phases) << what;
    last = std::max(last, said.share);
    number = said.number;
  }
}

// A machine whose queue is watched.
template <class Machine>
struct Watched {
  Watched(io::NamedStorage& storage, io::Queue& queue)
      : watch(queue, [this] { return machine.progress(); }), machine(storage, watch) {}

  WatchingQueue watch;
  Machine machine;
};
template <class Kind>
using WatchedOf = Watched<decltype(Kind::Disk::machine)>;

// Starts a sort that stops at the n-th sync of its journal; false: it came to its end before.
template <class Kind>
bool stops_at(typename Kind::Disk& disk, const typename Kind::Sort& sort, std::uint64_t nth) {
  io::FaultPlan plan({{Role::journal, FaultPoint::sync, nth, {.kind = Effect::Kind::error, .number = EIO}}});
  io::FaultyStorage storage(disk.store, plan);
  io::FaultyQueue queue(*disk.queue, plan);
  WatchedOf<Kind> watched(storage, queue);
  try {
    (void)watched.machine.start(sort);
  } catch (const IoError&) {
    return true;
  }
  check(watched.watch, 0, Kind::name(sort) + ", from its beginning");
  return false;
}

bool has_phase(const std::vector<Moment>& moments, Phase phase) {
  return std::ranges::any_of(moments, [&](const Moment& moment) { return moment.said.phase == phase; });
}

// Resumes or abandons what was left.
template <class Kind>
void take_on(const io::DiskImage& left, bool abandons, const std::string& what) {
  typename Kind::Disk disk(left, {.records_events = false});
  JobStatus status = Kind::look(disk);
  if (status.kind != JobStatus::Kind::under_way && status.kind != JobStatus::Kind::complete) return;
  const JournalContents contents = *status.contents;
  status = {};  // it holds the job
  const std::uint64_t before = moved_before(contents, abandons);
  WatchedOf<Kind> watched(disk.store, *disk.queue);
  (void)(abandons ? watched.machine.abandon() : watched.machine.resume());
  if (abandons && !contents.header.is_in_place()) return;  // what it made is removed
  check(watched.watch, before, what);
  const bool has_written = contents.state && (contents.header.lines ? contents.state->lines->bytes : contents.state->records) > 0;
  EXPECT_EQ(has_phase(watched.watch.moments, Phase::recheck), has_written) << what;
}

template <class Kind>
void check_kind(std::uint64_t least_places) {
  std::uint64_t places = 0;
  for (const typename Kind::Sort& sort : Kind::sorts())
    for (std::uint64_t nth = 1;; ++nth, ++places) {
      typename Kind::Disk disk(sort.disk(), {.records_events = false});
      if (!stops_at<Kind>(disk, sort, nth)) break;
      const io::DiskImage left = disk.store.snapshot();
      for (const bool abandons : {false, true})
        take_on<Kind>(left, abandons, fmt::format("{}, {} at sync {}", Kind::name(sort), abandons ? "given up" : "resumed", nth));
      if (testing::Test::HasFatalFailure()) return;
    }
  EXPECT_GE(places, least_places);
}

}  // namespace

TEST(JobProgress, OfRecordsInPlaceIsRightFromEveryPlaceOn) { check_kind<InPlace>(20); }
TEST(JobProgress, OfRecordsBesideTheirInputsIsRightFromEveryPlaceOn) { check_kind<BesideInput>(20); }
TEST(JobProgress, OfRowsIsRightFromEveryPlaceOn) { check_kind<Lines>(40); }

}  // namespace ecosort::demsort_inplace
