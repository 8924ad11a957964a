// The k-way merge kernel: a loser tree over cached key prefixes (Knuth 5.4.1; EcoSort section 4 uses the parallel mode's).
//
// One comparison of two cached 64-bit prefixes per level, turned into conditional moves, because the outcome of a merge
// comparison cannot be predicted; records are touched once, when they are copied. Ties of the prefix go to the full key
// and then to the run's rank, which makes the merge stable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/run_view.h"
#include "records/encoder.h"

namespace ecosort::pipeline {

// Merges ranges of runs; run i precedes run j for i < j among equal keys. One object per thread and piece of work.
class LoserTree {
 public:
  // `views` and `ranges` have the same length >= 1 and outlive the tree.
  LoserTree(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, const records::Encoder& encoder);

  // Copies the next `count` records, contiguously, to `out`. The sum of all counts never exceeds the sum of the ranges.
  void emit(std::byte* out, std::uint64_t count);

  // Per run, the number of the first record that was not emitted.
  [[nodiscard]] std::vector<std::uint64_t> positions() const;

 private:
  struct Node {
    std::uint64_t prefix;
    std::uint32_t strand;
  };
  struct Strand {
    const std::byte* at = nullptr;         // the next record
    const std::byte* chunk_end = nullptr;  // where the contiguous records end
    std::uint64_t next = 0;                // record number after this chunk
    std::uint64_t end = 0;
    bool exhausted = false;
  };

  template <class Load, class Copy>
  void emit_with(std::byte* out, std::uint64_t count, Load load, Copy copy);
  template <class Copy>
  void emit_copying(std::byte* out, std::uint64_t count, Copy copy);
  void next_chunk(std::uint32_t strand);
  [[nodiscard]] bool wins_tie(const Node& a, const Node& b) const;
  [[nodiscard]] bool wins(const Node& a, const Node& b) const {
    return a.prefix != b.prefix ? a.prefix < b.prefix : wins_tie(a, b);
  }
  [[nodiscard]] Node leaf(std::uint32_t strand) const;

  const std::vector<RunView>& views_;
  const records::Encoder& encoder_;
  std::uint32_t record_size_;
  std::vector<Strand> strands_;
  std::vector<Node> losers_;  // [1, k): inner nodes, leaf i hangs below (i + k) / 2
  Node winner_{};
};

}  // namespace ecosort::pipeline
