#include "engine/fixed/run_writer.h"

#include <cstring>

namespace ecosort::engine::fixed {

RunWriter::RunWriter(const RecordTools& tools, std::size_t run)
    : store_(tools.store),
      record_size_(tools.encoder.record_size()),
      number_(run),
      run_(store_.run(run)),
      packer_(store_.packer_of(run)),
      turn_(tools.bench.reactor.scope()) {}

// Waits until the first write block has had its turn, which shows what the first run block decided.
Task<void> RunWriter::may_complete(std::uint64_t first) {
  while (packs() && first > 0 && next_ == 0) co_await turn_.changed();
}

std::byte* RunWriter::place_of_next(const RunBlocks& blocks) const noexcept {
  return packs() ? blocks.data + blocks.bytes : store_.block_in(blocks.data, blocks.count, blocks.complete.size());
}

std::size_t RunWriter::pack_next(const RunBlocks& blocks, std::byte* records, std::uint32_t count) {
  const run::BlockContents contents{.used_bytes = count * record_size_};
  const std::uint64_t number = blocks.first + blocks.complete.size();
  if (number == 0) terms_ = packer_->choose(records, contents);
  if (terms_.is_none()) return 0;
  return packer_->pack(terms_, records, contents, run_.seed + number, place_of_next(blocks));
}

void RunWriter::complete_next(RunBlocks& blocks, std::byte* records, std::uint32_t count) {
  const std::size_t plain = std::size_t{count} * record_size_;
  std::size_t stored = packs() ? pack_next(blocks, records, count) : 0;
  if (stored == 0) {
    std::byte* const place = place_of_next(blocks);
    if (place != records) std::memmove(place, records, plain);
    store_.seal_records(run_, blocks.first + blocks.complete.size(), count, place);
    stored = store_.block_bytes();
  }
  blocks.complete.push_back({plain, stored});
  blocks.bytes += stored;
}

Task<void> RunWriter::write(const RunBlocks& blocks) {
  return packs() ? write_in_turn(blocks) : store_.write(number_, blocks.first, blocks.data, blocks.bytes);
}

Task<void> RunWriter::write_in_turn(const RunBlocks& blocks) {
  while (next_ != blocks.first) co_await turn_.changed();
  for (const auto& [plain_bytes, stored_bytes] : blocks.complete)
    store_.append_packed(number_, plain_bytes, stored_bytes, terms_.codec.codec);
  next_ += blocks.count;
  turn_.notify();
  co_await store_.write_appended(number_, blocks.first, blocks.data, blocks.bytes);
}

void RunWriter::finish() {
  if (packs()) store_.complete_run(number_, run_.blocks);
}

}  // namespace ecosort::engine::fixed
