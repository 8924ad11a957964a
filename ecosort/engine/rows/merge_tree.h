// The cursors of a merge, and the loser tree that chooses among them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/opaque.h"
#include "base/prefetch.h"
#include "base/uint128.h"
#include "engine/rows/decoded_input.h"
#include "engine/rows/first_look.h"
#include "engine/rows/first_rows.h"
#include "engine/rows/line_blocks.h"
#include "engine/rows/row_codes.h"
#include "formats/lines/key_chain.h"
#include "formats/row_format.h"
#include "hash/multiset_hash.h"

namespace ecosort::engine::rows {

// A merge has these inputs: a run, stored or in an input, or a file that somebody sorted. The starter of a merge owns it and lets
// go of it afterwards, because several parts of it may be merged at the same time.
struct MergeInput {
  run::RowRun run;
  hash::MultisetHash rows;  // of a stored run, where a limit leaves rows of it that no merge reads
  std::string name;
  bool is_plain = false;
  io::FilePtr file;  // of a plain file
  // Likewise, where it is the run of a job, which is read and checked by its blocks. Its rows are looked at like those of any
  // other file: who made it is not known.
  const run::Description* kept = nullptr;
  run::RunPacker* coders = nullptr;  // of such a run that is packed
  const FirstLook* look = nullptr;   // of a plain file
  FirstRows* first_rows = nullptr;   // likewise
  DecodedInput* decoded = nullptr;   // likewise, where it is decompressed
};

// Lines of a run or of a file, or of a part of a run, in blocks. The coordinator fetches a block while the other one is merged.
//
// What every row of a merge looks at is one cache line: hundreds of cursors take turns at random, and the first-level cache holds
// 512 lines, those of the rows themselves included.
struct alignas(64) MergeCursor {
  const char* at = nullptr;  // the line
  const char* line_end = nullptr;
  const char* searched = nullptr;
  const char* end = nullptr;    // of the bytes that are here
  records::KeyWindow window{};  // of the line, or its code
  MergeInput* input = nullptr;
  std::uint32_t index = 0;
  bool is_plain = false;    // as its input
  bool is_checked = false;  // its rows are checked as they come: of a plain file, and of an input, which may have changed
  formats::Inside inside;   // at `searched`
  bool has_chain = false;   // the tree has the chain of the line
  bool at_last_block = false, exhausted = false;
  // Rows of the block are truncated (truncated_cursor.h). The row in the room is the next one, and not passed yet; the first row
  // of the block is to come; its last row goes on in the next one.
  bool is_truncated = false, is_pending = false, is_first = false, goes_on = false;
  char terminator = '\n';

  std::size_t room = 0;            // in front of each block
  std::size_t row_room = 0;        // of it, where truncated rows are put together
  std::size_t skipped = 0;         // bytes of the first block that belong to the part before
  std::uint64_t lines_end = 0;     // of a stored run: the bytes of its lines end here
  std::uint64_t blocks = 0;        // of a stored run: those of it that end with the last one merged
  std::uint64_t next_block = 0;    // to be requested
  std::uint64_t consumed_end = 0;  // the block that is merged
  // Blocks of a stored run that no one else merges: [released_end, release_limit) are yet to be given back.
  std::uint64_t released_end = 0, release_limit = 0;
  struct Slot {
    std::byte* data = nullptr;  // of the block; `room` bytes lie before
    std::size_t bytes = 0;      // of lines that came
    bool is_last = false;
    // Describe truncated rows, which lie at [rows, rows_end): bytes of a row that began before; whether the last one goes on.
    bool is_truncated = false, goes_on = false;
    std::size_t carried = 0;
    const char *rows = nullptr, *rows_end = nullptr;
    bool loading = false;              // the coordinator's
    std::atomic<bool> loaded = false;  // the merging thread takes the block without asking the coordinator
  };
  Slot slots[2];
  unsigned slot_count = 2;
  unsigned present = 0;  // the slot that is merged
  RowKeys keys{};        // of the line, where its code has them
  Buffer own_memory;     // of the one slot of a file with long lines
  bool has_block = false;
  // Count for a plain file lines and bytes before the present row, and hold the byte in front of the end of the row before it, or
  // 0.
  std::uint64_t lines_before = 0, bytes_before = 0;
  char before_end = 0;
  formats::RecordMarker marker{};                // of it
  std::uint64_t blank_line = 0, blank_byte = 0;  // of it, from 1 on: a blank line that may only end the file; 0: none came

