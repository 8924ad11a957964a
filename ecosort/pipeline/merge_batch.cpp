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
    std::uint64_t{32} * 1024;  // merged, then hashed and compared while in the first-level cache

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

struct PieceResult {
  Tally tally;
  bool in_order = true;
};

PieceResult emit_output(LoserTree& tree, std::byte* out, std::uint64_t count, const records::Encoder& encoder) {
  PieceResult result;
  const std::uint32_t size = encoder.record_size();
  const std::uint64_t step = std::max<std::uint64_t>(chunk_bytes / size, 1);
  const std::byte* before = nullptr;
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t n = std::min(step, count - done);
    tree.emit(out, n);
    result.tally.hash.add_records(out, n, size);
    result.in_order &= chunk_in_order(out, n, before, encoder);
    out += n * size;
    before = out - size;
    done += n;
  }
  return result;
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

}  // namespace

BatchResult merge_batch(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, std::uint64_t count,
                        const records::Encoder& encoder, const BatchTarget& target, unsigned threads) {
  const std::uint32_t size = encoder.record_size();
  const unsigned parts = count >= least_records_per_run_and_split * views.size() ? threads : 1;
  const std::vector<std::uint64_t> ranks =
      piece_ranks(count, parts, target.filled, target.store != nullptr ? target.store->granule().records : 1);
  // Where the pieces begin; the last one ends where its tree stops.
  std::vector<std::vector<std::uint64_t>> cuts(parts);
  tbb::parallel_for(0U, parts, [&](unsigned i) { cuts[i] = split_at_rank(views, ranges, ranks[i], encoder); });
  BatchResult batch;
  std::vector<PieceResult> results(parts);
  tbb::parallel_for(0U, parts, [&](unsigned i) {
    std::vector<RunRange> piece(views.size());
    for (std::size_t run = 0; run < views.size(); ++run)
      piece[run] = {cuts[i][run], i + 1 < parts ? cuts[i + 1][run] : ranges[run].end};
    LoserTree tree(views, piece, encoder);
    if (target.store != nullptr)
      emit_granules(tree, target, ranks[i], ranks[i + 1] - ranks[i], size);
    else
      results[i] = emit_output(tree, target.data + ranks[i] * size, ranks[i + 1] - ranks[i], encoder);
    if (i + 1 == parts) batch.consumed = tree.positions();
  });
  if (target.store != nullptr) return batch;
  for (unsigned i = 0; i < parts; ++i) {
    batch.tally += results[i].tally;
    batch.in_order &= results[i].in_order;
    if (ranks[i] == 0 || ranks[i] == count) continue;
    const std::byte* at = target.data + ranks[i] * size;
    batch.in_order &= pair_in_order(at - size, at, encoder);
  }
  return batch;
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
