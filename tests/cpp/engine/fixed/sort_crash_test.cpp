// A power cut at every step of a sort: under the output's name is what was there before or the complete result, never a part.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cpp/engine/fixed/sort_harness.h"
#include "cpp/support/test_environment.h"
#include "doubles/crash_model.h"
#include "doubles/memory_store.h"

namespace ecosort::engine::fixed {

namespace {

using io::CrashModel;
using io::CutPolicy;
using io::DiskImage;
using io::StoreEvent;

constexpr std::uint64_t MiB = 1U << 20U;
constexpr std::string_view before = "what was there before";

// Images to look at: everything kept, everything lost, and chance. Before the output has a name chance decides nothing about it.
std::vector<std::pair<CutPolicy, std::uint64_t>> cuts(bool is_named) {
  std::vector<std::pair<CutPolicy, std::uint64_t>> cuts{{CutPolicy::all_kept, 0}, {CutPolicy::all_lost, 0}};
  const std::uint64_t seeds = is_named ? 8 : is_soak() ? 3 : 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    cuts.emplace_back(CutPolicy::random_subset, seed);
    cuts.emplace_back(CutPolicy::torn, seed);
  }
  return cuts;
}

struct Outcome {
  std::uint64_t events = 0, images = 0, old_images = 0, new_images = 0, broken_images = 0;
  std::string first_broken;
};

// Cuts the power after each event of `log`. `keeps`: whether the event really reached the disk.
template <class Keeps>
Outcome cut_everywhere(const DiskImage& initial, const std::vector<StoreEvent>& log, const SortSetup& setup,
                       const std::string& expected, Keeps keeps) {
  Outcome outcome;
  CrashModel model(initial);
  bool is_named = false;
  for (const StoreEvent& event : log) {
    if (!keeps(event)) continue;
    model.apply(event);
    is_named = is_named || event.kind == StoreEvent::Kind::link;
    ++outcome.events;
    for (const auto& [policy, seed] : cuts(is_named)) {
      const DiskImage image = model.image(policy, seed);
      ++outcome.images;
      EXPECT_TRUE(image.files.at("/disk/input-0").holds(setup.inputs[0])) << "the input was touched";
      const auto output = image.files.find("/disk/output");
      const bool is_old =
          setup.previous_output ? output != image.files.end() && output->second.holds(before) : output == image.files.end();
      const bool is_new = !is_old && output != image.files.end() && output->second.holds(expected);
      outcome.old_images += is_old ? 1 : 0;
      outcome.new_images += is_new ? 1 : 0;
      if (is_old || is_new) continue;
      if (outcome.broken_images++ == 0)
        outcome.first_broken = fmt::format("event {}, {}, seed {}", outcome.events, to_string(policy), seed);
    }
  }
  // Everything is durable when the sort has returned.
  const DiskImage last = model.image(CutPolicy::all_lost, 0);
  const auto output = last.files.find("/disk/output");
  if (output == last.files.end() || !output->second.holds(expected)) {
    ++outcome.broken_images;
    outcome.first_broken += " the end";
  }
  return outcome;
}

struct Recorded {
  SortSetup setup = {};
  DiskImage initial = {};
  std::string expected = {};
  std::vector<StoreEvent> log = {};
};

Recorded record(std::uint64_t memory_bytes, std::uint64_t records, bool has_previous, std::uint64_t seed,
                const codec::RunCompression& compression = {}) {
  const records::RecordFormat format{101, {{0, compression.is_none() ? 10U : 90U}}};
  Recorded run{.setup = {.format = format, .inputs = {make_records(format, Keys::common_prefix, records)}}};
  run.setup.memory_bytes = memory_bytes;
  run.setup.records_events = true;
  run.setup.compression = compression;
  if (has_previous) run.setup.previous_output = std::string(before);
  const std::unique_ptr<SortPlace> place = make_place(run.setup, Disk::memory, seed);
  auto& store = dynamic_cast<io::MemoryStore&>(place->storage());
  run.initial = store.snapshot();
  const std::size_t made = store.log().size();  // directories: part of the initial image
  run.expected = sorted_copy(format, run.setup.inputs[0]);
  EXPECT_EQ(difference(run_sort(run.setup, *place, store, place->queue()).output, run.expected, 101), "");
  run.log.assign(store.log().begin() + static_cast<std::ptrdiff_t>(made), store.log().end());
  return run;
}

constexpr auto everything = [](const StoreEvent&) { return true; };

}  // namespace

TEST(SortCrash, LeavesTheOldOutputOrTheWholeNewOneAtEveryStep) {
  for (const bool has_previous : {false, true}) {
    for (const auto& [memory, records] : {std::pair{2 * MiB, 24'000U}, std::pair{16 * MiB, 3'000U}}) {
      const Recorded run = record(memory, records, has_previous, has_previous ? 5 : 6);
      const Outcome outcome = cut_everywhere(run.initial, run.log, run.setup, run.expected, everything);
      EXPECT_EQ(outcome.broken_images, 0U) << "first at " << outcome.first_broken;
      EXPECT_EQ(outcome.events, run.log.size());
      EXPECT_GT(outcome.old_images, 10U);
      EXPECT_GT(outcome.new_images, 0U);
      RecordProperty(fmt::format("images_{}_{}", has_previous, records), static_cast<int>(outcome.images));
    }
  }
}

TEST(SortCrash, CompressedRunsChangeNothingOfThat) {
  const Recorded run = record(2 * MiB, 24'000, true, 8, codec::run_compression_of_word("lz4"));
  const Outcome outcome = cut_everywhere(run.initial, run.log, run.setup, run.expected, everything);
  EXPECT_EQ(outcome.broken_images, 0U) << "first at " << outcome.first_broken;
  EXPECT_GT(outcome.old_images, 10U);
  EXPECT_GT(outcome.new_images, 0U);
}

// The tests above must be able to fail: a disk that takes syncs and ignores them loses parts of the output.
TEST(SortCrash, ADiskThatIgnoresSyncsIsFoundOut) {
  const Recorded run = record(2 * MiB, 24'000, true, 7);
  const auto ignores_files = [](const StoreEvent& event) {
    return event.kind != StoreEvent::Kind::issue_sync && event.kind != StoreEvent::Kind::complete_sync;
  };
  EXPECT_GT(cut_everywhere(run.initial, run.log, run.setup, run.expected, ignores_files).broken_images, 0U);
  const auto ignores_directories = [](const StoreEvent& event) { return event.kind != StoreEvent::Kind::sync_directory; };
  EXPECT_GT(cut_everywhere(run.initial, run.log, run.setup, run.expected, ignores_directories).broken_images, 0U);
}

}  // namespace ecosort::engine::fixed
