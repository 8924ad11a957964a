#include "engine/fixed/prefetch.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "formats/records/gather.h"
#include "hash/block_checksum.h"

namespace ecosort::engine::fixed {

Prefetch::Prefetch(const RecordTools& tools, std::uint64_t block_bytes, Buffer memory, std::vector<MergedRun>& sources)
    : reactor_(tools.bench.reactor),
      compute_(tools.bench.compute),
      store_(tools.store),
      encoder_(tools.encoder),
      run_block_(store_.run_block()),
      run_blocks_per_block_(block_bytes / run_block_.bytes),
      memory_(std::move(memory)),
      sources_(sources),
      loads_(tools.bench.reactor.scope()),
      arrived_(tools.bench.reactor.scope()) {
  for (std::uint64_t at = 0; at + block_bytes <= memory_.size(); at += block_bytes) free_.push_back(memory_.data() + at);
  for (std::uint32_t i = 0; i < sources_.size(); ++i) {
    MergedRun& source = sources_[i];
    source.run_block_records = source.in_input != nullptr ? source.in_input->run_block_records : run_block_.records;
    source.run_blocks = div_up(source.records, source.run_block_records);
    source.blocks = div_up(source.run_blocks, run_blocks_per_block_);
    source.ready_end = source.consumed;
    if (source.blocks > 0) sequence_.insert(turn_of(i));
    starving_ += source.starving() ? 1 : 0;
  }
}

run::ForecastKey Prefetch::key_of_block(const MergedRun& source, std::uint64_t block) const {
  if (!source.is_resident) return store_.forecast().at(source.stored, block * run_blocks_per_block_);
  const sorting::Entry& entry = source.resident->entries()[block * records_per_block(source)];
  return store_.forecast().shared_key().key_of(encoder_, source.resident->table(encoder_.record_size()).at(entry.index));
}

Prefetch::Turn Prefetch::turn_of(std::uint32_t source) const {
  return {key_of_block(sources_[source], sources_[source].next_block), source};
}

run::ForecastKey Prefetch::next_key(const MergedRun& source) const {
  return key_of_block(source, source.ready_end / records_per_block(source));
}

bool Prefetch::knows(const MergedRun& source, std::uint64_t block) const {
  return source.is_resident || store_.forecast().knows(source.stored, block * run_blocks_per_block_);
}

// A run takes its turn when the key of the block behind its next one is known, so that the key of the next one always is.
void Prefetch::line_up(std::uint32_t index) {
  MergedRun& source = sources_[index];
  if (source.fetched_all()) return;
  if (knows(source, source.next_block + 1)) sequence_.insert(turn_of(index));
  if (source.reads_keys || knows(source, source.next_block + 1 + store_.forecast().lead())) return;
  source.reads_keys = true;
  ++in_flight_;
  loads_.spawn(load_keys(index));
}

Task<void> Prefetch::load_keys(std::uint32_t index) {
  MergedRun& source = sources_[index];
  const std::uint64_t first = source.ready_end / records_per_block(source) * run_blocks_per_block_;
  co_await store_.forecast().move_window(source.stored, first);
  --in_flight_;
  source.reads_keys = false;
  line_up(index);
  advance();
  arrived_.notify();
}

bool Prefetch::may_take(const MergedRun& source) const { return source.starving() ? !free_.empty() : free_.size() > starving_; }

void Prefetch::advance() {
  while (!sequence_.empty()) {
    const std::uint32_t next = sequence_.begin()->second;
    if (!may_take(sources_[next])) return;
    start(next);
  }
}

void Prefetch::start(std::uint32_t index) {
  MergedRun& source = sources_[index];
  sequence_.erase(turn_of(index));
  if (source.starving()) --starving_;
  std::byte* const data = free_.back();
  free_.pop_back();
  const std::uint64_t block = source.next_block++;
  source.held.push_back({data, false, {}});
  line_up(index);
  ++in_flight_;
  loads_.spawn(load(index, block, data));
}

void Prefetch::demand(std::uint32_t source) {
  ++demand_reads_;
  start(source);
}

Task<void> Prefetch::load(std::uint32_t index, std::uint64_t block, std::byte* data) {
  MergedRun& source = sources_[index];
  if (source.is_resident) {
    const std::uint64_t first = block * run_blocks_per_block_,
                        run_blocks = std::min(run_blocks_per_block_, source.run_blocks - first);
    auto work = compute_.run([&] { gather(source, first, run_blocks, data); }, run_blocks * run_block_.bytes);
    co_await work;
  } else if (source.in_input != nullptr) {
    co_await load_from_input(source, block, data);
  } else {
    co_await load_stored(source, block, data);
  }
  --in_flight_;
  mark_ready(source, block);
  arrived_.notify();
}

Task<void> Prefetch::load_stored(MergedRun& source, std::uint64_t block, std::byte* data) {
  const std::uint64_t first = block * run_blocks_per_block_;
  const std::uint64_t run_blocks = std::min(run_blocks_per_block_, source.run_blocks - first);
  const std::uint64_t left_out = block == 0 ? source.consumed / run_block_.records : 0, count = run_blocks - left_out;
  std::byte* const part = store_.direction() == run::Direction::forward ? data + left_out * run_block_.bytes : data;
  std::vector<hash::MultisetHash> sums;
  const run::StoredRun& stored = store_.run(source.stored);
  const std::uint64_t bytes = count * run_block_.bytes, on_drive = store_.stored_bytes(stored, first + left_out, count);
  const run::ForecastKey predicted = store_.forecast().at(source.stored, first);  // before the window moves on
  co_await store_.read(source.stored, first + left_out, part + bytes - on_drive, on_drive);
  auto work = compute_.run(
      [&] {
        if (keeps_sums_ && !stored.is_packed) sums = sum_run_blocks(source, first, run_blocks, data);
        store_.open_run_blocks(stored, source.records, first + left_out, count, part);
        if (keeps_sums_ && stored.is_packed) sums = sum_run_blocks(source, first, run_blocks, data);
        if (left_out == 0) check_forecast(source, first, predicted, store_.block_in(data, run_blocks, 0));
      },
      bytes);
  co_await work;
  source.held[block - source.first_block].sums = std::move(sums);
}

// Bytes in front of the first record of a block, which a read has to begin with.
std::uint64_t Prefetch::lead_of(const MergedRun& source, std::uint64_t block) const noexcept {
  const std::uint64_t at = source.in_input->begin + block * records_per_block(source) * encoder_.record_size();
  return at % source.in_input->file->alignment();
}

Task<void> Prefetch::load_from_input(const MergedRun& source, std::uint64_t block, std::byte* data) {
  const RecordsInInput& place = *source.in_input;
  const std::uint64_t first = block * records_per_block(source),
                      count = std::min(records_per_block(source), source.records - first);
  const std::uint64_t at = place.begin + first * encoder_.record_size(), lead = lead_of(source, block);
  const std::uint64_t bytes = lead + count * encoder_.record_size();
  (void)co_await reactor_.read(*place.file, at - lead, data, round_up(bytes, place.file->alignment()), bytes);
  auto work = compute_.run([&] { check_pieces(source, first, count, data + lead); }, bytes);
  co_await work;
}

void Prefetch::check_pieces(const MergedRun& source, std::uint64_t first, std::uint64_t count, const std::byte* records) const {
  const RecordsInInput& place = *source.in_input;
  for (std::uint64_t at = first; at < first + count; at += place.piece_records) {
    const std::uint64_t size = std::min(place.piece_records, first + count - at) * encoder_.record_size();
    if (hash::block_checksum(records + (at - first) * encoder_.record_size(), size, at) !=
        place.checksums[at / place.piece_records])
      throw VerificationError(
          fmt::format("verification failed: {} holds other records than when it was first read; the output was "
                      "not written",
                      place.file->path()));
  }
}

// Before the checksums are looked at: a change between the two is found by these, one that comes later by the sums. (What is
// packed has no records before it was unpacked: a change between its checksum and that shows when all of the output is summed
// up.) Nothing was consumed of a block that is not in memory yet, but for the records at the beginning that the merge leaves out.
std::vector<hash::MultisetHash> Prefetch::sum_run_blocks(const MergedRun& source, std::uint64_t first, std::uint64_t run_blocks,
                                                         std::byte* data) const {
  std::vector<hash::MultisetHash> sums(run_blocks);
  const std::uint64_t left_out = first == 0 ? source.consumed : 0;
  for (std::uint64_t g = 0; g < run_blocks; ++g) {
    const std::uint64_t begin = (first + g) * run_block_.records, end = std::min(begin + run_block_.records, source.records);
    const std::uint64_t from = std::max(begin, left_out);
    if (from < end)
      sums[g].add_records(store_.block_in(data, run_blocks, g) + (from - begin) * encoder_.record_size(), end - from,
                          encoder_.record_size());
  }
  return sums;
}

void Prefetch::add_consumed_run_blocks(const MergedRun& source, std::uint64_t consumed) {
  const std::uint64_t end = consumed == source.records ? source.run_blocks : consumed / run_block_.records;
  const std::uint64_t first = source.first_block * run_blocks_per_block_;
  for (std::uint64_t run_block = source.consumed / run_block_.records; run_block < end; ++run_block)
    consumed_run_blocks_ +=
        source.held[(run_block - first) / run_blocks_per_block_].sums[(run_block - first) % run_blocks_per_block_];
}

std::vector<Prefetch::OpenRunBlock> Prefetch::open_run_blocks() const {
  std::vector<OpenRunBlock> open;
  for (const MergedRun& source : sources_) {
    if (source.consumed % run_block_.records == 0 || source.consumed >= source.ready_end) continue;
    const std::uint64_t run_block = source.consumed / run_block_.records - source.first_block * run_blocks_per_block_;
    const std::uint64_t end = round_down(source.consumed, run_block_.records) + run_block_.records;
    open.push_back({source.held[run_block / run_blocks_per_block_].sums[run_block % run_blocks_per_block_],
                    view(source).record(source.consumed), std::min(end, source.records) - source.consumed});
  }
  return open;
}

hash::MultisetHash sum_of_consumed(const std::vector<Prefetch::OpenRunBlock>& open, std::uint32_t record_size) {
  hash::MultisetHash consumed;
  for (const Prefetch::OpenRunBlock& run_block : open) {
    hash::MultisetHash left;
    left.add_records(run_block.left, run_block.left_records, record_size);
    consumed += run_block.sum;
    consumed -= left;
  }
  return consumed;
}

// The merge stops at keys that were predicted: one that is wrong would spoil the order, or hold the merge up.
void Prefetch::check_forecast(const MergedRun& source, std::uint64_t run_block, const run::ForecastKey& predicted,
                              const std::byte* record) const {
  if (std::is_eq(store_.forecast().shared_key().compare(encoder_, record, predicted))) return;
  throw IoError(fmt::format("run {} does not begin run block {} with the key that was predicted (check the drive and the memory)",
                            source.stored, run_block));
}

void Prefetch::gather(const MergedRun& source, std::uint64_t first_run_block, std::uint64_t run_blocks, std::byte* data) const {
  const records::RecordTable table = source.resident->table(encoder_.record_size());
  for (std::uint64_t g = first_run_block; g < first_run_block + run_blocks; ++g, data += run_block_.bytes) {
    const std::uint64_t first = g * run_block_.records;
    const std::uint64_t count = std::min<std::uint64_t>(run_block_.records, source.records - first);
    records::gather(source.resident->entries() + first, count, table, data, source.records - first - count);
  }
}

void Prefetch::mark_ready(MergedRun& source, std::uint64_t block) {
  source.held[block - source.first_block].ready = true;
  const std::uint64_t before = source.ready_end;
  std::uint64_t ready_block = source.ready_end / records_per_block(source);
  if (ready_block != block) return;  // an earlier block is still on its way
  while (ready_block < source.first_block + source.held.size() && source.held[ready_block - source.first_block].ready)
    ++ready_block;
  source.ready_end = std::min(ready_block * records_per_block(source), source.records);
  ready_records_ += source.ready_end - before;
}

void Prefetch::consume(std::uint32_t index, std::uint64_t consumed) {
  MergedRun& source = sources_[index];
  ready_records_ -= consumed - source.consumed;
  if (keeps_sums_) add_consumed_run_blocks(source, consumed);
  source.consumed = consumed;
  const std::uint64_t done_blocks = consumed == source.records ? source.blocks : consumed / records_per_block(source);
  if (done_blocks == source.first_block) return;
  while (source.first_block < done_blocks) {
    free_.push_back(source.held.front().data);
    source.held.pop_front();
    ++source.first_block;
  }
  if (source.starving()) ++starving_;
}

RunView Prefetch::view(const MergedRun& source) const {
  RunView view;
  view.first = source.first_block * records_per_block(source);
  if (source.in_input != nullptr) {
    view.records_per_run_block = static_cast<std::uint32_t>(records_per_block(source));
    view.record_size = encoder_.record_size();
    for (std::uint64_t block = source.first_block; const MergedRun::Held& held : source.held)
      view.blocks.push_back(held.data + lead_of(source, block++));
    return view;
  }
  view.records_per_run_block = run_block_.records;
  view.run_blocks_per_block = static_cast<std::uint32_t>(run_blocks_per_block_);
  view.run_block_stride = run_block_.bytes;
  view.record_size = encoder_.record_size();
  if (source.is_resident || store_.direction() == run::Direction::forward) {
    for (const MergedRun::Held& held : source.held) view.blocks.push_back(held.data);
    return view;
  }
  view.run_block_stride = -view.run_block_stride;
  std::uint64_t first = source.first_block * run_blocks_per_block_;
  for (const MergedRun::Held& held : source.held) {
    view.blocks.push_back(store_.block_in(held.data, std::min(run_blocks_per_block_, source.run_blocks - first), 0));
    first += run_blocks_per_block_;
  }
  return view;
}

}  // namespace ecosort::engine::fixed