  [[nodiscard]] Text line() const noexcept { return {at, static_cast<std::size_t>(line_end - at)}; }
  // The rows behind: as far ahead that they are there when the run has its turn, also where few are merged.
  void fetch_ahead() const noexcept {
    for (std::size_t ahead = 192; ahead < 384; ahead += 64) prefetch(line_end + ahead);
  }
};

// A loser tree over the cursors: the windows are compared first, then the lines, then the order of the cursors. Where rows have
// codes these are the windows, and a row that loses a tie gets another one.
//
// The smaller node goes up and the larger one stays without a branch, because no one can predict which it is; only where the
// first eight bytes of the windows are equal it looks more closely. The number of leaves is a power of two; those beyond the
// cursors, and exhausted cursors, hold the largest window there is.
class MergeTree {
 public:
  MergeTree(const formats::RowFormat& order, const std::vector<std::unique_ptr<MergeCursor>>& cursors)
      : order_(order), cursors_(cursors) {
    while (leaves_ < cursors.size()) leaves_ *= 2;
    prefixes_.resize(leaves_);
    rests_.resize(leaves_);
    chains_.resize(cursors.size());
  }

  // Rows have codes from now on, before the tree is built. They outlive it.
  void use(const RowCodes& codes) noexcept { codes_ = &codes; }

  void build() { winner_ = build(1); }
  [[nodiscard]] bool empty() const noexcept { return !is_live(winner_.cursor()); }
  [[nodiscard]] MergeCursor& winner() const noexcept { return *cursors_[winner_.cursor()]; }  // if it is not empty

  // Returns the chain of the cursor's line, whose keys may differ behind its window at `place`.
  [[nodiscard]] lines::KeyChain& chain_of(MergeCursor& cursor, formats::KeyPlace place) noexcept {
    if (!std::exchange(cursor.has_chain, true)) chains_[cursor.index].begin(place);
    return chains_[cursor.index];
  }
  [[nodiscard]] const lines::KeyChain& chain_of(const MergeCursor& cursor) const noexcept { return chains_[cursor.index]; }

  // The line of the winner changed, or it is exhausted.
  void replay() { codes_ != nullptr ? replay_codes() : replay_windows(); }

 private:
  struct Node {
    std::uint64_t prefix = 0;  // the window: this,
    std::uint64_t rest = 0;    // and the upper half of this; then the number of the cursor

    [[nodiscard]] std::size_t cursor() const noexcept { return static_cast<std::uint32_t>(rest); }
  };
  struct Match {
    Node winner, loser;
  };

  void replay_windows() {
    Node climbing = leaf(winner_.cursor());
    std::uint64_t* const prefixes = prefixes_.data();  // which no store below changes, as the compiler cannot know
    std::uint64_t* const rests = rests_.data();
    for (std::size_t at = (climbing.cursor() + leaves_) / 2; at > 0; at /= 2) {
      const Node stays{prefixes[at], rests[at]};
      if (stays.prefix == climbing.prefix) [[unlikely]] {
        const Match match = tie(stays, climbing);
        prefixes[at] = match.loser.prefix;
        rests[at] = match.loser.rest;
        climbing = match.winner;
        continue;
      }
      const std::uint64_t both = stays.prefix ^ climbing.prefix,
                          mask = opaque(-static_cast<std::uint64_t>(stays.prefix < climbing.prefix));
      const std::uint64_t rest = (stays.rest ^ climbing.rest) & mask;
      climbing.prefix = opaque(std::min(stays.prefix, climbing.prefix));
      prefixes[at] = both ^ climbing.prefix;
      rests[at] = stays.rest ^ rest;
      climbing.rest ^= rest;
    }
    winner_ = climbing;
  }

  // Rows that have codes begin alike, and the first eight bytes of a code seldom suffice: both words are compared at once.
  void replay_codes() {
    Node climbing = leaf(winner_.cursor());
    std::uint64_t* const prefixes = prefixes_.data();
    std::uint64_t* const rests = rests_.data();
    for (std::size_t at = (climbing.cursor() + leaves_) / 2; at > 0; at /= 2) {
      const Node stays{prefixes[at], rests[at]};
      std::uint64_t prefix = stays.prefix ^ climbing.prefix, rest = stays.rest ^ climbing.rest;
      if ((prefix | rest >> 32U) == 0) [[unlikely]] {
        const Match match = tie(stays, climbing);
        prefixes[at] = match.loser.prefix;
        rests[at] = match.loser.rest;
        climbing = match.winner;
        continue;
      }
      const bool goes_up = (uint128{stays.prefix} << 64U | stays.rest) < (uint128{climbing.prefix} << 64U | climbing.rest);
      const std::uint64_t mask = opaque(-static_cast<std::uint64_t>(goes_up));
      prefix &= mask;
      rest &= mask;
      prefixes[at] = stays.prefix ^ prefix;
      rests[at] = stays.rest ^ rest;
      climbing.prefix ^= prefix;
      climbing.rest ^= rest;
    }
    winner_ = climbing;
  }

