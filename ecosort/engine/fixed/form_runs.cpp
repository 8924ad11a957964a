#include "engine/fixed/form_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "formats/records/gather.h"
#include "formats/records/index_sort.h"
#include "hash/block_checksum.h"
#include "sorting/find_descent.h"
#include "sorting/range_sort.h"

namespace ecosort::engine::fixed {

FormRuns::FormRuns(const RecordTools& tools, const planner::RecordPlan& plan, ReadAhead& reader, run::RunPacker* packer)
    : tools_(tools),
      reactor_(tools.bench.reactor),
      compute_(tools.bench.compute),
      plan_(plan),
      encoder_(tools.encoder),
      reader_(reader),
      store_(tools.store),
      progress_(tools.bench.progress),
      slots_(plan.formation.run_buffers),
      free_slots_(reactor_.scope(), plan.formation.run_buffers),
      scratch_free_(reactor_.scope(), 1) {
  const planner::Formation& f = plan.formation;
  MemoryBudget& memory = tools.bench.memory;
  for (std::uint32_t i = 0; Slot & slot : slots_) {
    slot.run.first_index = records::RecordTable::first_index(i++);
    slot.run.bytes = memory.allocate(f.run_buffer_bytes, "a run buffer");
    slot.run.index = memory.allocate(f.index_bytes, "the index of a run");
  }
  scratch_ = memory.allocate(f.scratch_bytes, "the scratch of the index sort");
  Buffer blocks = f.write_blocks > 0 ? memory.allocate(f.write_block_bytes * f.write_blocks, "write blocks") : Buffer();
  blocks_.emplace(reactor_.scope(), std::move(blocks), f.write_block_bytes, f.write_blocks);
  if (packer != nullptr) pace_.emplace(tools.bench, *packer, !plan.wanted.size_unknown);
}

std::size_t FormRuns::take_slot() {
  const auto slot = std::ranges::find_if(slots_, [](const Slot& s) { return s.is_free; });
  slot->is_free = false;
  slot->is_sorted = false;
  return static_cast<std::size_t>(slot - slots_.begin());
}

void FormRuns::create_runs() {
  std::uint64_t left = plan_.wanted.input_records;
  for (std::uint64_t number = 0; left > 0; ++number) {
    formed_.records.push_back(plan_.formation.records_of_run(number, left));
    left -= formed_.records.back();
    if (number < plan_.merge.stored_runs) formed_.stored.push_back(store_.create(formed_.records.back()));
  }
  formed_.in_inputs.resize(formed_.stored.size());
}

// Fills the memory that the runs that are read first will lie in.
void FormRuns::populate_buffers(std::uint64_t runs, std::uint64_t most_records) {
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(runs, slots_.size()); ++i) {
    const std::span<std::byte> bytes = slots_[i].run.bytes.as<std::byte>();
    populate_ahead_.add(bytes.first(std::min<std::uint64_t>(most_records * encoder_.record_size(), bytes.size())));
  }
  populate_ahead_.begin();
}

Task<void> FormRuns::form() {
  TaskGroup runs(reactor_.scope());
  if (!formed_.records.empty()) populate_buffers(formed_.records.size(), formed_.records.front());
  runs.spawn(begin_runs(runs));
  co_await runs.join();
}

Task<void> FormRuns::begin_runs(TaskGroup& runs) {
  std::uint64_t first = 0;
  for (std::uint64_t number = 0; number < formed_.records.size(); ++number) {
    co_await free_slots_.take();
    const std::size_t slot = take_slot();
    const bool store = number < formed_.stored.size();
    if (!store) resident_slots_.push_back(slot);
    runs.spawn(form_run(slot, number, first, formed_.records[number], store));
    first += formed_.records[number];
  }
}

Task<void> FormRuns::form_run(std::size_t slot, std::uint64_t number, std::uint64_t first, std::uint64_t count, bool store) {
  RunBuffer& run = slots_[slot].run;
  co_await reader_.fill(run, first, count, &progress_);
  co_await sort_run(run);
  if (!store) co_return;
  if (auto place = place_in_input(run, first))
    co_await leave_in_input(slot, number, std::move(*place));
  else
    co_await store_run(slot, formed_.stored[number]);
}

// Nothing: the run is not in order, or not in one file, or there are as many checksums as may be.
std::optional<RecordsInInput> FormRuns::place_in_input(const RunBuffer& run, std::uint64_t first) const {
  constexpr std::uint64_t share_of_memory = 64;  // for checksums; that is all of 17 GB of records with 64 MiB
  const codec::RunCompression& compression = plan_.wanted.compression;
  const bool compresses = !compression.is_auto && !compression.is_none();  // compressed runs may move fewer bytes
  const auto extent = run.is_ordered && !compresses ? reader_.extent_of(first, run.count) : std::nullopt;
  if (!extent) return std::nullopt;
  RecordsInInput place{.file = extent->file, .begin = extent->begin};
  place.run_block_records =
      std::min(plan_.run_block.records,
               RecordsInInput::records_in(plan_.run_block.bytes, extent->file->alignment(), encoder_.record_size()));
  if (2 * place.run_block_records < plan_.run_block.records || place.run_block_records == 0) return std::nullopt;
  place.piece_records = std::uint64_t{place.run_block_records} * store_.forecast().stride();
  const std::uint64_t pieces = div_up(run.count, place.piece_records);
  if ((pieces_ + pieces) * sizeof(std::uint64_t) > plan_.wanted.memory_bytes / share_of_memory) return std::nullopt;
  place.checksums.resize(pieces);
  return place;
}

