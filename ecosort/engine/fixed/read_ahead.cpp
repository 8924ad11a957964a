#include "engine/fixed/read_ahead.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "engine/fixed/check_keys.h"
#include "engine/fixed/extract_records.h"

namespace ecosort::engine::fixed {

namespace {

bool is_aligned(const std::byte* address, std::size_t alignment) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

}  // namespace

ReadAhead::ReadAhead(Bench& bench, const planner::RecordPlan& plan, const records::Encoder& encoder, std::vector<Input>& inputs)
    : reactor_(bench.reactor),
      compute_(bench.compute),
      plan_(plan),
      encoder_(encoder),
      inputs_(inputs),
      record_size_(plan.wanted.format.record_size) {
  const std::uint64_t size = plan.formation.read_block_bytes;
  const unsigned blocks = plan.formation.bounce_blocks;
  if (blocks > 0) bounce_.emplace(reactor_.scope(), bench.memory.allocate(size * blocks, "bounce blocks"), size, blocks);
}

// Cuts the record range into requests: aligned blocks of each file, the first one beginning at or before the range.
std::vector<ReadAhead::Block> ReadAhead::blocks_of(RunBuffer& run, std::uint64_t first, std::uint64_t count) const {
  std::vector<Block> blocks;
  std::byte* const base = run.bytes.data() + std::max<std::uint64_t>(plan_.wanted.input_alignment, page_bytes);
  run.records = nullptr;
  std::byte* target = nullptr;
  for (const Input& input : inputs_) {
    if (first >= input.records) {
      first -= input.records;
      continue;
    }
    const std::uint64_t records = std::min(count, input.records - first);
    const std::uint64_t start = input.begin();
    std::uint64_t position = start + first * record_size_;
    const std::uint64_t end = position + records * record_size_;
    const std::uint64_t last = start + input.records * record_size_;
    const std::size_t alignment = input.file->alignment();
    if (run.records == nullptr) run.records = target = base + position % alignment;
    for (std::uint64_t from = round_down(position, alignment); from < end;) {
      const std::uint64_t to = std::min(from + plan_.formation.read_block_bytes, round_up(end, alignment));
      const std::uint64_t useful = std::min(to, end) - position;
      blocks.push_back(
          {input.file.get(), from, to - from, std::min(to, last) - from, position - from, target - (position - from)});
      target += useful;
      position += useful;
      from = to;
    }
    count -= records;
    first = 0;
    if (count == 0) break;
  }
  return blocks;
}

std::optional<ReadAhead::Extent> ReadAhead::extent_of(std::uint64_t first, std::uint64_t count) const {
  for (const Input& input : inputs_) {
    if (first < input.records && input.records - first >= count && !input.file->facts().is_stream)
      return Extent{input.file.get(), input.begin() + first * record_size_};
    if (first < input.records) break;
    first -= input.records;
  }
  return std::nullopt;
}

Task<void> ReadAhead::read_run(RunBuffer& run, std::uint64_t first, std::uint64_t count, bool extracts, Progress* progress) {
  const std::vector<Block> blocks = blocks_of(run, first, count);
  run.count = count;
  run.first = first;
  run.tally = {};
  Arrival arrival{run, extracts, progress, {}, std::vector<bool>(blocks.size()), 0, 0};
  for (const Block& block : blocks) {
    const auto end = static_cast<std::uint64_t>(block.target - run.records) + block.at_least;
    arrival.block_end.push_back(std::min(end, count * record_size_));
  }
  TaskGroup reads(reactor_.scope());
  for (std::size_t i = 0; i < blocks.size(); ++i) reads.spawn(read_block(arrival, i, blocks[i]));
  co_await reads.join();
}

Task<void> ReadAhead::read_block(Arrival& arrival, std::size_t number, Block block) {
  // A direct read that reaches beyond the end of its file may still write its whole last unit: over what the next file put there.
  const bool spills = block.at_least < block.size && number + 1 < arrival.arrived.size();
  if (is_aligned(block.target, block.file->alignment()) && (block.lead == 0 || number == 0) && !spills) {
    (void)co_await reactor_.read(*block.file, block.offset, block.target, block.size, block.at_least);
  } else {
    // A file after the first begins where the one before ended; a direct read cannot land there.
    std::byte* const bounce = co_await bounce_->take();
    (void)co_await reactor_.read(*block.file, block.offset, bounce, block.size, block.at_least);
    std::byte* const target = block.target + block.lead;
    const std::uint64_t room = arrival.run.count * record_size_ - static_cast<std::uint64_t>(target - arrival.run.records);
    std::memcpy(target, bounce + block.lead, std::min(block.at_least - block.lead, room));
    bounce_->give(bounce);
  }
  arrival.arrived[number] = true;
  if (arrival.progress != nullptr) arrival.progress->add_bytes(block.at_least - block.lead);
  if (arrival.extracts) co_await extract_arrived(arrival);
}

Task<void> ReadAhead::extract_arrived(Arrival& arrival) {
  while (arrival.next < arrival.arrived.size() && arrival.arrived[arrival.next]) ++arrival.next;
  if (arrival.next == 0) co_return;
  const std::uint64_t complete = arrival.block_end[arrival.next - 1] / record_size_;
  if (complete <= arrival.extracted) co_return;
  const std::uint64_t first = std::exchange(arrival.extracted, complete);
  co_await extract(arrival.run, first, complete - first);
}

Task<void> ReadAhead::extract(RunBuffer& run, std::uint64_t first, std::uint64_t count) {
  Tally part;
  auto work = compute_.run(
      [&] {
        check_keys(run, first, count);
        part = extract_records(encoder_, run.records + first * record_size_, count,
                               run.first_index + static_cast<std::uint32_t>(first), run.entries() + first, plan_.wanted.checksum);
      },
      count * record_size_);
  co_await work;
  run.tally += part;
  tally_ += part;
}

Task<void> ReadAhead::fill_from_stream(RunBuffer& run, std::uint64_t count, Progress& progress) {
  run.records = run.bytes.data();
  run.count = 0;
  run.first = streamed_;
  run.tally = {};
  TaskGroup extractions(reactor_.scope());
  extractions.spawn(read_stream(extractions, run, count * record_size_, progress));
  co_await extractions.join();
  streamed_ += run.count;
}

Task<void> ReadAhead::read_stream(TaskGroup& extractions, RunBuffer& run, std::uint64_t wanted_bytes, Progress& progress) {
  const io::File& file = *inputs_.front().file;
  std::uint64_t have = 0;
  bool ended = false;
  while (have < wanted_bytes && !ended) {
    const std::uint64_t size = std::min(plan_.formation.read_block_bytes, wanted_bytes - have);
    const std::size_t got = co_await reactor_.read(file, 0, run.records + have, size, 0);
    have += got;
    if (const auto look = std::exchange(inputs_.front().look, nullptr)) look({run.records, have});
    progress.add_bytes(got);
    ended = got < size;
    const std::uint64_t first = std::exchange(run.count, have / record_size_);
    if (run.count > first) extractions.spawn(extract(run, first, run.count - first));
  }
  if (have % record_size_ != 0)
    throw InputRefused(fmt::format("'{}' ends in the middle of a record: {} after {}-byte records", file.path(),
                                   left_over_text(have % record_size_), record_size_));
}

void ReadAhead::check_keys(const RunBuffer& run, std::uint64_t first, std::uint64_t count) const {
  if (!encoder_.may_refuse()) return;
  const std::byte* const records = run.records + first * record_size_;
  const std::size_t refused = encoder_.first_refused(records, count);
  if (refused == count) return;
  std::uint64_t number = run.first + first + refused;
  auto input = inputs_.begin();
  for (; input + 1 != inputs_.end() && number >= input->records; ++input) number -= input->records;
  refuse_record(encoder_, records + refused * record_size_, input->file->path(), number);
}

void ReadAhead::check_unchanged(io::Storage& storage) const {
  for (const Input& input : inputs_) fixed::check_unchanged(storage, input);
}

void check_unchanged(io::Storage& storage, const Input& input) {
  if (input.file->facts().is_stream) return;
  const io::FileState now = storage.state(*input.file);
  if (now.size_bytes != input.opened.size_bytes || now.modified_ns != input.opened.modified_ns)
    throw IoError(fmt::format("'{}' changed while it was read; sort it when nothing writes to it", input.file->path()));
}

}  // namespace ecosort::engine::fixed
