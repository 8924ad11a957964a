// Samples what codecs make of the blocks of runs, by stretches of the input: each is sorted as a run is, and some of its blocks
// are packed and unpacked.
//
//   stretch   | first quarter | second |              half | a run of each length: its beginning, sorted by itself
//
// A stretch may be shorter than a run, and where runs are merged again it is longer than the first ones. So beginnings of it are
// sorted, too: how much smaller blocks get with each doubling shows what they are in longer runs (planner/packed_size.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "formats/records/encoder.h"
#include "planner/packed_size.h"
#include "run/codec_choice.h"
#include "run/packed_block.h"

namespace ecosort::run {

// One thread. Takes memory for blocks, a coder, and two indexes of a stretch.
class PackingSample {
 public:
  // Samples runs as the plan packs them, by stretches of so many records.
  PackingSample(const planner::RecordPlan& plan, std::uint64_t stretch_records);

  // Records that follow each other in the input.
  void add(std::span<const std::byte> stretch);

  // Returns what each codec that may be chosen makes of runs of so many records. Empty: there was nothing to pack.
  [[nodiscard]] std::vector<Trial> trials(std::uint64_t run_records) const;

  // Runs that are packed in this way, which is among the trials; or not at all.
  [[nodiscard]] planner::SampledPacking packed(const CodecChoice& choice) const;

 private:
  // Measures one way to pack.
  struct Measured {
    PackTerms terms;
    std::vector<std::vector<double>> block_bytes;  // for each of the lengths
    double pack_s = 0, unpack_s = 0, plain_bytes = 0;
  };

  void sort(std::span<const std::byte> records);
  void look_at(std::span<const std::byte> records, std::size_t length);
  void pack(Measured& measured, std::uint32_t count, std::size_t length);
  [[nodiscard]] planner::PackedSize size_of(const Measured& measured) const;

  records::Encoder encoder_;
  planner::RunBlock run_block_;
  BlockShape shape_;
  std::size_t most_blocks_;             // that are packed of each sorted beginning
  std::vector<std::uint64_t> lengths_;  // records of the beginnings, ascending
  MemoryBudget memory_;
  Buffer coder_memory_, block_, packed_, unpacked_;
  PackedBlockCoder coder_;
  std::vector<sorting::Entry> entries_, scratch_;
  std::vector<Measured> measured_;
  std::uint64_t bytes_ = 0;
};

}  // namespace ecosort::run
