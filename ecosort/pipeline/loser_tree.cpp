#include "pipeline/loser_tree.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace ecosort::pipeline {

namespace {

constexpr std::uint64_t last_prefix = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t prefetch_bytes = 512;  // ahead in each run; the hardware follows about 32 streams, a merge may have 1000

}  // namespace

LoserTree::LoserTree(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, const records::Encoder& encoder)
    : views_(views), encoder_(encoder), record_size_(encoder.record_size()), strands_(views.size()), losers_(views.size()) {
  const auto k = static_cast<std::uint32_t>(views.size());
  for (std::uint32_t i = 0; i < k; ++i) {
    strands_[i].next = ranges[i].begin;
    strands_[i].end = ranges[i].end;
    next_chunk(i);
  }
  // Plays all matches bottom-up: winners[n] is the winner below inner node n, the loser stays in the node.
  std::vector<Node> winners(2 * std::size_t{k});
  for (std::uint32_t i = 0; i < k; ++i) winners[k + i] = leaf(i);
  for (std::uint32_t n = k - 1; n >= 1; --n) {
    const Node &a = winners[2 * std::size_t{n}], &b = winners[2 * std::size_t{n} + 1];
    const bool a_wins = wins(a, b);
    winners[n] = a_wins ? a : b;
    losers_[n] = a_wins ? b : a;
  }
  winner_ = winners[1];  // for k == 1 this is the only leaf
}

LoserTree::Node LoserTree::leaf(std::uint32_t strand) const {
  return {strands_[strand].exhausted ? last_prefix : encoder_.prefix(strands_[strand].at), strand};
}

void LoserTree::next_chunk(std::uint32_t strand) {
  Strand& s = strands_[strand];
  if (s.next >= s.end) {
    s.exhausted = true;
    return;
  }
  const RunView& view = views_[strand];
  const std::uint64_t count = std::min(view.contiguous(s.next), s.end - s.next);
  s.at = view.record(s.next);
  s.chunk_end = s.at + count * record_size_;
  s.next += count;
}

std::vector<std::uint64_t> LoserTree::positions() const {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(strands_.size());
  for (const Strand& s : strands_) {
    const std::uint64_t ahead = s.exhausted ? 0 : static_cast<std::uint64_t>(s.chunk_end - s.at) / record_size_;
    numbers.push_back((s.exhausted ? s.end : s.next) - ahead);
  }
  return numbers;
}

bool LoserTree::wins_tie(const Node& a, const Node& b) const {
  const Strand &x = strands_[a.strand], &y = strands_[b.strand];
  if (x.exhausted || y.exhausted) return !x.exhausted;
  if (!encoder_.prefix_decides()) {
    if (const int order = encoder_.compare(x.at, y.at); order != 0) return order < 0;
  }
  return a.strand < b.strand;
}

template <class Load, class Copy>
void LoserTree::emit_with(std::byte* out, std::uint64_t count, Load load, Copy copy) {
  const auto k = static_cast<std::uint32_t>(strands_.size());
  const std::uint32_t size = record_size_;
  Node* const losers = losers_.data();
  Node winner = winner_;
  for (; count > 0; --count, out += size) {
    Strand& s = strands_[winner.strand];
    copy(out, s.at);
    s.at += size;
    if (s.at == s.chunk_end) [[unlikely]]
      next_chunk(winner.strand);
    __builtin_prefetch(s.at + prefetch_bytes);
    winner.prefix = s.exhausted ? last_prefix : load(s.at);
    for (std::uint32_t n = (winner.strand + k) / 2; n > 0; n /= 2) {
      Node& loser = losers[n];
      bool loser_wins = loser.prefix < winner.prefix;
      if (loser.prefix == winner.prefix) [[unlikely]]
        loser_wins = wins_tie(loser, winner);
      const Node old = loser;
      // Without branches: both outcomes are equally likely.
      loser.prefix = loser_wins ? winner.prefix : old.prefix;
      loser.strand = loser_wins ? winner.strand : old.strand;
      winner.prefix = loser_wins ? old.prefix : winner.prefix;
      winner.strand = loser_wins ? old.strand : winner.strand;
    }
  }
  winner_ = winner;
}

template <class Copy>
void LoserTree::emit_copying(std::byte* out, std::uint64_t count, Copy copy) {
  if (encoder_.is_word_key()) {
    const records::Encoder::Word word = encoder_.word_at(0);
    emit_with(
        out, count, [word](const std::byte* r) { return word.load(r); }, copy);
  } else {
    emit_with(
        out, count, [this](const std::byte* r) { return encoder_.prefix(r); }, copy);
  }
}

void LoserTree::emit(std::byte* out, std::uint64_t count) {
  if (record_size_ == 100) {
    emit_copying(out, count, [](std::byte* to, const std::byte* from) { std::memcpy(to, from, 100); });
  } else {
    emit_copying(out, count, [n = record_size_](std::byte* to, const std::byte* from) { std::memcpy(to, from, n); });
  }
}

}  // namespace ecosort::pipeline
