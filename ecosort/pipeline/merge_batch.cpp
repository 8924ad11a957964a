#include "pipeline/merge_batch.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

#include "pipeline/loser_tree.h"
#include "pipeline/split.h"

namespace ecosort::pipeline {

namespace {

// Splitting looks at about 3 log n records of every run; with fewer records than this per run and batch it costs more than it
// gives.
constexpr std::uint64_t least_records_per_run_and_split = 256;
constexpr std::uint64_t chunk_bytes =
    std::uint64_t{16} * 1024;  // merged, then hashed and compared while in the first-level cache

bool pair_in_order(const std::byte* a, const std::byte* b, const records::Encoder& encoder) {
  const std::uint64_t x = encoder.prefix(a), y = encoder.prefix(b);
  if (x != y) [[likely]]
    return x < y;
  return encoder.prefix_decides() || encoder.compare(a, b) <= 0;
}

// Records [0, count) and, if there is one, the pair with the record before.
bool chunk_in_order(const std::byte* records, std::uint64_t count, const std::byte* before, const records::Encoder& encoder) {
  const std::uint32_t size = encoder.record_size();
  if (count > 0 && before != nullptr && !pair_in_order(before, records, encoder)) return false;
  bool in_order = true;
  for (std::uint64_t i = 1; i < count; ++i) in_order &= pair_in_order(records + (i - 1) * size, records + i * size, encoder);
  return in_order;
}

// A contiguous part of the output, filled by one tree.
struct Piece {
  std::byte* out;
  std::uint64_t left;  // records
  std::byte* before = nullptr;
  Tally tally{};
  bool in_order = true;

