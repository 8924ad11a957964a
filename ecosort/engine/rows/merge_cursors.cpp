#include "engine/rows/merge_cursors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "base/size_text.h"
#include "engine/rows/damaged_input.h"
#include "engine/rows/long_row.h"
#include "engine/rows/read_rows.h"
#include "engine/rows/truncated_cursor.h"
#include "formats/shuffle/shuffle_format.h"
#include "run/described_block.h"

namespace ecosort::engine::rows {
namespace {

constexpr std::uint64_t release_blocks = 32;     // of a run, given back at a time
constexpr std::uint64_t longest_line_share = 4;  // of the memory: what a line may take
constexpr std::uint64_t room_growth = 2;

// Bytes before a block for the beginning of a line, and behind it for an end that the last line lacks.
std::size_t room_before(const planner::LinePlan& plan, const MergeInput& input) {
  const std::uint64_t longest = input.is_plain ? plan.block_bytes : input.run.longest;
  return round_up(longest + 1, page_bytes);
}

std::uint64_t slot_bytes(const planner::LinePlan& plan, const MergeInput& input) {
  return room_before(plan, input) + plan.block_bytes + page_bytes;
}

std::uint64_t largest_room(const planner::LinePlan& plan) { return round_up(plan.memory_bytes / longest_line_share, page_bytes); }

// Returns for plain files the largest room, and the one before it while the line moves.
std::uint64_t kept_for_longer_lines(const planner::LinePlan& plan) {
  const std::uint64_t most = largest_room(plan);
  return most + most / room_growth + 2 * (plan.block_bytes + page_bytes);
}

// Rows of hundreds of cursors that are put together at the same places of pages would drive each other out of the cache.
std::size_t lead_of(const MergeCursor& cursor) {
  constexpr std::size_t cache_line = 64, lines_of_row = 3;
  if (cursor.is_plain) return 0;
  const std::size_t spare = (cursor.room - cursor.input->run.longest - 1) / cache_line;
  return spare == 0 ? 0 : cursor.index * lines_of_row % spare * cache_line;
}

struct MergeBytes {
  std::uint64_t slots = 0, last_line = 0;
};

MergeBytes bytes_of(const planner::LinePlan& plan, const std::vector<MergeInput>& inputs, unsigned slots) {
  MergeBytes bytes;
  for (const MergeInput& input : inputs) {
    bytes.slots += slots * slot_bytes(plan, input);
    bytes.last_line = std::max<std::uint64_t>(bytes.last_line, room_before(plan, input));
  }
  return bytes;
}

}  // namespace

MergeFit fit_merge(const planner::LinePlan& plan, const std::vector<MergeInput>& inputs, std::size_t first) {
  for (const unsigned slots : {2U, 1U}) {
    std::uint64_t bytes = 0, longest = 0, kept = 0;  // kept: for a longer line of a plain file
    std::size_t fit = 0, programs = 0;
    for (std::size_t i = first; i < inputs.size() && fit < plan.batch_size; ++i, ++fit) {
      if (inputs[i].run.is_compressed && ++programs > plan.most_programs) break;
      bytes += slots * slot_bytes(plan, inputs[i]);
      if (inputs[i].is_plain) kept = kept_for_longer_lines(plan);
      longest = std::max<std::uint64_t>({longest, room_before(plan, inputs[i]), inputs[i].is_plain ? largest_room(plan) : 0});
      if (bytes + longest + kept > plan.merge_bytes()) break;
    }
    if (fit >= std::min<std::size_t>(2, inputs.size() - first)) return {fit, slots};
  }
  return {0, 0};
}

std::uint64_t merge_memory_bytes(const planner::LinePlan& plan, const std::vector<MergeInput>& inputs, unsigned slots) {
  const MergeBytes bytes = bytes_of(plan, inputs, slots);
  return bytes.slots + bytes.last_line;
}

MergeCursors::MergeCursors(const RowTools& tools, std::vector<MergeInput>& inputs, unsigned slots, const MergePart& part,
                           LastLine* last)
    : reactor_(tools.bench.reactor),
      compute_(tools.bench.compute),
      files_(tools.files),
      budget_(tools.bench.memory),
      plan_(tools.plan),
      format_(tools.format),
      // With one less for each border, parts together keep no more space waiting than one merge does.
      release_blocks_(part.parts == 1 ? release_blocks : release_blocks / part.parts - 1),
      last_(last),
      background_(tools.bench.reactor.scope()),
      loaded_(tools.bench.reactor.scope()) {
  const MergeBytes bytes = bytes_of(plan_, inputs, slots);
  memory_ = budget_.allocate(bytes.slots, "merge blocks");
  if (last_ != nullptr) last_->copy = budget_.allocate(bytes.last_line, "last line");
  std::byte* at = memory_.data();
  for (MergeInput& input : inputs) {
    auto cursor = std::make_unique<MergeCursor>();
    cursor->input = &input;
    cursor->is_plain = input.is_plain;
    cursor->is_checked = input.is_plain || input.run.in_input;
    cursor->index = static_cast<std::uint32_t>(cursors_.size());
    cursor->room = room_before(plan_, input);
    cursor->row_room = cursor->room - lead_of(*cursor);
    cursor->terminator = format_.terminator();
    if (input.is_plain && input.kept == nullptr) cursor->marker = formats::RecordMarker(format_.record_marks());
    cursor->slot_count = slots;
    for (unsigned slot = 0; slot < slots; ++slot, at += slot_bytes(plan_, input)) cursor->slots[slot].data = at + cursor->room;
    cursor->blocks = input.kept != nullptr ? input.kept->blocks() : UINT64_MAX;
    if (!input.is_plain)
      limit(*cursor, part.ranges.empty() ? ByteRange{input.run.begin(), input.run.end()} : part.ranges[cursor->index]);
    cursors_.push_back(std::move(cursor));
  }
}

//   part before | this part                       | part behind
//   ..|.........:.....|...........|...........|...:.......|..       a block that two parts read is given back with the file
//               begin                             end
void MergeCursors::limit(MergeCursor& cursor, const ByteRange& range) const {
  const std::uint64_t payload = cursor.input->run.payload(plan_.block_bytes);
  cursor.exhausted = range.begin == range.end;
  cursor.skipped = range.begin % payload;
  cursor.lines_end = range.end;
  cursor.next_block = cursor.consumed_end = range.begin / payload;
  cursor.blocks = cursor.exhausted ? cursor.next_block : div_up(range.end, payload);
  cursor.released_end = div_up(range.begin, payload);
  cursor.release_limit = range.end == cursor.input->run.end() ? cursor.blocks : range.end / payload;
}

void MergeCursors::request_first() {
  for (const auto& cursor : cursors_)
    if (!cursor->exhausted) request(*cursor);
}

// Begins to fetch the next block of the cursor into the slot that is not merged.
void MergeCursors::request(MergeCursor& cursor) {
  const unsigned slot = cursor.has_block && cursor.slot_count == 2 ? 1 - cursor.present : cursor.present;
  if (cursor.next_block >= cursor.blocks || cursor.slots[slot].loading || cursor.slots[slot].loaded) return;
  cursor.slots[slot].loading = true;
  cursor.slots[slot].loaded = false;
  background_.spawn(load(cursor, slot, cursor.next_block++));
}

// A block of a file that is no run.
Task<std::size_t> MergeCursors::read_plain(const MergeInput& input, std::uint64_t block, std::byte* data) {
  if (input.decoded != nullptr) co_return co_await input.decoded->read(background_, data, plan_.block_bytes);
  const io::File& file = *input.file;
  if (input.kept != nullptr) {
    const std::uint64_t size = input.kept->bytes_of(block, 1);
    (void)co_await reactor_.read(file, input.kept->place_of(block, 1), data, size, size);
    auto work = compute_.run([&] { run::open_block(*input.kept, file.path(), block, data, data, input.coders); }, size);
    co_await work;
    co_return input.kept->used_bytes(block);
  }
  co_return co_await reactor_.read(file, file.facts().start_offset + block * plan_.block_bytes, data, plan_.block_bytes, 0);
}

Task<void> MergeCursors::load(MergeCursor& cursor, unsigned index, std::uint64_t block) {
  MergeCursor::Slot& slot = cursor.slots[index];
  if (cursor.is_plain) {
    slot.bytes = co_await read_plain(*cursor.input, block, slot.data);
    slot.is_last = cursor.input->kept != nullptr ? block + 1 == cursor.blocks : slot.bytes < plan_.block_bytes;
    if (const FirstLook* const look = cursor.input->look; block == 0 && look != nullptr && *look)
      (*look)(cursor.input->name, {reinterpret_cast<const char*>(slot.data), slot.bytes});
    if (slot.is_last) cursor.blocks = block + 1;
  } else {
    co_await load_stored(cursor, slot, block);
  }
  slot.loading = false;
  slot.loaded = true;
  loaded_.notify();
}

// Rows are truncated at their terminators: where one may lie within a row, they are made whole first.
Task<void> MergeCursors::load_stored(MergeCursor& cursor, MergeCursor::Slot& slot, std::uint64_t block) {
  run::RowRun& run = cursor.input->run;
  run::RowsOfBlock read;
  if (format_.is_walked() || shuffle::as_shuffle(format_) != nullptr)  // heads of rows may hold any byte
    read.contents = co_await read_rows(files_, compute_, run, block, slot.data);
  else
    read = co_await read_truncated_rows(files_, compute_, run, block, slot.data);
  const std::uint64_t before = block * run.payload(plan_.block_bytes);
  slot.bytes = std::min<std::uint64_t>(read.contents.used_bytes, cursor.lines_end - before);
  slot.is_last = block + 1 == cursor.blocks;
  slot.is_truncated = read.truncated.has_value();
  if (read.truncated) take_truncated(cursor, slot, *read.truncated, block);
}

void MergeCursors::take_truncated(const MergeCursor& cursor, MergeCursor::Slot& slot, const run::TruncatedBlock& block,
                                  std::uint64_t number) {
  slot.rows = reinterpret_cast<const char*>(block.rows.data());
  slot.rows_end = slot.rows + block.rows.size();
  slot.carried = block.contents.carried_bytes;
  slot.goes_on = !block.is_last_whole;
  if (block.terminator != format_.terminator() || slot.carried > block.rows.size()) damaged(cursor, number);
  if (slot.bytes == block.contents.used_bytes) return;
  slot.rows_end = end_of_rows(slot, slot.bytes);
  slot.goes_on = false;
  if (slot.rows_end == nullptr) damaged(cursor, number);
}

void MergeCursors::damaged(const MergeCursor& cursor, std::uint64_t block) const {
  files_.damaged(files_.run(cursor.input->run.stored), block);
}

// The line that went out last may lie where a block is about to go.
void MergeCursors::keep_last_line(const MergeCursor& cursor) {
  if (last_ == nullptr || !last_->is_there || last_->cursor != cursor.index) return;
  const std::size_t size = last_->text.size();
  if (size > last_->copy.size()) {
    last_->copy = Buffer();
    last_->copy = allocate(cursor, size);
  }
  if (size > 0) std::memcpy(last_->copy.data(), last_->text.data(), size);
  last_->text = Text(reinterpret_cast<const char*>(last_->copy.data()), size);
  last_->cursor = no_cursor;
}

Buffer MergeCursors::allocate(const MergeCursor& cursor, std::size_t bytes) {
  if (budget_.used_bytes() + round_up(bytes, page_bytes) > budget_.limit_bytes())
    throw NotEnoughMemory(fmt::format("{}: long lines of several files do not fit in the memory at a time", cursor.input->name),
                          plan_.memory_bytes);
  return budget_.allocate(bytes, "long lines");
}

// Returns how much suffices for the line of which `tail` bytes are here; 0 where it cannot be looked at in a file.
std::uint64_t MergeCursors::memory_for(const MergeCursor& cursor, std::size_t tail) const {
  const MergeInput& input = *cursor.input;
  if (!cursor.is_plain || input.kept != nullptr || input.decoded != nullptr || input.file->facts().is_stream) return 0;
  const std::uint64_t end = input.file->facts().start_offset + (cursor.consumed_end + 1) * plan_.block_bytes;
  return memory_for_row(input.name, end - tail, format_);
}

// Twice as much, or what a line needs, in one slot from now on. The beginning of the line and what was fetched ahead go
// along.
Task<void> MergeCursors::make_room(MergeCursor& cursor, std::size_t tail) {
  const std::uint64_t most = largest_room(plan_);
  if (!cursor.is_plain)
    throw VerificationError("verification failed: a line of a run is longer than its longest one; the output was not written");
  if (tail > most)
    throw NotEnoughMemory(
        fmt::format("{}: a line is longer than {}, a quarter of the memory", cursor.input->name, format_bytes(most)),
        plan_.memory_bytes, memory_for(cursor, tail));
  MergeCursor::Slot& ahead = cursor.slots[1 - cursor.present];
  while (ahead.loading) co_await loaded_.changed();
  keep_last_line(cursor);
  const std::uint64_t room = std::min(std::max(room_growth * cursor.room, round_up(tail, page_bytes)), most);
  Buffer memory = allocate(cursor, room + plan_.block_bytes + page_bytes);
  std::byte* const data = memory.data() + room;
  if (ahead.loaded) std::memcpy(data, ahead.data, ahead.bytes);
  std::memcpy(data - tail, cursor.at, tail);
  cursor.at = reinterpret_cast<const char*>(data) - tail;
  cursor.end = cursor.at + tail;
  MergeCursor::Slot& slot = cursor.slots[0];
  slot.bytes = ahead.bytes;
  slot.is_last = ahead.is_last;
  slot.loaded = ahead.loaded.load();
  slot.data = data;
  cursor.slots[1].loaded = false;
  cursor.present = 0;
  cursor.slot_count = 1;
  cursor.room = room;
  cursor.own_memory = std::move(memory);
}

// The block in `slot` is next; `tail` bytes of a line lie in front of it.
void MergeCursors::enter(MergeCursor& cursor, unsigned slot, std::size_t tail) {
  MergeCursor::Slot& block = cursor.slots[slot];
  block.loaded.store(false, std::memory_order_relaxed);
  const char* const data = reinterpret_cast<const char*>(block.data);
  if (cursor.has_block) ++cursor.consumed_end;
  cursor.present = slot;
  cursor.at_last_block = block.is_last;
  cursor.is_truncated = block.is_truncated;
  if (block.is_truncated) {
    if (!enter_truncated(cursor, block, tail, cursor.skipped)) damaged(cursor);
  } else {
    cursor.searched = cursor.has_block ? data : data + cursor.skipped;
    cursor.at = cursor.searched - tail;
    cursor.end = data + block.bytes;
    if (cursor.marker.is_on()) mark_records(cursor, block);
  }
  cursor.has_block = true;
}

// In the block of a plain file, which begins behind what is there of a record.
void MergeCursors::mark_records(MergeCursor& cursor, const MergeCursor::Slot& block) {
  cursor.searched -= cursor.marker.open_bytes();
  const auto fault = cursor.marker.mark(reinterpret_cast<char*>(block.data), block.bytes, block.is_last);
  if (!fault) return;
  const auto at = cursor.bytes_before + static_cast<std::uint64_t>(fault->at - cursor.at);
  refused_ = &cursor;
  throw refused_row(fmt::format("{}: byte {}: {}", formats::shown_name(cursor.input->name), at, fault->why), {});
}

// Continues to the other slot if its block is here; what there is of a line moves in front of it.
bool MergeCursors::advance(MergeCursor& cursor) {
  const std::size_t tail = tail_of(cursor);
  if (cursor.slot_count == 1 || !cursor.has_block || tail > cursor.room) return false;
  const unsigned next = 1 - cursor.present;
  if (!cursor.slots[next].loaded.load(std::memory_order_acquire)) return false;
  keep_last_line(cursor);
  if (tail > 0) std::memcpy(cursor.slots[next].data - tail, cursor.at, tail);
  enter(cursor, next, tail);
  emptied_.push_back(cursor.index);
  return true;
}

// A single slot, and the first block, are requested now.
Task<void> MergeCursors::next_block(MergeCursor& cursor) {
  const std::size_t tail = tail_of(cursor);
  if (tail > cursor.room) co_await make_room(cursor, tail);
  if (cursor.slot_count == 2 && cursor.has_block) {
    while (!advance(cursor)) co_await loaded_.changed();
    refill();
    co_return;
  }
  keep_last_line(cursor);
  MergeCursor::Slot& slot = cursor.slots[cursor.present];
  if (tail > 0) std::memmove(slot.data - tail, cursor.at, tail);
  request(cursor);
  while (!slot.loaded) co_await loaded_.changed();
  enter(cursor, cursor.present, tail);
  emptied_.push_back(cursor.index);
  refill();
}

void MergeCursors::refill() {
  for (const std::size_t index : emptied_) {
    release_consumed(*cursors_[index]);
    if (cursors_[index]->slot_count == 2) request(*cursors_[index]);
  }
  emptied_.clear();
}

Task<void> MergeCursors::check_rest(MergeCursor& cursor) {
  if (cursor.input->decoded == nullptr) co_return;
  for (const MergeCursor::Slot& slot : cursor.slots)
    while (slot.loading) co_await loaded_.changed();
  co_await cursor.input->decoded->check_rest(background_, {cursor.slots[cursor.present].data, plan_.block_bytes});
}

// A line that began in the block before lies in front of the present one.
std::uint64_t MergeCursors::position(const MergeCursor& cursor) const {
  if (cursor.exhausted) return cursor.lines_end;
  const std::uint64_t block = cursor.consumed_end * cursor.input->run.payload(plan_.block_bytes);
  if (!cursor.has_block) return block + cursor.skipped;
  if (cursor.is_truncated) return block + static_cast<std::uint64_t>(place_in_block(cursor));
  return block + static_cast<std::uint64_t>(cursor.at - reinterpret_cast<const char*>(cursor.slots[cursor.present].data));
}

CommonOfSome MergeCursors::common_of_some(const RowCodes& codes) const {
  constexpr std::size_t most_rows = 32;
  CommonOfSome common;
  formats::Inside inside;
  for (const auto& cursor : cursors_) {
    if (cursor->exhausted) continue;
    if (cursor->is_truncated) {
      add_shared(*cursor, most_rows, common.bytes);
      continue;
    }
    Text before = cursor->line();
    for (std::size_t i = 0; i < most_rows; ++i) {
      const char* const at = before.data() + before.size() + 1;
      const char* const end = at < cursor->end ? format_.find_end(at, cursor->end, inside) : nullptr;
      if (end == nullptr) break;
      const Text row(at, static_cast<std::size_t>(end - at));
      if (codes.have_equal_keys(before, row))
        common.bytes.push_back(RowCodes::common(before, row));
      else
        ++common.others;
      before = row;
    }
  }
  return common;
}

void MergeCursors::release_consumed(MergeCursor& cursor) {
  const std::uint64_t end = std::min(cursor.consumed_end, cursor.release_limit);
  if (cursor.is_plain || end < cursor.released_end + release_blocks_) return;
  background_.spawn(files_.give_back(cursor.input->run, cursor.released_end, end));
  cursor.released_end = end;
}

}  // namespace ecosort::engine::rows
