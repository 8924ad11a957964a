// Sorted runs in memory as the merge kernels see them: run blocks with padding, in blocks of their own, so that the address
// sanitizer sees any access beside the records of a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cpp/engine/fixed/sort_harness.h"
#include "engine/fixed/run_view.h"
#include "formats/records/key_spec.h"

namespace ecosort::engine::fixed {

struct RunLayout {
  std::uint32_t records_per_run_block = 5;
  std::uint32_t run_blocks_per_block = 3;
};

// Records [first, ...) of a run, from the start of a block on; `first` is a multiple of the records of a block.
class LaidOutRun {
 public:
  LaidOutRun(const std::string& records, std::uint32_t record_size, RunLayout layout, std::uint64_t first = 0) {
    view_.first = first;
    view_.records_per_run_block = layout.records_per_run_block;
    view_.run_blocks_per_block = layout.run_blocks_per_block;
    const std::size_t run_block_bytes = std::size_t{layout.records_per_run_block} * record_size + 11;
    view_.run_block_stride = static_cast<std::int64_t>(run_block_bytes);
    view_.record_size = record_size;
    const std::size_t payload = std::size_t{layout.records_per_run_block} * record_size;
    for (std::size_t at = 0; at < records.size();) {
      blocks_.push_back(std::make_unique<std::byte[]>(run_block_bytes * layout.run_blocks_per_block));
      for (std::uint32_t g = 0; g < layout.run_blocks_per_block && at < records.size(); ++g) {
        const std::size_t size = std::min(payload, records.size() - at);
        std::memcpy(blocks_.back().get() + g * run_block_bytes, records.data() + at, size);
        at += size;
      }
    }
    for (const auto& block : blocks_) view_.blocks.push_back(block.get());
    range_ = {first, first + records.size() / record_size};
  }
  [[nodiscard]] const RunView& view() const { return view_; }
  [[nodiscard]] RunRange range() const { return range_; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  RunView view_;
  RunRange range_;
};

// Runs of random lengths (also empty ones), and what merging them must give: the stable sort of all, one after the other.
struct RunSet {
  records::RecordFormat format;
  std::vector<std::string> contents;  // of each run, sorted
  std::vector<LaidOutRun> runs;
  std::vector<RunView> views;
  std::vector<RunRange> ranges;
  std::string merged;

  RunSet(records::RecordFormat wanted, Keys keys, std::size_t k, std::uint64_t longest, unsigned seed, RunLayout layout = {})
      : format(std::move(wanted)) {
    std::mt19937_64 random(seed);
    std::string all;
    for (std::size_t i = 0; i < k; ++i) {
      const std::uint64_t length = random() % 4 == 0 ? random() % 2 : random() % (longest + 1);
      contents.push_back(sorted_copy(format, make_records(format, keys, length, seed * 1000 + static_cast<unsigned>(i))));
      const std::uint64_t first = random() % 3 * layout.records_per_run_block * layout.run_blocks_per_block;
      runs.emplace_back(contents.back(), format.record_size, layout, first);
      views.push_back(runs.back().view());
      ranges.push_back(runs.back().range());
      all += contents.back();
    }
    merged = sorted_copy(format, all);
  }
  [[nodiscard]] std::uint64_t count() const { return merged.size() / format.record_size; }

  // By definition: how many records of each run are among the first `rank` in the order (key, run, position). Linear in k per
  // record.
  [[nodiscard]] std::vector<std::uint64_t> cuts_at(std::uint64_t rank) const {
    std::vector<std::uint64_t> taken(contents.size());
    for (std::uint64_t i = 0; i < rank; ++i) {
      std::size_t best = contents.size();
      for (std::size_t run = 0; run < contents.size(); ++run) {
        if (taken[run] * format.record_size == contents[run].size()) continue;
        if (best == contents.size() || key_of(run, taken[run]) < key_of(best, taken[best])) best = run;
      }
      ++taken[best];
    }
    for (std::size_t run = 0; run < taken.size(); ++run) taken[run] += ranges[run].begin;
    return taken;
  }

  // A text that compares like the key, byte by byte.
  [[nodiscard]] std::string key_of(std::size_t run, std::uint64_t number) const {
    std::string key;
    for (const RecordKey& field : format.keys) {
      std::string part = contents[run].substr(number * format.record_size + field.offset, field.length);
      if (field.descends)
        for (char& c : part) c = static_cast<char>(~c);
      key += part;
    }
    return key;
  }
};

// Keys that the prefix decides, that the extension decides, that nothing short decides, of two fields, descending.
inline std::vector<records::RecordFormat> kernel_formats() {
  return {{16, {{0, 4}}}, {100, {{0, 10}}}, {30, {{3, 16}}}, {25, {{20, 2, true}, {0, 6}}}, {5, {{0, 3}}}, {64, {{1, 13, true}}}};
}

}  // namespace ecosort::engine::fixed
