// The loser tree that chooses among the cursors of a merge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/opaque.h"
#include "base/uint128.h"
#include "engine/rows/merge_cursor.h"
#include "engine/rows/row_codes.h"
#include "formats/lines/key_chain.h"
#include "formats/row_format.h"

namespace ecosort::engine::rows {

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
  void use(const RowCodes& codes) noexcept {
    codes_ = &codes;
    has_key_codes_ = codes.is_keyed();
  }
  // Rows have codes of their chains from now on: pieces behind the first window are those of chains. The caller gives each row to
  // code(), or to code_behind().
  void use_chain_codes() noexcept { has_key_codes_ = true; }
  [[nodiscard]] bool has_chain_codes() const noexcept { return has_key_codes_ && codes_ == nullptr; }
  // Returns the cursor's first window, which a code of its keys takes the place of.
  [[nodiscard]] records::KeyWindow first_window(const MergeCursor& cursor) const noexcept {
    return has_key_codes_ ? cursor.keys.window : cursor.window;
  }
  // Makes the cursor's first window a code: that of a row that shares nothing with its base,
  [[gnu::always_inline]] static void code(MergeCursor& cursor) noexcept {
    cursor.keys.window = cursor.window;
    cursor.window = code_of(0, cursor.window);
  }
  // or of one that begins with the window of the line that went out last, and has its chain where that one has one.
  void code_behind(MergeCursor& cursor, Text last, lines::KeyChain& last_chain, bool& last_has_chain);

  void build() { winner_ = build(1); }
  [[nodiscard]] bool empty() const noexcept { return !is_live(winner_.cursor()); }
  [[nodiscard]] MergeCursor& winner() const noexcept { return *cursors_[winner_.cursor()]; }  // if it is not empty

  // Returns whether the winner is the only cursor that is not exhausted.
  [[nodiscard]] bool is_alone() const {
    for (std::size_t at = (winner_.cursor() + leaves_) / 2; at > 0; at /= 2)
      if (is_live(static_cast<std::uint32_t>(rests_[at]))) return false;
    return !empty();
  }

  // Returns the chain of the cursor's line, whose keys may differ behind its window at `place`.
  [[nodiscard]] lines::KeyChain& chain_of(MergeCursor& cursor, formats::KeyPlace place) noexcept {
    if (!std::exchange(cursor.has_chain, true)) chains_[cursor.index].begin(place);
    return chains_[cursor.index];
  }
  [[nodiscard]] const lines::KeyChain& chain_of(const MergeCursor& cursor) const noexcept { return chains_[cursor.index]; }

  // The line of the winner changed, or it is exhausted.
  void replay() { codes_ != nullptr || has_key_codes_ ? replay_codes() : replay_windows(); }

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

  // Words by themselves: the compiler would load the two of a node at once, right after they were stored one by one, and wait.
  [[nodiscard]] static Match match(Node winner, Node loser) noexcept {
    return {{opaque(winner.prefix), opaque(winner.rest)}, {opaque(loser.prefix), opaque(loser.rest)}};
  }

