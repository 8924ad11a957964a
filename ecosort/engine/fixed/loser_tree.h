// The k-way merge kernel: a loser tree over cached key prefixes (Knuth 5.4.1; EcoSort section 4 uses the parallel mode's).
//
// A match compares two words: what tells the keys of this merge apart (eight key bytes from where the first and the last of all
// keys differ, without the bits that all of them share) above the rank of the run. The smaller word goes up, the larger one
// stays, with a minimum and an exclusive or and no branch, because the outcome of a merge comparison cannot be predicted. Words
// that differ in the rank only go to the full key and then to the rank, which makes the merge stable. Records are touched once,
// when they are copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/fixed/run_view.h"
#include "formats/records/encoder.h"

namespace ecosort::engine::fixed {

// Merges ranges of runs; run i precedes run j for i < j among equal keys. One object per thread and piece of work.
class LoserTree {
 public:
  // `views` and `ranges` have the same length >= 1 and outlive the tree.
  LoserTree(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, const records::Encoder& encoder);

  // Copies the next `count` records, contiguously, to `out`. The sum of all counts never exceeds the sum of the ranges.
  void emit(std::byte* out, std::uint64_t count);

  // The next `count` records of each of two trees of equally many runs, with the same encoder.
  static void emit_both(LoserTree& a, std::byte* out_a, LoserTree& b, std::byte* out_b, std::uint64_t count);

  // Per run, the number of the first record that was not emitted.
  [[nodiscard]] std::vector<std::uint64_t> positions() const;

 private:
  struct Strand {
    const std::byte* at = nullptr;         // the next record
    const std::byte* chunk_end = nullptr;  // where the contiguous records end; the same as `at`: no record is left
    std::uint64_t next = 0;                // record number after this chunk
    std::uint64_t end = 0;

    [[nodiscard]] bool exhausted() const noexcept { return at == chunk_end; }
  };
  // Makes words of eight key bytes, those behind the first skip_ ones, and of the number of the run.
  struct Words {
    std::uint64_t leaves;  // a power of two, so that all paths are equally long; those beyond the runs are exhausted
    std::uint32_t rank_bits;
    std::uint32_t shift = 0;  // low bits of the key bytes that do not fit into the word
    std::uint64_t base = 0;   // no key bytes are smaller

    [[nodiscard]] std::uint64_t of(std::uint64_t key, std::uint32_t strand) const noexcept {
      return (key - base) >> shift << rank_bits | strand;
    }
    [[nodiscard]] std::uint64_t of_exhausted(std::uint32_t strand) const noexcept {
      return ~std::uint64_t{0} << rank_bits | strand;
    }
    [[nodiscard]] std::uint32_t strand_of(std::uint64_t word) const noexcept {
      return static_cast<std::uint32_t>(word & (leaves - 1));
    }
    [[nodiscard]] bool is_tie(std::uint64_t a, std::uint64_t b) const noexcept { return (a ^ b) < leaves; }
  };
  // A copy has to be made where registers can hold it: the compiler must assume that records go where the tree is, and loads what
  // it knows anew behind each of them. x86-64 has too few, and takes operands from memory.
#if defined(__x86_64__)
  using HeldWords = const Words&;
#else
  using HeldWords = const Words;
#endif
  template <class Load>
  class TieBreak;
  template <class Load, class Size>
  class Climb;

  template <class Work>
  static void with_size(std::uint32_t record_size, Work work);
  [[nodiscard]] bool next_chunk(std::uint32_t strand);
  [[nodiscard]] bool wins_tie(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] bool wins(std::uint64_t a, std::uint64_t b) const;
  [[nodiscard]] std::uint64_t key(const std::byte* record) const noexcept {
    return skip_ == 0 ? encoder_.prefix(record) : encoder_.window(record, skip_).prefix;
  }
  void choose_words(const std::vector<RunRange>& ranges);
  [[nodiscard]] std::uint64_t leaf(std::uint32_t strand) const;

  const std::vector<RunView>& views_;
  const records::Encoder& encoder_;
  std::uint32_t record_size_;
  Words words_;
  std::uint64_t skip_ = 0;  // key bytes in which all keys agree
  bool words_decide_ = false;
  std::vector<Strand> strands_;
  std::vector<std::uint64_t> losers_;  // words; [1, leaves): inner nodes, leaf i hangs below (i + leaves) / 2
  std::uint64_t winner_ = 0;
};

}  // namespace ecosort::engine::fixed
