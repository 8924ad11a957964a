#include "engine/fixed/loser_tree.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/opaque.h"
#include "base/prefetch.h"
#include "engine/fixed/split.h"

namespace ecosort::engine::fixed {

namespace {

constexpr std::size_t prefetch_bytes = 256;  // ahead in each run: the hardware follows about 32 streams, a merge may have 1000
constexpr std::size_t cache_line = 64;

}  // namespace

LoserTree::LoserTree(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, const records::Encoder& encoder)
    : views_(views),
      encoder_(encoder),
      record_size_(encoder.record_size()),
      words_{std::bit_ceil(views.size()), static_cast<std::uint32_t>(std::bit_width(views.size() - 1))},
      strands_(words_.leaves),
      losers_(words_.leaves) {
  for (std::uint32_t i = 0; i < views.size(); ++i) {
    strands_[i].next = ranges[i].begin;
    strands_[i].end = ranges[i].end;
    (void)next_chunk(i);
  }
  choose_words(ranges);
  // Plays all matches bottom-up: winners[n] is the winner below inner node n, the loser stays in the node.
  std::vector<std::uint64_t> winners(2 * words_.leaves);
  for (std::uint32_t i = 0; i < words_.leaves; ++i) winners[words_.leaves + i] = leaf(i);
  for (std::uint64_t n = words_.leaves - 1; n >= 1; --n) {
    const std::uint64_t a = winners[2 * n], b = winners[2 * n + 1];
    const bool a_wins = wins(a, b);
    winners[n] = a_wins ? a : b;
    losers_[n] = a_wins ? b : a;
  }
  winner_ = winners[1];  // with one leaf, this is it
}

// All keys lie between the first and the last ones of the ranges, so they agree where these do. The word of all ones belongs to
// exhausted runs.
void LoserTree::choose_words(const std::vector<RunRange>& ranges) {
  const KeyBounds bounds = key_bounds(views_, ranges, encoder_);
  if (bounds.first == nullptr) return;
  skip_ = bounds.common_bytes(encoder_);
  words_.base = key(bounds.first);
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max() >> words_.rank_bits;
  while ((key(bounds.last) - words_.base) >> words_.shift >= largest) ++words_.shift;
  words_decide_ = words_.shift == 0 && encoder_.key_length() <= skip_ + records::Encoder::word_bytes;
}

std::uint64_t LoserTree::leaf(std::uint32_t strand) const {
  if (strands_[strand].exhausted()) return words_.of_exhausted(strand);
  return words_.of(key(strands_[strand].at), strand);
}

// False if no record is left.
bool LoserTree::next_chunk(std::uint32_t strand) {
  Strand& s = strands_[strand];
  s.at = s.chunk_end;
  if (s.next >= s.end) return false;
  const RunView& view = views_[strand];
  const std::uint64_t count = std::min(view.contiguous(s.next), s.end - s.next);
  s.at = view.record(s.next);
  s.chunk_end = s.at + count * record_size_;
  s.next += count;
  return true;
}

std::vector<std::uint64_t> LoserTree::positions() const {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(views_.size());
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const Strand& s = strands_[i];
    const std::uint64_t ahead = s.exhausted() ? 0 : static_cast<std::uint64_t>(s.chunk_end - s.at) / record_size_;
    numbers.push_back((s.exhausted() ? s.end : s.next) - ahead);
  }
  return numbers;
}

bool LoserTree::wins_tie(std::uint32_t a, std::uint32_t b) const {
  const Strand &x = strands_[a], &y = strands_[b];
  if (x.exhausted() || y.exhausted()) return !x.exhausted();
  if (!words_decide_) {
    if (const int order = encoder_.compare(x.at, y.at); order != 0) return order < 0;
  }
  return a < b;
}

bool LoserTree::wins(std::uint64_t a, std::uint64_t b) const {
  return words_.is_tie(a, b) ? wins_tie(words_.strand_of(a), words_.strand_of(b)) : a < b;
}

// Settles ties of words. Those of dates, of paths and of keys that are not all different tie again and again: sixteen key bytes
// settle most of it, and all of it where the keys have no more, at a quarter of the cost of whole keys.
template <class Load>
class LoserTree::TieBreak {
 public:
  explicit TieBreak(const LoserTree& tree)
      : tree_(tree),
        load_(tree.encoder_, tree.skip_),
        load_next_(tree.encoder_, tree.skip_ + records::Encoder::word_bytes),
        loads_decide_(tree.encoder_.key_length() <= tree.skip_ + std::uint64_t{2} * records::Encoder::word_bytes) {}