  void check_chunk(std::uint64_t count, const records::Encoder& encoder) {
    tally.hash.add_records(out, count, encoder.record_size());
    in_order &= chunk_in_order(out, count, before, encoder);
    out += count * encoder.record_size();
    before = out - encoder.record_size();
    left -= count;
  }
};

std::uint64_t records_per_chunk(const records::Encoder& encoder) {
  return std::max<std::uint64_t>(chunk_bytes / encoder.record_size(), 1);
}

void fill(LoserTree& tree, Piece& piece, const records::Encoder& encoder) {
  while (piece.left > 0) {
    const std::uint64_t count = std::min(records_per_chunk(encoder), piece.left);
    tree.emit(piece.out, count);
    piece.check_chunk(count, encoder);
  }
}

void fill_both(LoserTree& tree_a, Piece& a, LoserTree& tree_b, Piece& b, const records::Encoder& encoder) {
  while (a.left > 0 && b.left > 0) {
    const std::uint64_t count = std::min({records_per_chunk(encoder), a.left, b.left});
    LoserTree::emit_both(tree_a, a.out, tree_b, b.out, count);
    a.check_chunk(count, encoder);
    b.check_chunk(count, encoder);
  }
  fill(tree_a, a, encoder);
  fill(tree_b, b, encoder);
}

void emit_granules(LoserTree& tree, const BatchTarget& target, std::uint64_t first, std::uint64_t count,
                   std::uint32_t record_size) {
  const plan::Granule& granule = target.store->granule();
  for (std::uint64_t position = target.filled + first, end = position + count; position < end;) {
    const std::uint64_t number = position / granule.records, within = position % granule.records;
    const std::uint64_t n = std::min(granule.records - within, end - position);
    std::byte* const data = target.data + number * granule.bytes;
    tree.emit(data + within * record_size, n);
    position += n;
    if (within + n == granule.records) target.store->seal(target.run, target.first_granule + number, granule.records, data);
  }
}

// Ranks that cut a batch into `parts` pieces; in a run the cuts lie between granules.
std::vector<std::uint64_t> piece_ranks(std::uint64_t count, unsigned parts, std::uint64_t filled, std::uint64_t unit) {
  std::vector<std::uint64_t> ranks{0};
  for (unsigned i = 1; i < parts; ++i) {
    const std::uint64_t position = (filled + count * i / parts) / unit * unit;
    ranks.push_back(std::max(ranks.back(), position > filled ? position - filled : 0));
  }
  ranks.push_back(count);
  return ranks;
}

// What each piece takes from the runs; where the last one ends its tree finds out.
std::vector<std::vector<RunRange>> piece_ranges(const std::vector<RunView>& views, const std::vector<RunRange>& ranges,
                                                const std::vector<std::uint64_t>& ranks, const records::Encoder& encoder) {
  const auto parts = static_cast<unsigned>(ranks.size() - 1);
  std::vector<std::vector<std::uint64_t>> cuts(parts);
  tbb::parallel_for(0U, parts, [&](unsigned i) { cuts[i] = split_at_rank(views, ranges, ranks[i], encoder); });
  std::vector<std::vector<RunRange>> pieces(parts, ranges);
  for (unsigned i = 0; i < parts; ++i) {
    for (std::size_t run = 0; run < ranges.size(); ++run) {
      pieces[i][run].begin = cuts[i][run];
      if (i + 1 < parts) pieces[i][run].end = cuts[i + 1][run];
    }
  }
  return pieces;
}

BatchResult merge_to_granules(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, std::uint64_t count,
                              const records::Encoder& encoder, const BatchTarget& target, unsigned parts) {
  const std::vector<std::uint64_t> ranks = piece_ranks(count, parts, target.filled, target.store->granule().records);
  const auto part = piece_ranges(views, ranges, ranks, encoder);
  BatchResult batch;
  tbb::parallel_for(0U, parts, [&](unsigned i) {
    LoserTree tree(views, part[i], encoder);
    emit_granules(tree, target, ranks[i], ranks[i + 1] - ranks[i], encoder.record_size());
    if (i + 1 == parts) batch.consumed = tree.positions();
  });
  return batch;
}

// A thread fills two pieces at the same time, if there are enough.
BatchResult merge_to_output(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, std::uint64_t count,
                            const records::Encoder& encoder, std::byte* out, unsigned parts) {
  const std::uint32_t size = encoder.record_size();
  const std::vector<std::uint64_t> ranks = piece_ranks(count, parts, 0, 1);
  const auto part = piece_ranges(views, ranges, ranks, encoder);
  std::vector<Piece> pieces;
  for (unsigned i = 0; i < parts; ++i) pieces.push_back({.out = out + ranks[i] * size, .left = ranks[i + 1] - ranks[i]});
  BatchResult batch;
  tbb::parallel_for(0U, (parts + 1) / 2, [&](unsigned pair) {
    const unsigned low = 2 * pair, high = std::min(low + 1, parts - 1);
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
    batch.tally += pieces[i].tally;
    batch.in_order &= pieces[i].in_order;
    if (ranks[i] == 0 || ranks[i] == count) continue;
    const std::byte* at = out + ranks[i] * size;
    batch.in_order &= pair_in_order(at - size, at, encoder);
  }
  return batch;
}

}  // namespace

BatchResult merge_batch(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, std::uint64_t count,
                        const records::Encoder& encoder, const BatchTarget& target, unsigned threads) {
  const bool is_worth_splitting = count >= least_records_per_run_and_split * views.size();
  if (target.store != nullptr) return merge_to_granules(views, ranges, count, encoder, target, is_worth_splitting ? threads : 1);
  return merge_to_output(views, ranges, count, encoder, target.data, is_worth_splitting ? 2 * threads : 1);
}

BatchResult check_records(const std::byte* records, std::uint64_t count, const records::Encoder& encoder) {
  BatchResult result;
  result.tally.hash.add_records(records, count, encoder.record_size());
  result.in_order = chunk_in_order(records, count, nullptr, encoder);
  return result;
}

std::uint64_t keep_first_of_equals(std::byte* records, std::uint64_t count, const std::byte* last_kept,
                                   const records::Encoder& encoder, Tally& dropped) {
  const std::uint32_t size = encoder.record_size();
  std::byte* out = records;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* record = records + i * size;
    if (last_kept != nullptr && encoder.prefix(record) == encoder.prefix(last_kept) && encoder.compare(record, last_kept) == 0) {
      dropped.hash.add_records(record, 1, size);
      continue;
    }
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): with a record to look at, `records` is not null
    if (out != record) std::memcpy(out, record, size);
    last_kept = out;
    out += size;
  }
  return static_cast<std::uint64_t>(out - records) / size;
}

}  // namespace ecosort::pipeline
