// Every fault point of small sorts, one after the other: (file role, operation, n-th) x what happens x once or from then on.
//
// A sort under a fault ends: with the right output, or with one line that names the place, and then everything is as before.
// ECOSORT_SOAK=1 visits every n-th with every effect; without it the first one has them all, the last and some between one each.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/errors.h"
#include "cpp/engine/fixed/sort_harness.h"
#include "cpp/support/open_descriptors.h"
#include "cpp/support/test_environment.h"
#include "cpp/support/watchdog.h"
#include "doubles/faulty_queue.h"
#include "doubles/faulty_storage.h"
#include "doubles/memory_store.h"
#include "io/counting_queue.h"
#include "io/reactor.h"

namespace ecosort::engine::fixed {

namespace {

using io::Effect;
using io::Fault;
using io::FaultPoint;
using planner::Shape;

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB;
constexpr unsigned depth = 40;

// A small sort of each shape, and what it should be.
struct Case {
  SortSetup setup;
  Shape shape;
};

Case two_passes() {
  const records::RecordFormat format{100, {{0, 10}}};
  return {{.format = format, .inputs = {make_records(format, Keys::uniform, 20'000)}}, Shape::two_pass};
}

Case one_pass() {
  const records::RecordFormat format{101, {{3, 12}}};
  SortSetup setup{.format = format, .inputs = cut(make_records(format, Keys::two_values, 3'000), 101, {7, 1'500})};
  setup.memory_bytes = 4 * MiB;
  setup.reread = true;
  return {setup, Shape::one_pass};
}

Case unique_over_two_directories() {
  const records::RecordFormat format{77, {{5, 3}}};
  SortSetup setup{.format = format, .inputs = cut(make_records(format, Keys::common_prefix, 20'000), 77, {9'999})};
  setup.directories = 2;
  setup.unique = true;
  return {setup, Shape::two_pass};
}

// Large records make large run blocks: only a few runs can be merged at a time.
Case several_passes() {
  const records::RecordFormat format{50'007, {{49'000, 2}, {0, 20}}};
  planner::Wanted wanted{.format = format, .threads = 2};
  while (true) {
    wanted.input_records += 20;
    wanted.memory_bytes = planner::minimum_memory_bytes(wanted);
    if (planner::make_plan(wanted).shape == Shape::multi_pass) break;
  }
  wanted.input_records += 10;
  SortSetup setup{.format = format, .inputs = {make_records(format, Keys::uniform, wanted.input_records)}};
  setup.memory_bytes = wanted.memory_bytes;
  return {setup, Shape::multi_pass};
}

// Records that shrink, over two directories.
Case two_passes_compressed() {
  const records::RecordFormat format{100, {{0, 90}}};
  SortSetup setup{.format = format, .inputs = {make_records(format, Keys::common_prefix, 20'000)}};
  setup.directories = 2;
  setup.compression = codec::run_compression_of_word("lz4");
  return {setup, Shape::two_pass};
}

Case several_passes_compressed() {
  const records::RecordFormat format{50'007, {{0, 40'000}}};
  planner::Wanted wanted{.format = format, .threads = 2};
  wanted.compression = codec::run_compression_of_word("zstd");
  while (true) {
    wanted.input_records += 20;
    wanted.memory_bytes = planner::minimum_memory_bytes(wanted);
    if (planner::make_plan(wanted).shape == Shape::multi_pass) break;
  }
  wanted.input_records += 10;
  SortSetup setup{.format = format, .inputs = {make_records(format, Keys::common_prefix, wanted.input_records)}};
  setup.memory_bytes = wanted.memory_bytes;
  setup.compression = wanted.compression;
  return {setup, Shape::multi_pass};
}

std::string all_of(const SortSetup& setup) {
  std::string all;
  for (const std::string& input : setup.inputs) all += input;
  return all;
}

std::size_t open_descriptors() {
  std::size_t open = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++open;
  return open;
}

std::string to_text(const Fault& fault) {
  std::string effect = fault.effect.kind == Effect::Kind::error ? ::strerrorname_np(fault.effect.number)
                                                                : fmt::format("short={}", fault.effect.bytes);
  return fmt::format("{}:{}:{}:{}:{}", io::to_string(fault.role), io::to_string(fault.point), fault.nth, effect,
                     fault.is_persistent ? "persistent" : "once");
}

// Runs one sort of a case again and again, each time with another fault, and judges what it leaves.
class Sweep {
 public:
  Sweep(const char* name, Case wanted, Disk disk) : name_(name), case_(std::move(wanted)), disk_(disk) {
    expected_ = sorted_copy(case_.setup.format, all_of(case_.setup), case_.setup.unique);
  }

  // Without a fault: what there is to fail.
  void count() {
    io::FaultPlan none;
    run(none, "no fault", {});
    for (const io::Role role : {io::Role::input, io::Role::run, io::Role::output})
      for (std::size_t point = 0; point < io::fault_point_count; ++point)
        if (const std::uint64_t seen = none.seen(role, static_cast<FaultPoint>(point)); seen > 0)
          points_.push_back({role, static_cast<FaultPoint>(point), seen});
  }

  // Every n-th, each with another effect; of many some less than all, and the last.
  void fail_each_in_turn() {
    std::size_t turn = 0;
    for (const Point& point : points_) {
      const std::vector<Effect> all = effects(point.point, false);
      const std::uint64_t step = is_soak() ? 1 : 1 + point.seen / 4;
      for (std::uint64_t nth = 1; nth <= point.seen; nth = nth == point.seen ? nth + 1 : std::min(nth + step, point.seen), ++turn)
        fail({point.role, point.point, nth, all[turn % all.size()], turn / all.size() % 2 == 1});
    }
  }

  // `turn`: of the effects, where not each n-th has them all; another one for each case.
  void fail_everything(std::size_t turn) {
    for (const Point& point : points_) {
      const std::vector<Effect> all = effects(point.point, false);
      for (const std::uint64_t nth : chosen(point.seen, false)) {
        for (std::size_t i = 0; i < (is_soak() || nth == 1 ? all.size() : 1); ++i, ++turn) {
          const Effect& effect = all[(is_soak() || nth == 1 ? i : turn) % all.size()];
          for (const bool is_persistent : {false, true})
            if (is_soak() || is_persistent == (turn % 2 == 1)) fail({point.role, point.point, nth, effect, is_persistent});
        }
      }
      ++turn;  // or an even number of effects would come in the same turn at the next one
    }
  }

  // The first and the last n-th, with errors only, in turn once and for good.
  void fail_the_ends() {
    std::size_t turn = 0;
    for (const Point& point : points_) {
      for (const std::uint64_t nth : chosen(point.seen, !is_soak())) {
        ++turn;
        for (const Effect& effect : effects(point.point, !is_soak()))
          for (const bool is_persistent : {false, true})
            if (is_soak() || is_persistent == (turn % 2 == 0)) fail({point.role, point.point, nth, effect, is_persistent});
      }
      ++turn;  // or the last would fail for good at every one, and the first never
    }
  }

  [[nodiscard]] std::uint64_t faults() const { return faults_; }
  [[nodiscard]] const std::string& expected() const { return expected_; }

 private:
  struct Point {
    io::Role role;
    FaultPoint point;
    std::uint64_t seen;
  };

  static std::vector<std::uint64_t> chosen(std::uint64_t seen, bool few) {
    std::set<std::uint64_t> nths{1, seen};
    const std::uint64_t step = is_soak() ? 1 : std::max<std::uint64_t>(seen / 2, 1);
    for (std::uint64_t nth = 2; !few && nth < seen; nth += step) nths.insert(nth);
    return {nths.begin(), nths.end()};
  }

  static std::vector<Effect> effects(FaultPoint point, bool few) {
    if (few) return {{Effect::Kind::error, EIO, 0}};
    std::vector<Effect> effects;
    for (const int number : {EIO, ENOSPC, EINTR, EAGAIN, EDQUOT, EFBIG}) effects.push_back({Effect::Kind::error, number, 0});
    if (point == FaultPoint::reserve || point == FaultPoint::release) effects.push_back({Effect::Kind::error, EOPNOTSUPP, 0});
    if (point == FaultPoint::read || point == FaultPoint::write) {
      effects.push_back({Effect::Kind::short_count, 0, 0});
      effects.push_back({Effect::Kind::short_count, 0, 3'000});
    }
    return effects;
  }

  void fail(const Fault& fault) {
    if (testing::Test::HasFailure()) return;
    const std::string name = fmt::format("{} on {}: {}", name_, to_string(disk_), to_text(fault));
    SCOPED_TRACE(name);
    watchdog_.next(name);
    // In turn with and without a file under the output's name.
    case_.setup.previous_output.reset();
    if (++faults_ % 2 == 0) case_.setup.previous_output = "what was there before";
    io::FaultPlan plan({fault});
    run(plan, name, fault);
    if (is_reproducible()) {
      EXPECT_GT(plan.fired(), 0U);
    }
  }

  // The same operations each time; where threads have a say there may be one more or less.
  [[nodiscard]] bool is_reproducible() const { return disk_ == Disk::memory && case_.setup.threads == 0; }

  // A single fault of these is overcome: the sort continues.
  static bool is_overcome(const Fault& fault) {
    const bool moves = fault.point == FaultPoint::read || fault.point == FaultPoint::write;
    if (fault.effect.kind == Effect::Kind::short_count)
      return fault.effect.bytes > 0 || (!fault.is_persistent && fault.point == FaultPoint::write);
    if (fault.effect.number == EOPNOTSUPP) return true;
    if (fault.point == FaultPoint::close && fault.role == io::Role::output) return true;  // named and synced by then
    return moves && (fault.effect.number == EINTR || fault.effect.number == EAGAIN) && !fault.is_persistent;
  }

  void run(io::FaultPlan& plan, const std::string& name, std::optional<Fault> fault) {
    const std::size_t descriptors = open_descriptors();
    {
      const std::unique_ptr<SortPlace> place = make_place(case_.setup, disk_, is_reproducible() ? 1 : faults_ + 1);
      const std::size_t with_place = open_descriptors();
      io::FaultyStorage storage(place->storage(), plan);
      io::FaultyQueue faulty(place->queue(), plan);
      io::CountingQueue queue(faulty, depth);
      std::string line;
      SortResult result;
      try {
        result = run_sort(case_.setup, *place, storage, queue);
        EXPECT_EQ(result.planned.shape, case_.shape);
        EXPECT_EQ(result.report.run_packing && result.report.run_packing->packed_blocks > 0, !case_.setup.compression.is_none());
      } catch (const IoError& error) {
        line = error.what();
        EXPECT_NE(line, "");
      } catch (const std::exception& error) {
        ADD_FAILURE() << name << " ended with: " << error.what();
      }
      if (!fault || plan.fired() == 0 || is_overcome(*fault)) {
        EXPECT_EQ(line, "");
      }
      judge(*place, line, fault);
      EXPECT_EQ(queue.counts().in_flight, 0U) << "requests were left behind";
      EXPECT_EQ(open_descriptors(), with_place);
    }
    EXPECT_EQ(open_descriptors(), descriptors);
  }

  void judge(SortPlace& place, const std::string& line, const std::optional<Fault>& fault) {
    const bool is_new = line.empty();
    // The one step that cannot be undone where a file was replaced.
    const bool is_last_step = fault && fault->point == FaultPoint::sync_directory && case_.setup.previous_output;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < case_.setup.inputs.size(); ++i) {
      names.push_back(fmt::format("input-{}", i));
      EXPECT_EQ(place.contents(place.root() + "/" + names.back()), case_.setup.inputs[i]) << "the input was touched";
    }
    if (is_new || case_.setup.previous_output) names.emplace_back("output");
    for (unsigned i = 0; i < case_.setup.directories; ++i) {
      names.push_back(fmt::format("runs-{}", i));
      EXPECT_THAT(place.storage().list(place.root() + "/" + names.back()), ::testing::IsEmpty());
    }
    EXPECT_THAT(place.storage().list(place.root()), ::testing::ElementsAreArray(names)) << line;
    if (is_new || is_last_step) {
      EXPECT_EQ(difference(place.contents(place.output_path()), expected_, case_.setup.format.record_size), "");
    } else if (case_.setup.previous_output) {
      EXPECT_EQ(place.contents(place.output_path()), *case_.setup.previous_output) << line;
    }
    if (!is_new) {
      EXPECT_THAT(line, ::testing::HasSubstr(place.root())) << "the line does not name the place";
    }
    if (const auto* store = dynamic_cast<io::MemoryStore*>(&place.storage()); store != nullptr) {
      EXPECT_EQ(store->open_files(), 0U) << line;
      std::uint64_t kept = 0;
      for (const auto& [path, contents] : store->snapshot().files) kept += contents.allocated_bytes();
      EXPECT_EQ(store->allocated_bytes(), kept) << "space is still taken";
    }
  }

  const char* const name_;
  Case case_;
  const Disk disk_;
  std::string expected_;
  std::vector<Point> points_;
  std::uint64_t faults_ = 0;
  Watchdog watchdog_{"a sort without a fault"};
};

// Fails from some wait on, as an io_uring that the kernel no longer enters.
class BreakingQueue : public io::Queue {
 public:
  BreakingQueue(io::Queue& below, unsigned waits) : below_(below), waits_(waits) {}
  [[nodiscard]] const char* backend_name() const noexcept override { return below_.backend_name(); }
  void submit(const io::IoRequest& request) override { below_.submit(request); }
  void wait(std::vector<io::Completion>& out, bool block) override {
    if (waits_ == 0) throw IoError::from_call("submit requests to", "io_uring", EBADF);
    --waits_;
    below_.wait(out, block);
  }
  void notify() noexcept override { below_.notify(); }

 private:
  io::Queue& below_;
  unsigned waits_;
};

}  // namespace

// Made by the test only: every process of the unit tests lists all names.
struct NamedCase {
  const char* name;
  Case (*make)();
};

class SortFaults : public ::testing::TestWithParam<NamedCase> {
 protected:
  static Sweep sweep_on(Disk disk, unsigned threads = 0) {
    Case wanted = GetParam().make();
    wanted.setup.threads = threads;
    return {GetParam().name, std::move(wanted), disk};
  }
  // Records of 50 kB that shrink take most of the time, and what they add to the other cases is little.
  static bool only_in_soak() { return !is_soak() && GetParam().make == several_passes_compressed; }
};

constexpr NamedCase plain[]{{"one_pass", one_pass},
                            {"two_passes", two_passes},
                            {"unique_over_two_directories", unique_over_two_directories},
                            {"several_passes", several_passes}};
constexpr NamedCase compressed[]{{"two_passes_compressed", two_passes_compressed},
                                 {"several_passes_compressed", several_passes_compressed}};

std::string name_of(const ::testing::TestParamInfo<NamedCase>& parameter) { return parameter.param.name; }

INSTANTIATE_TEST_SUITE_P(Plain, SortFaults, ::testing::ValuesIn(plain), name_of);
INSTANTIATE_TEST_SUITE_P(Compressed, SortFaults, ::testing::ValuesIn(compressed), name_of);

TEST_P(SortFaults, EndTheSortCleanlyOrAreOvercome) {
  if (only_in_soak()) GTEST_SKIP() << "without ECOSORT_SOAK EveryOperationCanFail is enough";
  Sweep sweep = sweep_on(Disk::memory);
  sweep.count();
  sweep.fail_everything(std::strlen(GetParam().name));
  EXPECT_GT(sweep.faults(), 90U);
}

TEST_P(SortFaults, EveryOperationCanFail) {
  Sweep sweep = sweep_on(Disk::memory);
  sweep.count();
  sweep.fail_each_in_turn();
  EXPECT_GT(sweep.faults(), 20U);
}

TEST_P(SortFaults, EndTheSortCleanlyWithThreads) {
  Sweep sweep = sweep_on(Disk::memory, 2);
  sweep.count();
  sweep.fail_the_ends();
}

class SortFaultsOnDisks : public SortFaults {};

INSTANTIATE_TEST_SUITE_P(Plain, SortFaultsOnDisks, ::testing::ValuesIn(plain), name_of);
INSTANTIATE_TEST_SUITE_P(Compressed, SortFaultsOnDisks, ::testing::ValuesIn(compressed), name_of);

// All disks try what every sort does, and one of them tries what other cases add.
TEST_P(SortFaultsOnDisks, EndTheSortCleanly) {
  if (only_in_soak()) GTEST_SKIP() << "without ECOSORT_SOAK this case is tried in memory";
  std::vector<Disk> disks = usable_disks();
  std::erase(disks, Disk::memory);
  if (!is_soak() && GetParam().make != two_passes && !disks.empty()) disks = {disks[std::strlen(GetParam().name) % disks.size()]};
  for (const Disk disk : disks) {
    Sweep sweep = sweep_on(disk, 1);
    sweep.count();
    sweep.fail_the_ends();
  }
}

// Requests in flight then still have their buffers, files and tasks: they can end in their own time.
TEST(SortWithABrokenQueue, TouchesNothingThatRequestsInFlightUse) {
  const Watchdog watchdog("a sort with a broken queue");
  const Case wanted = two_passes();
  for (const Disk disk : usable_disks()) {
    for (const unsigned waits : {0U, 1U, 5U, 60U}) {
      SCOPED_TRACE(fmt::format("{} after {} waits", to_string(disk), waits));
      const ClosesWhatIsLeft scope_of_descriptors;  // tasks are left behind, and with them their files
      const std::unique_ptr<SortPlace> place = make_place(wanted.setup, disk);
      io::CountingQueue counted(place->queue(), depth);
      BreakingQueue queue(counted, waits);
      SortJob job = place->prepare(wanted.setup, place->storage());
      Progress progress;
      PhaseLog log("");
      const std::atomic<int> nothing{0};
      bool broke = false;
      try {
        const LeaksAreMeant scope;
        (void)sort(job, {place->storage(), queue, progress, log, nothing});
      } catch (const io::QueueBroken&) {
        broke = true;
      }
      if (!broke) {
        EXPECT_GT(waits, 5U);  // where each wait finds many requests done, the sort may end before so many
        continue;
      }
      EXPECT_GT(counted.counts().in_flight, 0U) << "nothing was at stake";
      std::vector<io::Completion> late;
      while (counted.counts().in_flight > 0) counted.wait(late, true);
      EXPECT_FALSE(place->storage().exists(place->output_path()));
    }
  }
}

}  // namespace ecosort::engine::fixed
