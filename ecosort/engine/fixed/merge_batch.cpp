#include "engine/fixed/merge_batch.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/fixed/loser_tree.h"
#include "engine/fixed/split.h"
#include "engine/fixed/split_near_rank.h"
#include "sorting/parallel_parts.h"

namespace ecosort::engine::fixed {

namespace {

// Splitting looks at about 3 log n records of every run; with fewer records than this of every run for each thread it costs more
// than another thread gives. 3 GB with 256 MiB, 256 records of each of 58 runs in a batch: two threads took 7.1 s of processor
// time, one 6.2 s, and the sort 7.7 and 7.8 s.
constexpr std::uint64_t least_records_per_run_and_thread = 256;

// Two trees of one thread take turns while records come from memory: the merge of 44 slices of a cluster, 37 MB each, takes 4 %
// less processor time in all with 237 records of each in a batch, and that of 150 files, 70 records of each, takes 8 % more.
constexpr std::uint64_t least_records_per_run_and_piece = 128;

// A contiguous part of the output, filled by one tree.
struct Piece {
  std::byte* out;
  std::uint64_t left;  // records
  OutputCheck check;

  void take_in(std::uint64_t count, std::uint32_t record_size) {
    check.add(out, count);
    out += count * record_size;
    left -= count;
  }
};

void fill(LoserTree& tree, Piece& piece, const records::Encoder& encoder) {
  while (piece.left > 0) {
    const std::uint64_t count = std::min(records_per_check(encoder), piece.left);
    tree.emit(piece.out, count);
    piece.take_in(count, encoder.record_size());
  }
}

void fill_both(LoserTree& tree_a, Piece& a, LoserTree& tree_b, Piece& b, const records::Encoder& encoder) {
  while (a.left > 0 && b.left > 0) {
    const std::uint64_t count = std::min({records_per_check(encoder), a.left, b.left});
    LoserTree::emit_both(tree_a, a.out, tree_b, b.out, count);
    a.take_in(count, encoder.record_size());
    b.take_in(count, encoder.record_size());
  }
  fill(tree_a, a, encoder);
  fill(tree_b, b, encoder);
}

void emit_run_blocks(LoserTree& tree, const BatchTarget& target, std::uint64_t first, std::uint64_t count,
                     std::uint32_t record_size) {
  const planner::RunBlock& run_block = target.store->run_block();
  for (std::uint64_t position = target.filled + first, end = position + count; position < end;) {
    const std::uint64_t number = position / run_block.records, within = position % run_block.records;
    const std::uint64_t n = std::min(run_block.records - within, end - position);
    std::byte* const data = target.data + number * run_block.bytes;
    tree.emit(data + within * record_size, n);
    position += n;
    if (target.seals && within + n == run_block.records)
      target.store->seal_records(target.store->run(target.run), target.first_run_block + number, run_block.records, data);
  }
}

// Ranks that cut a batch into `parts` pieces; in a run the cuts lie between run blocks.
std::vector<std::uint64_t> piece_ranks(std::uint64_t count, unsigned parts, std::uint64_t filled, std::uint64_t unit) {
  std::vector<std::uint64_t> ranks{0};
  for (unsigned i = 1; i < parts; ++i) {
    const std::uint64_t position = (filled + count * i / parts) / unit * unit;
    ranks.push_back(std::max(ranks.back(), position > filled ? position - filled : 0));
  }
  ranks.push_back(count);
  return ranks;
}

template <class Fill>
void for_each_piece(std::size_t count, const Fill& fill) {
  sorting::for_each_part(static_cast<unsigned>(count), count, fill);
}

// Says where the pieces begin in the output, and what each takes from the runs; where the last one ends its tree finds out.
struct Cuts {
  std::vector<std::uint64_t> ranks;  // one more than pieces: the last is the count
  std::vector<std::vector<RunRange>> ranges;
};

// At exactly these ranks, or as far away from them as `tolerance` says.
Cuts cut_runs(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, const std::vector<std::uint64_t>& ranks,
              std::uint64_t tolerance, const records::Encoder& encoder) {
  const auto parts = static_cast<unsigned>(ranks.size() - 1);
  std::vector<std::vector<std::uint64_t>> begins(parts);
  for_each_piece(parts, [&](std::size_t i) {
    std::optional<std::vector<std::uint64_t>> near;
    if (tolerance > 0 && ranks[i] > 0) near = split_near_rank(views, ranges, ranks[i], tolerance, encoder);
    begins[i] = near ? std::move(*near) : split_at_rank(views, ranges, ranks[i], encoder);
  });
  Cuts cuts{ranks, std::vector<std::vector<RunRange>>(parts, ranges)};
  for (unsigned i = 0; i < parts; ++i) {
    cuts.ranks[i] = 0;
    for (std::size_t run = 0; run < ranges.size(); ++run) {
      cuts.ranges[i][run].begin = begins[i][run];
      if (i + 1 < parts) cuts.ranges[i][run].end = begins[i + 1][run];
      cuts.ranks[i] += begins[i][run] - ranges[run].begin;
    }
  }
  return cuts;
}

BatchResult merge_to_run_blocks(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, std::uint64_t count,
                                const records::Encoder& encoder, const BatchTarget& target, unsigned parts) {
  const auto [ranks, part] =
      cut_runs(views, ranges, piece_ranks(count, parts, target.filled, target.store->run_block().records), 0, encoder);
  BatchResult batch;
  for_each_piece(parts, [&](std::size_t i) {
    LoserTree tree(views, part[i], encoder);
    emit_run_blocks(tree, target, ranks[i], ranks[i + 1] - ranks[i], encoder.record_size());
    if (i + 1 == parts) batch.consumed = tree.positions();
  });
  return batch;
}

// A thread fills two pieces at the same time, if there are enough.
BatchResult merge_to_output(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, std::uint64_t count,
                            const records::Encoder& encoder, std::byte* out, unsigned parts) {
  const std::uint32_t size = encoder.record_size();
  const auto [ranks, part] = cut_runs(views, ranges, piece_ranks(count, parts, 0, 1), count / parts / 8, encoder);
  std::vector<Piece> pieces;
  pieces.reserve(parts);
  for (unsigned i = 0; i < parts; ++i) pieces.push_back({out + ranks[i] * size, ranks[i + 1] - ranks[i], OutputCheck(encoder)});
  BatchResult batch;
  for_each_piece((parts + 1) / 2, [&](std::size_t pair) {
    const std::size_t low = 2 * pair, high = std::min<std::size_t>(low + 1, parts - 1);
    LoserTree low_tree(views, part[low], encoder);
    if (low == high) {
      fill(low_tree, pieces[low], encoder);
      batch.consumed = low_tree.positions();
      return;
    }
    LoserTree high_tree(views, part[high], encoder);
    fill_both(low_tree, pieces[low], high_tree, pieces[high], encoder);
    if (high + 1 == parts) batch.consumed = high_tree.positions();
  });
  for (unsigned i = 0; i < parts; ++i) {
    batch.checked.tally += pieces[i].check.result().tally;
    batch.checked.in_order &= pieces[i].check.result().in_order;
    batch.checked.equal_pairs += pieces[i].check.result().equal_pairs;
    if (ranks[i] == 0 || ranks[i] == count) continue;
    const std::byte* at = out + ranks[i] * size;
    batch.checked.add_pair(compare_pair(at - size, at, encoder));
  }
  return batch;
}

}  // namespace

BatchResult merge_batch(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, std::uint64_t count,
                        const records::Encoder& encoder, const BatchTarget& target, unsigned threads) {
  const std::uint64_t worth = count / (least_records_per_run_and_thread * views.size());
  const auto busy = static_cast<unsigned>(std::min<std::uint64_t>(threads, worth));
  if (target.store != nullptr) return merge_to_run_blocks(views, ranges, count, encoder, target, std::max(busy, 1U));
  const unsigned least_parts = count >= least_records_per_run_and_piece * views.size() ? 2 : 1;
  return merge_to_output(views, ranges, count, encoder, target.data, std::max(2 * busy, least_parts));
}

}  // namespace ecosort::engine::fixed