// Its space goes back, and its forecast is that of its pieces.
Task<void> FormRuns::leave_in_input(std::size_t slot, std::uint64_t number, RecordsInInput place) {
  const RunBuffer& run = slots_[slot].run;
  const std::uint64_t size = encoder_.record_size(), stride = store_.forecast().stride();
  pieces_ += place.checksums.size();
  store_.close(formed_.stored[number]);
  store_.forecast().renew_run(formed_.stored[number], place.checksums.size() * stride);
  auto work = compute_.run([&] {
    sorting::for_each_part(compute_.threads(), place.checksums.size(), [&](std::size_t piece) {
      const std::uint64_t begin = piece * place.piece_records, count = std::min(place.piece_records, run.count - begin);
      place.checksums[piece] = hash::block_checksum(run.records + begin * size, count * size, begin);
    });
  });
  co_await work;
  for (std::uint64_t piece = 0; piece < place.checksums.size(); ++piece)
    store_.forecast().set(formed_.stored[number], piece * stride, encoder_, run.records + piece * place.piece_records * size);
  progress_.add_bytes(run.count * size);  // as if it were stored
  formed_.in_inputs[number] = std::move(place);
  free_slot(slot);
}

void FormRuns::free_slot(std::size_t slot) {
  slots_[slot].is_free = true;
  free_slots_.give();
}

Task<void> FormRuns::form_parts(const std::vector<RunPart>& parts, RunKeeper& keeper) {
  TaskGroup runs(reactor_.scope());
  if (!parts.empty()) populate_buffers(parts.size(), parts.front().records);
  runs.spawn(begin_parts(runs, parts, keeper));
  co_await runs.join();
}

Task<void> FormRuns::begin_parts(TaskGroup& runs, const std::vector<RunPart>& parts, RunKeeper& keeper) {
  for (std::size_t position = 0; position < parts.size(); ++position) {
    co_await free_slots_.take();
    runs.spawn(form_part(take_slot(), parts[position], position, keeper));
  }
}

// The buffer is free for the next run while this one is being kept.
Task<void> FormRuns::form_part(std::size_t slot, RunPart part, std::size_t position, RunKeeper& keeper) {
  RunBuffer& run = slots_[slot].run;
  co_await reader_.fill(run, part.first, part.records, &progress_);
  co_await sort_run(run);
  co_await keeper.before_store(position);
  const Tally read = run.tally;
  Tally written;
  co_await store_run(slot, part.stored, &written);
  co_await keeper.after_store(position, read, written);
}

// A stream's length is unknown: runs are kept as long as the buffers last, and stored from the first one on only when all
// are full, so that an input that fits the memory is sorted in one pass.
Task<void> FormRuns::form_stream() {
  TaskGroup runs(reactor_.scope());
  runs.spawn(read_stream(runs));
  co_await runs.join();
}

Task<void> FormRuns::read_stream(TaskGroup& runs) {
  for (bool ended = false; !ended;) {
    if (free_slots_.free() == 0 && !resident_slots_.empty()) {
      check_may_store();
      runs.spawn(store_oldest());
    }
    co_await free_slots_.take();
    const std::size_t slot = take_slot();
    RunBuffer& run = slots_[slot].run;
    co_await reader_.fill_from_stream(run, plan_.formation.run_records, progress_);
    ended = run.count < plan_.formation.run_records;
    if (run.count == 0) break;
    formed_.records.push_back(run.count);
    resident_slots_.push_back(slot);
    co_await sort_run(run);
  }
}

void FormRuns::check_may_store() const {
  if (formed_.records.size() >= planner::most_runs)
    throw NotEnoughMemory(fmt::format("the input is too long for this memory: it makes more than {} runs", planner::most_runs),
                          plan_.wanted.memory_bytes, 8 * plan_.wanted.memory_bytes);
}

// Stores the oldest of the sorted runs that are not stored yet.
Task<void> FormRuns::store_oldest() {
  const std::size_t slot = resident_slots_.front();
  resident_slots_.erase(resident_slots_.begin());
  formed_.stored.push_back(store_.create(slots_[slot].run.count));
  co_await store_run(slot, formed_.stored.back());
}

Task<void> FormRuns::store_all_but(std::uint32_t resident_runs) {
  while (resident_slots_.size() > resident_runs) co_await store_oldest();
}