  [[nodiscard, gnu::noinline]] bool wins(std::uint32_t a, std::uint32_t b) const {
    const Strand &x = tree_.strands_[a], &y = tree_.strands_[b];
    if (!tree_.words_decide_ && !x.exhausted() && !y.exhausted()) {
      if (const std::uint64_t own = load_(x.at), other = load_(y.at); own != other) return own < other;
      if (const std::uint64_t own = load_next_(x.at), other = load_next_(y.at); own != other) return own < other;
      if (loads_decide_) return a < b;
    }
    return tree_.wins_tie(a, b);
  }

 private:
  const LoserTree& tree_;
  Load load_, load_next_;  // key bytes skip_ ... skip_ + 7, and the eight after these
  bool loads_decide_;      // no key byte follows
};

// One tree on its way: what changes with every record is kept in registers until the climb ends.
template <class Load, class Size>
class LoserTree::Climb {
 public:
  Climb(LoserTree& tree, std::byte* out, const TieBreak<Load>& tie_break, Size size)
      : tree_(tree),
        tie_break_(tie_break),
        strands_(tree.strands_.data()),
        losers_(tree.losers_.data()),
        words_(tree.words_),
        winner_(tree.winner_),
        out_(out),
        load_(tree.encoder_, tree.skip_),
        size_(size) {}

  // Copies the winner; its place at the bottom is taken by the next record of its run.
  void emit() {
    const std::uint32_t strand = words_.strand_of(winner_);
    Strand& s = strands_[strand];
    const std::byte* next = s.at + size_;
    std::memcpy(out_, s.at, size_);
    out_ += size_;
    s.at = next;
    node_ = (strand + words_.leaves) / 2;
    if (next == s.chunk_end) [[unlikely]] {
      if (!tree_.next_chunk(strand)) {
        winner_ = words_.of_exhausted(strand);
        return;
      }
      next = s.at;
    }
    prefetch(next + prefetch_bytes);
    if (size_ > cache_line) prefetch(next + prefetch_bytes + cache_line);
    prefetch_nearest(next + size_ + cache_line);  // 0 to 0.8 of 15 to 24 ns less per record of 100 bytes
    winner_ = words_.of(load_(next), strand);
  }

  // One match on the way to the top; false when there is none left.
  [[nodiscard]] bool more() const { return node_ > 0; }
  void play() {
    std::uint64_t& place = losers_[node_];
    const std::uint64_t loser = place;
    node_ /= 2;
    if (words_.is_tie(loser, winner_)) [[unlikely]] {
      if (tie_break_.wins(words_.strand_of(loser), words_.strand_of(winner_))) place = std::exchange(winner_, loser);
      return;
    }
    const std::uint64_t both = loser ^ winner_;
    winner_ = opaque(std::min(loser, winner_));
    place = both ^ winner_;
  }

  void end() { tree_.winner_ = winner_; }

 private:
  LoserTree& tree_;
  const TieBreak<Load>& tie_break_;
  Strand* strands_;
  std::uint64_t* losers_;
  HeldWords words_;
  std::uint64_t winner_;
  std::uint64_t node_ = 0;
  std::byte* out_;
  Load load_;
  [[no_unique_address]] Size size_;
};

// work(size) with the size of a record, a constant where the format is a usual one: its copy is a few moves then.
template <class Work>
void LoserTree::with_size(std::uint32_t record_size, Work work) {
  switch (record_size) {
    case 16:
      return work(std::integral_constant<std::size_t, 16>{});
    case 100:
      return work(std::integral_constant<std::size_t, 100>{});
    default:
      return work(std::size_t{record_size});
  }
}

void LoserTree::emit(std::byte* out, std::uint64_t count) {
  encoder_.with_reader(
      [&]<class Reader>() {
        with_size(record_size_, [&](auto size) {
          const TieBreak<Reader> tie_break(*this);
          Climb climb(*this, out, tie_break, size);
          for (; count > 0; --count) {
            climb.emit();
            while (climb.more()) climb.play();
          }
          climb.end();
        });
      },
      skip_);
}

void LoserTree::emit_both(LoserTree& a, std::byte* out_a, LoserTree& b, std::byte* out_b, std::uint64_t count) {
  a.encoder_.with_reader(
      [&]<class Reader>() {
        with_size(a.record_size_, [&](auto size) {
          const TieBreak<Reader> tie_break_a(a), tie_break_b(b);
          Climb left(a, out_a, tie_break_a, size), right(b, out_b, tie_break_b, size);
          for (; count > 0; --count) {
            left.emit();
            right.emit();
            while (left.more()) {
              left.play();
              right.play();
            }
          }
          left.end();
          right.end();
        });
      },
      std::max(a.skip_, b.skip_));
}

}  // namespace ecosort::engine::fixed