  // Decides between nodes with equal prefixes, which come by value so that they stay in registers. One of them may even be that
  // of an exhausted cursor.
  [[nodiscard]] Match tie(Node a, Node b) {
    if (a.rest >> 32U != b.rest >> 32U) return a.rest < b.rest ? match(a, b) : match(b, a);
    if (!is_live(a.cursor())) return match(b, a);
    if (!is_live(b.cursor())) return match(a, b);
    if (has_key_codes_ && (codes_ == nullptr || pieces_of(a.prefix) == 0)) return key_tie(a, b);
    if (codes_ == nullptr) return window_tie(a, b);
    return row_tie(a, b, codes_->common(cursors_[a.cursor()]->at, cursors_[b.cursor()]->at, a.prefix));
  }
  [[nodiscard]] Match window_tie(Node a, Node b) {
    MergeCursor &x = *cursors_[a.cursor()], &y = *cursors_[b.cursor()];
    const int order = compare_lines(x, y);
    return (order != 0 ? order < 0 : a.cursor() < b.cursor()) ? match(a, b) : match(b, a);
  }
  // Compares lines with equal windows. A call: what it needs of registers would slow down the loop over rows.
  [[nodiscard, gnu::noinline]] int compare_lines(MergeCursor& x, MergeCursor& y) {
    const records::KeyWindow window = first_window(x);
    const formats::KeyPlace place = x.has_chain ? chain_of(x).begin() : order_.behind_first(window);
    if (!x.has_chain && !lines::KeyChain::can_begin(order_, window, place))
      return lines::compare_at(order_, x.line(), y.line(), place.level);
    return lines::KeyChain::compare(order_, chain_of(x, place), x.line(), chain_of(y, place), y.line());
  }
  // The rows agree in `common` bytes, and in the keys before them.
  [[nodiscard]] Match row_tie(Node a, Node b, std::size_t common) const {
    const char *const x = cursors_[a.cursor()]->at, *const y = cursors_[b.cursor()]->at;
    const int order = codes_->order(x, y, common);
    if (order != 0 ? order < 0 : a.cursor() < b.cursor()) return match(a, node(codes_->code(y, common), b.cursor()));
    return match(b, node(codes_->code(x, common), a.cursor()));
  }

  // Begins at the windows that equal codes show, because a code lacks a byte of its window. Where they are first windows and
  // differ, or do not hold all keys before the row, the loser keeps its code.
  [[nodiscard, gnu::noinline]] Match key_tie(Node a, Node b) {
    MergeCursor &x = *cursors_[a.cursor()], &y = *cursors_[b.cursor()];
    const records::KeyWindow u = x.keys.window, v = y.keys.window;
    const std::size_t pieces = pieces_of(a.prefix);
    if (pieces == 0 && u.prefix != v.prefix) return u.prefix < v.prefix ? match(a, b) : match(b, a);
    if (pieces == 0 && u.extension != v.extension) return u.extension < v.extension ? match(a, b) : match(b, a);
    if (codes_ != nullptr) return x.keys.are_all ? row_tie(a, b, codes_->common_from(x.at, y.at, 0)) : window_tie(a, b);
    const formats::KeyPlace place = x.has_chain ? chain_of(x).begin() : order_.behind_first(u);
    lines::KeyChain &of_x = chain_of(x, place), &of_y = chain_of(y, place);
    const auto [windows, order] =
        lines::KeyChain::differ(order_, of_x, x.line(), of_y, y.line(), pieces == 0 ? 0 : static_cast<unsigned>(pieces) - 1);
    if (order != 0 ? order < 0 : a.cursor() < b.cursor())
      return match(a, node(code_of(windows + 1, of_y.behind(windows)), b.cursor()));
    return match(b, node(code_of(windows + 1, of_x.behind(windows)), a.cursor()));
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
  const RowCodes* codes_ = nullptr;  // whose pieces are bytes of rows
  bool has_key_codes_ = false;       // the first piece of codes is the first window
  const std::vector<std::unique_ptr<MergeCursor>>& cursors_;
  std::size_t leaves_ = 2;
  std::vector<lines::KeyChain> chains_;          // of the cursors' lines that tied
  std::vector<std::uint64_t> prefixes_, rests_;  // of the losers; apart, or the compiler moves them through vector registers
  Node winner_;
};

[[gnu::noinline]] inline void MergeTree::code_behind(MergeCursor& cursor, Text last, lines::KeyChain& last_chain,
                                                     bool& last_has_chain) {
  cursor.keys.window = cursor.window;
  const formats::KeyPlace place = last_has_chain ? last_chain.begin() : order_.behind_first(cursor.window);
  if (!std::exchange(last_has_chain, true)) last_chain.begin(place);
  lines::KeyChain& chain = chain_of(cursor, place);
  const auto [windows, order] = lines::KeyChain::differ(order_, last_chain, last, chain, cursor.line(), 0);
  cursor.window = code_of(windows + 1, chain.behind(windows));
}

}  // namespace ecosort::engine::rows