  [[nodiscard]] bool is_live(std::size_t cursor) const { return cursor < cursors_.size() && !cursors_[cursor]->exhausted; }

  [[nodiscard]] static Node node(records::KeyWindow window, std::size_t cursor) noexcept {
    return {window.prefix, std::uint64_t{window.extension} << 32U | cursor};
  }
  [[nodiscard]] Node leaf(std::size_t cursor) const {
    return is_live(cursor) ? node(cursors_[cursor]->window, cursor) : Node{~std::uint64_t{0}, ~std::uint64_t{0} << 32U | cursor};
  }

  // Decides between nodes with equal prefixes, which come by value so that they stay in registers. One of them may even be that
  // of an exhausted cursor.
  [[nodiscard]] Match tie(Node a, Node b) {
    if (a.rest >> 32U != b.rest >> 32U) return a.rest < b.rest ? Match{a, b} : Match{b, a};
    if (!is_live(a.cursor())) return {b, a};
    if (!is_live(b.cursor())) return {a, b};
    return codes_ != nullptr ? code_tie(a, b) : window_tie(a, b);
  }
  [[nodiscard]] Match window_tie(Node a, Node b) {
    MergeCursor &x = *cursors_[a.cursor()], &y = *cursors_[b.cursor()];
    const int order = compare_lines(x, y);
    return (order != 0 ? order < 0 : a.cursor() < b.cursor()) ? Match{a, b} : Match{b, a};
  }
  // Compares lines with equal windows. A call: what it needs of registers would slow down the loop over rows.
  [[nodiscard, gnu::noinline]] int compare_lines(MergeCursor& x, MergeCursor& y) {
    const formats::KeyPlace place = x.has_chain ? chain_of(x).begin() : order_.behind_first(x.window);
    if (!x.has_chain && !lines::KeyChain::can_begin(order_, x.window, place))
      return lines::compare_at(order_, x.line(), y.line(), place.level);
    return lines::KeyChain::compare(order_, chain_of(x, place), x.line(), chain_of(y, place), y.line());
  }
  [[nodiscard]] Match code_tie(Node a, Node b) const {
    if (codes_->is_of_keys(a.prefix)) [[unlikely]]
      return key_tie(a, b);
    return row_tie(a, b, codes_->common(cursors_[a.cursor()]->at, cursors_[b.cursor()]->at, a.prefix));
  }
  // Keys that differ leave the loser its code: that of its keys.
  [[nodiscard, gnu::noinline]] Match key_tie(Node a, Node b) const {
    const MergeCursor &x = *cursors_[a.cursor()], &y = *cursors_[b.cursor()];
    const std::optional<int> order = codes_->order(x.keys, x.line(), y.keys, y.line());
    if (!order) return row_tie(a, b, codes_->common_from(x.at, y.at, 0));
    return (*order != 0 ? *order < 0 : a.cursor() < b.cursor()) ? Match{a, b} : Match{b, a};
  }
  // The rows agree in `common` bytes, and in what goes before them.
  [[nodiscard]] Match row_tie(Node a, Node b, std::size_t common) const {
    const char *const x = cursors_[a.cursor()]->at, *const y = cursors_[b.cursor()]->at;
    const int order = codes_->order(x, y, common);
    if (order != 0 ? order < 0 : a.cursor() < b.cursor()) return {a, node(codes_->code(y, common), b.cursor())};
    return {b, node(codes_->code(x, common), a.cursor())};
  }

  Node build(std::size_t at) {
    if (at >= leaves_) return leaf(at - leaves_);
    const Node left = build(2 * at), right = build(2 * at + 1);
    Match match{left, right};
    if (left.prefix == right.prefix)
      match = tie(left, right);
    else if (right.prefix < left.prefix)
      match = {right, left};
    prefixes_[at] = match.loser.prefix;
    rests_[at] = match.loser.rest;
    return match.winner;
  }

  const formats::RowFormat& order_;
  const RowCodes* codes_ = nullptr;
  const std::vector<std::unique_ptr<MergeCursor>>& cursors_;
  std::size_t leaves_ = 2;
  std::vector<lines::KeyChain> chains_;          // of the cursors' lines that tied
  std::vector<std::uint64_t> prefixes_, rests_;  // of the losers; apart, or the compiler moves them through vector registers
  Node winner_;
};

}  // namespace ecosort::engine::rows
