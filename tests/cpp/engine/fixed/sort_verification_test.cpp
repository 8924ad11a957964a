// Promise P1, provoked: records that are changed, lost, repeated or out of place, in memory or on the way to and from the drive,
// end the sort with one line, exit code 1 or 3, and without an output.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>

#include "base/errors.h"
#include "cpp/engine/fixed/sort_harness.h"
#include "cpp/support/test_environment.h"
#include "cpp/support/watchdog.h"
#include "doubles/faulty_queue.h"
#include "io/counting_queue.h"

namespace ecosort::engine::fixed {

namespace {

using planner::Shape;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr std::uint64_t MiB = 1U << 20U;
constexpr unsigned depth = 40;
constexpr std::uint32_t record_size = 128;  // so that blocks begin and end with records

struct Case {
  const char* name;
  SortSetup setup;
  Shape shape;
};

// `keys`: which bytes decide.
Case two_passes(std::vector<RecordKey> keys) {
  const records::RecordFormat format{record_size, std::move(keys)};
  return {"two passes", {.format = format, .inputs = {make_records(format, Keys::uniform, 30'000)}}, Shape::two_pass};
}

Case compressed() {
  const records::RecordFormat format{record_size, {{0, 120}}};
  SortSetup setup{.format = format, .inputs = {make_records(format, Keys::common_prefix, 30'000)}};
  setup.compression = codec::run_compression_of_word("lz4");
  return {"compressed", setup, Shape::two_pass};
}

Case one_pass(std::vector<RecordKey> keys) {
  const records::RecordFormat format{record_size, std::move(keys)};
  SortSetup setup{.format = format, .inputs = {make_records(format, Keys::uniform, 16'000)}};
  setup.memory_bytes = 6 * MiB;
  return {"one pass", setup, Shape::one_pass};
}

const std::vector<RecordKey> first_bytes{{0, 6}};
const std::vector<RecordKey> last_bytes{{127, 1}, {0, 6}};  // of every page, too

// Sorts under a fault, and judges what is left. The line it ended with, behind its exit code.
std::string ending_of(const Case& wanted, Disk disk, const std::string& faults) {
  SortSetup setup = wanted.setup;
  setup.previous_output = "what was there before";
  const std::unique_ptr<SortPlace> place = make_place(setup, disk);
  io::FaultPlan plan(io::parse_faults(faults));
  io::FaultyQueue faulty(place->queue(), plan);
  io::CountingQueue queue(faulty, depth);
  SortJob job = place->prepare(setup, place->storage());
  EXPECT_EQ(job.plan.shape, wanted.shape);
  Progress progress;
  PhaseLog log("");
  const std::atomic<int> nothing{0};
  std::string ending = "0";
  try {
    (void)sort(job, {place->storage(), queue, progress, log, nothing});
  } catch (const Error& error) {
    ending = fmt::format("{} {}", static_cast<int>(error.code()), error.what());
  }
  EXPECT_GT(plan.fired(), 0U) << "the fault did not happen";
  EXPECT_EQ(queue.counts().in_flight, 0U);
  EXPECT_EQ(ending.find('\n'), std::string::npos) << ending;
  EXPECT_TRUE(place->contents(place->root() + "/input-0") == setup.inputs[0]) << "the input was touched";
  EXPECT_TRUE(place->contents(place->output_path()) == *setup.previous_output) << "an output was published: " << ending;
  EXPECT_THAT(place->storage().list(place->root() + "/runs-0"), ::testing::IsEmpty());
  EXPECT_THAT(place->storage().list(place->root()), ::testing::ElementsAre("input-0", "output", "runs-0"));
  return ending;
}

// Every case under every fault, on one disk after the other; in a soak, on all of them.
template <class Expected>
void expect_endings(const std::vector<Case>& cases, const std::vector<std::string>& faults, const Expected& expected) {
  Watchdog watchdog("a sort that is to fail");
  const std::vector<Disk> disks = usable_disks();
  std::size_t turn = 0;
  for (const Case& wanted : cases) {
    for (const std::string& fault : faults) {
      ++turn;
      for (const Disk disk : disks) {
        if (disk != disks[turn % disks.size()] && !is_soak()) continue;
        const std::string name = fmt::format("{} on {}: {}", wanted.name, to_string(disk), fault);
        SCOPED_TRACE(name);
        watchdog.next(name);
        EXPECT_THAT(ending_of(wanted, disk, fault), expected);
      }
    }
  }
}

Case with_reread(Case wanted) {
  wanted.setup.reread = true;
  return wanted;
}

}  // namespace

// Memory that fails between the first look at a record and the last.
TEST(SortVerification, RecordsThatChangeInMemoryAreNoticed) {
  expect_endings({one_pass(first_bytes), two_passes(first_bytes)}, {"input:read:1:decay:persistent"},
                 ContainsRegex("^1 verification failed: [0-9]+ records with hash [0-9a-f]+ went in, [0-9]+ with hash"));
}

TEST(SortVerification, KeysThatChangeInMemoryAreNoticed) {
  expect_endings({one_pass(last_bytes), two_passes(last_bytes)}, {"input:read:1:decay:persistent"},
                 HasSubstr("1 the merged records are not in order"));
}

// A drive that says it has written what it has not. Only reading the output back shows it.
TEST(SortVerification, AnOutputThatWasNotWrittenAsItWasIsNoticedWhenItIsReadBack) {
  expect_endings({with_reread(one_pass(first_bytes)), with_reread(two_passes(first_bytes))},
                 {"output:write:1:flip", "output:write:3:lost", "output:write:2:repeat=128", "output:write:2:swap=128"},
                 HasSubstr("1 what was read back from the output is not what was written to it"));
}

TEST(SortVerification, AnOutputThatIsReadBackWronglyIsNoticed) {
  expect_endings({with_reread(one_pass(first_bytes)), with_reread(two_passes(first_bytes))},
                 {"output:read:1:flip", "output:read:2:repeat=128", "output:read:3:swap=128"},
                 HasSubstr("1 what was read back from the output is not what was written to it"));
}

// Before anything is merged: the checksums of the run blocks show it.
TEST(SortVerification, RunsThatComeBackOtherThanTheyWereAreNoticed) {
  expect_endings({two_passes(first_bytes)},
                 {"run:write:2:flip", "run:write:3:lost", "run:write:1:repeat=128", "run:write:4:swap=128", "run:read:1:flip",
                  "run:read:5:repeat=128", "run:read:2:swap=128", "run:read:3:swap=4096"},
                 AllOf(HasSubstr("3 run "), HasSubstr("is damaged at byte"), HasSubstr("check the drive and the memory")));
}

TEST(SortVerification, CompressedRunsThatComeBackOtherThanTheyWereAreNoticed) {
  expect_endings({compressed()},
                 {"run:write:2:flip", "run:write:3:lost", "run:write:1:repeat=128", "run:read:1:flip", "run:read:5:repeat=128",
                  "run:read:2:swap=128"},
                 AllOf(HasSubstr("3 run "), HasSubstr("is damaged at byte"), HasSubstr("check the drive and the memory")));
}

TEST(SortVerification, RecordsThatChangeInMemoryAreNoticedThroughCompressedRuns) {
  expect_endings({compressed()}, {"input:read:1:decay:persistent"}, HasSubstr("1 "));
}

}  // namespace ecosort::engine::fixed
