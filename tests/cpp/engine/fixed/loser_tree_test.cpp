#include "engine/fixed/loser_tree.h"

#include <gtest/gtest.h>

#include "cpp/engine/fixed/run_layout.h"

namespace ecosort::engine::fixed {

namespace {

// Emits everything in pieces of random size.
std::string emit_all(const RunSet& set, unsigned seed) {
  std::mt19937_64 random(seed);
  const records::Encoder encoder(set.format);
  LoserTree tree(set.views, set.ranges, encoder);
  std::string out(set.merged.size(), '\0');
  for (std::uint64_t done = 0; done < set.count();) {
    const std::uint64_t n = std::min<std::uint64_t>(1 + random() % 40, set.count() - done);
    tree.emit(reinterpret_cast<std::byte*>(out.data()) + done * set.format.record_size, n);
    done += n;
  }
  return out;
}

}  // namespace

TEST(LoserTree, MergesAnyNumberOfRunsStably) {
  for (std::size_t k = 1; k <= 70; ++k) {
    const records::RecordFormat format = kernel_formats()[k % kernel_formats().size()];
    for (const Keys keys : {Keys::uniform, Keys::two_values, Keys::common_prefix, Keys::two_letters, Keys::highest}) {
      const RunSet set(format, keys, k, 30, static_cast<unsigned>(k));
      ASSERT_EQ(difference(emit_all(set, 3), set.merged, format.record_size), "") << k << " runs, " << to_string(keys);
    }
  }
}

TEST(LoserTree, KeysAsLargeAsTheMarkOfAnExhaustedRunStillComeOut) {
  for (const records::RecordFormat& format : kernel_formats()) {
    for (std::size_t k = 1; k <= 9; ++k) {
      const RunSet set(format, Keys::highest, k, 12, static_cast<unsigned>(k) + 100);
      ASSERT_EQ(difference(emit_all(set, 5), set.merged, format.record_size), "") << k << " runs";
    }
  }
}

TEST(LoserTree, RunsWithoutRecordsAreAllowed) {
  const records::RecordFormat format{16, {{0, 4}}};
  const RunSet empty(format, Keys::uniform, 5, 0, 1);
  std::vector<RunRange> nothing(5);
  for (std::size_t i = 0; i < 5; ++i) nothing[i] = {empty.ranges[i].begin, empty.ranges[i].begin};
  const records::Encoder encoder(format);
  LoserTree tree(empty.views, nothing, encoder);
  tree.emit(nullptr, 0);
}

}  // namespace ecosort::engine::fixed
