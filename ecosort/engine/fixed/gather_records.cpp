#include "engine/fixed/gather_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "engine/fixed/output_check.h"
#include "formats/records/index_sort.h"
#include "formats/records/record_table.h"
#include "hash/block_checksum.h"

namespace ecosort::engine::fixed {

namespace {

records::Encoder encoder_of_keys(std::uint64_t key_bytes) {
  const auto size = static_cast<std::uint32_t>(key_bytes);
  return records::Encoder(records::RecordFormat{size, {RecordKey{0, size}}});
}

std::vector<std::uint64_t> first_records_of(const std::vector<Input>& inputs) {
  std::vector<std::uint64_t> first;
  std::uint64_t records = 0;
  for (const Input& input : inputs) {
    first.push_back(records);
    records += input.records;
  }
  return first;
}

}  // namespace

GatherRecords::GatherRecords(Bench& bench, const planner::RecordPlan& plan, const records::Encoder& encoder,
                             std::vector<Input>& inputs)
    : reactor_(bench.reactor),
      compute_(bench.compute),
      progress_(bench.progress),
      plan_(plan.gathering),
      encoder_(encoder),
      key_encoder_(encoder_of_keys(plan.gathering.key_bytes)),
      inputs_(inputs),
      first_records_(first_records_of(inputs)),
      records_(plan.wanted.input_records),
      keys_(bench.memory.allocate(records_ * plan_.key_bytes, "keys")),
      checksums_(bench.memory.allocate(records_ * sizeof(std::uint64_t), "checksums of records")),
      index_(bench.memory.allocate(records_ * sizeof(sorting::Entry), "the index of keys")),
      scratch_(bench.memory.allocate(records_ * sizeof(sorting::Entry), "the scratch of the index sort")),
      blocks_(reactor_.scope(), bench.memory.allocate(plan_.read_block_bytes * plan_.reads, "read blocks"),
              plan_.read_block_bytes, plan_.reads),
      is_gathered_(records_),
      turn_changed_(reactor_.scope()) {}

GatherRecords::Place GatherRecords::place_of(std::uint64_t record) const {
  const auto after = std::ranges::upper_bound(first_records_, record);  // behind inputs without records, which begin there too
  const auto number = static_cast<std::size_t>(after - first_records_.begin()) - 1;
  const Input& input = inputs_[number];
  const std::uint64_t size = encoder_.record_size();
  return {input.file.get(), input.begin() + (record - first_records_[number]) * size, input.begin() + input.records * size};
}

// Reads bytes [begin, end) of the record at `place`, and the units of the file around them; returns where the record begins, or
// would, in the block.
Task<std::byte*> GatherRecords::read(Place place, std::uint64_t begin, std::uint64_t end, std::byte* block) {
  const std::uint64_t unit = place.file->alignment(), base = round_down(place.offset, unit);
  const std::uint64_t from = round_down(place.offset + begin, unit), to = round_up(place.offset + end, unit);
  (void)co_await reactor_.read(*place.file, from, block + (from - base), to - from, std::min(to, place.last) - from);
  co_return block + (place.offset - base);
}

Task<void> GatherRecords::read_keys() {
  TaskGroup readers(reactor_.scope());
  for (unsigned i = 0; i < plan_.reads; ++i) readers.spawn(read_next_keys());
  co_await readers.join();
}

Task<void> GatherRecords::read_next_keys() {
  std::byte* const block = co_await blocks_.take();
  while (next_key_ < records_) {
    const std::uint64_t number = next_key_++;
    keep_key(number, co_await read(place_of(number), plan_.begin, plan_.end, block));
    progress_.add_bytes(plan_.end - plan_.begin);
  }
  blocks_.give(block);
}

std::uint64_t GatherRecords::checksum_of(std::uint64_t number, const std::byte* record) const {
  return hash::block_checksum(record + plan_.begin, plan_.end - plan_.begin, number);
}

void GatherRecords::keep_key(std::uint64_t number, const std::byte* record) {
  constexpr std::uint64_t step = records::Encoder::word_bytes;
  checksums_.as<std::uint64_t>()[number] = checksum_of(number, record);
  std::byte* const key = keys_.data() + number * plan_.key_bytes;
  for (std::uint64_t done = 0; done < plan_.key_bytes; done += step) {
    std::uint64_t word = encoder_.window(record, done).prefix;
    for (std::uint64_t i = 0; i < std::min(step, plan_.key_bytes - done); ++i, word <<= 8U)
      key[done + i] = static_cast<std::byte>(word >> 56U);
  }
}

// Ties stay in the order of the input.
Task<void> GatherRecords::sort_keys() {
  auto work = compute_.run([&] {
    auto* const entries = index_.as<sorting::Entry>().data();
    auto* const scratch = scratch_.as<sorting::Entry>().data();
    const records::RecordTable table(keys_.data(), key_encoder_.record_size());
    records::extract(key_encoder_, keys_.data(), records_, 0, entries);
    records::sort_entries_parallel(entries, scratch, records_, compute_.threads());
    if (!key_encoder_.decides())
      records::refine_ties_parallel(entries, scratch, records_, key_encoder_, table, compute_.threads());
  });
  co_await work;
  scratch_ = Buffer();
  keys_ = Buffer();
}

Task<void> GatherRecords::gather_to_output(CheckedOutput& output) {
  constexpr unsigned side_by_side = 4;  // one is read, one checked, others wait for their turn or are written
  TaskGroup makers(reactor_.scope());
  for (unsigned i = 0; i < side_by_side; ++i) makers.spawn(make_batches(output));
  co_await output.finish_after(reactor_, makers);
}

// One of the tasks that make batch after batch. Numbers are given out in the order in which places are taken, so that the batch
// whose turn it is always has its place.
Task<void> GatherRecords::make_batches(CheckedOutput& output) {
  while (next_record_ < records_) {
    const std::uint64_t first = next_record_, count = std::min(output.records_per_batch(), records_ - first);
    const std::uint64_t number = next_batch_++;
    next_record_ += count;
    std::byte* const out = co_await output.take(first);
    TaskGroup reads(reactor_.scope());
    const sorting::Entry* const entries = index_.as<sorting::Entry>().data() + first;
    for (std::uint64_t i = 0; i < count; ++i) reads.spawn(gather(entries[i].index, out + i * encoder_.record_size()));
    co_await reads.join();
    Checked checked;
    auto work = compute_.run([&] { checked = check_records(out, count, encoder_); });
    co_await work;
    while (turn_ != number) co_await turn_changed_.changed();
    co_await output.put(out, count, checked);
    ++turn_;
    turn_changed_.notify();
  }
}

// Reads a record right into its place where it lies in whole units.
Task<void> GatherRecords::gather(std::uint64_t number, std::byte* target) {
  const Place place = place_of(number);
  const std::uint64_t unit = place.file->alignment(), size = encoder_.record_size();
  if ((place.offset | size | reinterpret_cast<std::uintptr_t>(target)) % unit == 0) {
    take_in(number, co_await read(place, 0, size, target));
  } else {
    std::byte* const block = co_await blocks_.take();
    const std::byte* const record = co_await read(place, 0, size, block);
    take_in(number, record);
    std::memcpy(target, record, size);
    blocks_.give(block);
  }
  progress_.add_bytes(size);
}

void GatherRecords::take_in(std::uint64_t number, const std::byte* record) {
  if (is_gathered_[number]) throw VerificationError("a record would be in the output twice: the output was not written");
  is_gathered_[number] = true;
  if (checksum_of(number, record) != checksums_.as<std::uint64_t>()[number])
    throw IoError(
        fmt::format("'{}' changed while it was read; sort it when nothing writes to it", place_of(number).file->path()));
  tally_.hash.add_records(record, 1, encoder_.record_size());
}

}  // namespace ecosort::engine::fixed