// Records of a sorted run that is not empty, evenly spaced, with the first and the last among them.
std::vector<const std::byte*> FormRuns::sample_of(const RunBuffer& run, std::uint64_t size) const {
  const records::RecordTable table = run.table(encoder_.record_size());
  std::vector<const std::byte*> sample;
  size = std::clamp<std::uint64_t>(size, 2, std::max<std::uint64_t>(run.count, 2));
  sample.reserve(size);
  for (std::uint64_t i = 0; i < size; ++i) sample.push_back(table.at(run.entries()[i * (run.count - 1) / (size - 1)].index));
  return sample;
}

Task<void> FormRuns::sort_run(RunBuffer& run) {
  co_await sort_index(run);
  if (run.count > 0)
    store_.forecast().take_in_keys(encoder_, sample_of(run, store_.forecast().shared_key().sample_size(encoder_)));
}

Task<void> FormRuns::sort_index(RunBuffer& run) {
  co_await scratch_free_.take();
  auto sort = compute_.run([&] {
    const records::RecordTable table = run.table(encoder_.record_size());
    const sorting::Entry* const entries = run.entries();
    const std::size_t ordered = sorting::find_descent(1, run.count, compute_.threads(), [&](std::size_t i) {
      const sorting::Entry &before = entries[i - 1], &present = entries[i];
      if (!sorting::key_equal(before, present)) return sorting::key_less(before, present);
      return encoder_.decides() || encoder_.compare(table.at(before.index), table.at(present.index)) <= 0;
    });
    run.is_ordered = ordered >= run.count;
    if (run.is_ordered) return;
    auto* scratch = scratch_.as<sorting::Entry>().data();
    records::sort_entries_parallel(run.entries(), scratch, run.count, compute_.threads());
    if (!encoder_.decides())
      records::refine_ties_parallel(run.entries(), scratch, run.count, encoder_, run.table(encoder_.record_size()),
                                    compute_.threads());
  });
  co_await sort;
  scratch_free_.give();
}

Task<void> FormRuns::store_run(std::size_t slot, std::size_t number, Tally* written) {
  co_await write_run(slots_[slot].run, number, written);
  free_slot(slot);
}

Task<void> FormRuns::write_run(const RunBuffer& run, std::size_t number, Tally* written) {
  const std::uint64_t run_blocks = store_.run(number).blocks;
  const std::uint64_t per_block = plan_.formation.write_block_bytes / plan_.run_block.bytes;
  if (pace_) pace_->tell(reader_.tally().hash.count * encoder_.record_size());
  RunWriter writer(tools_, number);
  TaskGroup writes(reactor_.scope());
  for (std::uint64_t run_block = 0; run_block < run_blocks; run_block += per_block)
    writes.spawn(gather_and_write(number, writer, run, run_block, std::min(per_block, run_blocks - run_block), written));
  co_await writes.join();
  writer.finish();
}

Task<void> FormRuns::gather_and_write(std::size_t number, RunWriter& writer, const RunBuffer& run, std::uint64_t first_run_block,
                                      std::uint64_t run_blocks, Tally* written) {
  std::byte* const block = co_await blocks_->take();
  RunBlocks blocks{first_run_block, run_blocks, block};
  const records::RecordTable table = run.table(encoder_.record_size());
  for (std::uint64_t g = first_run_block; g < first_run_block + run_blocks; ++g)
    store_.forecast().set(number, g, encoder_, table.at(run.entries()[g * plan_.run_block.records].index));
  co_await writer.may_complete(first_run_block);
  Tally tally;
  auto work = compute_.run([&] { gather(writer, run, blocks, written == nullptr ? nullptr : &tally); },
                           run_blocks * plan_.run_block.bytes);
  co_await work;
  if (written != nullptr) *written += tally;
  co_await writer.write(blocks);
  progress_.add_bytes(run_blocks * plan_.run_block.bytes);
  blocks_->give(block);
}

void FormRuns::gather(RunWriter& writer, const RunBuffer& run, RunBlocks& blocks, Tally* written) const {
  const records::RecordTable table = run.table(encoder_.record_size());
  for (std::uint64_t g = blocks.first; g < blocks.first + blocks.count; ++g) {
    std::byte* const out = writer.place_of_next(blocks);
    const std::uint64_t first = g * plan_.run_block.records;
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(plan_.run_block.records, run.count - first));
    records::gather(run.entries() + first, count, table, out, run.count - first - count);
    if (written != nullptr) written->hash.add_records(out, count, encoder_.record_size());
    writer.complete_next(blocks, out, count);
  }
}

FormedRuns FormRuns::take_runs() {
  for (const std::size_t slot : resident_slots_) formed_.resident.push_back(std::move(slots_[slot].run));
  return std::move(formed_);
}

void FormRuns::free_buffers() {
  populate_ahead_.end();
  slots_.clear();
  scratch_ = Buffer();
  blocks_.reset();
}

}  // namespace ecosort::engine::fixed
