#include "lines/merge_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "base/size_text.h"

namespace ecosort::lines {
namespace {

constexpr std::uint64_t release_blocks = 32;     // of a run, given back at a time
constexpr std::uint64_t longest_line_share = 4;  // of the memory: what a line may take
constexpr std::uint64_t room_growth = 2;

// Bytes before a block for the beginning of a line, and behind it for an end that the last line lacks.
std::size_t room_before(const LinePlan& plan, const MergeInput& input) {
  const std::uint64_t longest = input.is_plain ? plan.block_bytes : input.run.longest;
  return round_up(longest + 1, page_bytes);
}

std::uint64_t slot_bytes(const LinePlan& plan, const MergeInput& input) {
  return room_before(plan, input) + plan.block_bytes + page_bytes;
}

std::uint64_t largest_room(const LinePlan& plan) { return round_up(plan.memory_bytes / longest_line_share, page_bytes); }

// Of plain files: the largest room, and the one before it while the line moves.
std::uint64_t kept_for_longer_lines(const LinePlan& plan) {
  const std::uint64_t most = largest_room(plan);
  return most + most / room_growth + 2 * (plan.block_bytes + page_bytes);
}

struct MergeBytes {
  std::uint64_t slots = 0, last_line = 0;
};

MergeBytes bytes_of(const LinePlan& plan, const std::vector<MergeInput>& inputs, unsigned slots) {
  MergeBytes bytes;
  for (const MergeInput& input : inputs) {
    bytes.slots += slots * slot_bytes(plan, input);
    bytes.last_line = std::max<std::uint64_t>(bytes.last_line, room_before(plan, input));
  }
  return bytes;
}

}  // namespace

MergeFit fit_merge(const LinePlan& plan, const std::vector<MergeInput>& inputs, std::size_t first) {
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

std::uint64_t merge_memory_bytes(const LinePlan& plan, const std::vector<MergeInput>& inputs, unsigned slots) {
  const MergeBytes bytes = bytes_of(plan, inputs, slots);
  return bytes.slots + bytes.last_line;
}

MergeSources::MergeSources(const MergeTools& tools, std::vector<MergeInput>& inputs, unsigned slots, const MergePart& part,
                           LastLine* last)
    : reactor_(tools.reactor),
      files_(tools.files),
      budget_(tools.memory),
      plan_(tools.plan),
      // With one less for each border, parts together keep no more space waiting than one merge does.
      release_blocks_(part.parts == 1 ? release_blocks : release_blocks / part.parts - 1),
      last_(last),
      background_(tools.reactor.gate()),
      loaded_(tools.reactor.gate()) {
  const MergeBytes bytes = bytes_of(plan_, inputs, slots);
  memory_ = budget_.allocate(bytes.slots, "merge blocks");
  if (last_ != nullptr) last_->copy = budget_.allocate(bytes.last_line, "last line");
  std::byte* at = memory_.data();
  for (MergeInput& input : inputs) {
    auto source = std::make_unique<MergeSource>();
    source->input = &input;
    source->index = sources_.size();
    source->room = room_before(plan_, input);
    source->slot_count = slots;
    for (unsigned slot = 0; slot < slots; ++slot, at += slot_bytes(plan_, input)) source->slots[slot].data = at + source->room;
    source->blocks = UINT64_MAX;
    if (!input.is_plain) limit(*source, part.ranges.empty() ? ByteRange{0, input.run.bytes} : part.ranges[source->index]);
    sources_.push_back(std::move(source));
  }
}

//   part before | this part                       | part behind
//   ..|.........:.....|...........|...........|...:.......|..       a block that two parts read is given back with the file
//               begin                             end
void MergeSources::limit(MergeSource& source, const ByteRange& range) const {
  const std::uint64_t payload = plan_.block_bytes - block_checksum_bytes;
  source.exhausted = range.begin == range.end;
  source.skipped = range.begin % payload;
  source.lines_end = range.end;
  source.next_block = source.consumed_end = range.begin / payload;
  source.blocks = source.exhausted ? source.next_block : div_up(range.end, payload);
  source.released_end = div_up(range.begin, payload);
  source.release_limit = range.end == source.input->run.bytes ? source.blocks : range.end / payload;
}

void MergeSources::request_first() {
  for (const auto& source : sources_)
    if (!source->exhausted) request(*source);
}

// Begins to fetch the next block of the source into the slot that is not merged.
void MergeSources::request(MergeSource& source) {
  const unsigned slot = source.has_block && source.slot_count == 2 ? 1 - source.present : source.present;
  if (source.next_block >= source.blocks || source.slots[slot].loading || source.slots[slot].loaded) return;
  source.slots[slot].loading = true;
  source.slots[slot].loaded = false;
  background_.spawn(load(source, slot, source.next_block++));
}

Task<void> MergeSources::load(MergeSource& source, unsigned index, std::uint64_t block) {
  MergeSource::Slot& slot = source.slots[index];
  if (source.input->is_plain) {
    const io::File& file = *source.input->run.file;
    slot.bytes =
        co_await reactor_.read(file, file.facts().start_offset + block * plan_.block_bytes, slot.data, plan_.block_bytes, 0);
    slot.is_last = slot.bytes < plan_.block_bytes;
    if (const FirstLook* const look = source.input->look; block == 0 && look != nullptr && *look)
      (*look)(source.input->name, {reinterpret_cast<const char*>(slot.data), slot.bytes});
    if (slot.is_last) source.blocks = block + 1;
  } else {
    const std::size_t bytes = co_await files_.read_checked(source.input->run, block, slot.data);
    const std::uint64_t before = block * (plan_.block_bytes - block_checksum_bytes);
    slot.bytes = std::min<std::uint64_t>(bytes, source.lines_end - before);
    slot.is_last = block + 1 == source.blocks;
  }
  slot.loading = false;
  slot.loaded = true;
  loaded_.notify();
}

// The line that went out last may lie where a block is about to go.
void MergeSources::keep_last_line(const MergeSource& source) {
  if (last_ == nullptr || !last_->is_there || last_->source != source.index) return;
  const std::size_t size = last_->text.size();
  if (size > last_->copy.size()) {
    last_->copy = Buffer();
    last_->copy = allocate(source, size);
  }
  if (size > 0) std::memcpy(last_->copy.data(), last_->text.data(), size);
  last_->text = Text(reinterpret_cast<const char*>(last_->copy.data()), size);
  last_->source = no_source;
}

Buffer MergeSources::allocate(const MergeSource& source, std::size_t bytes) {
  if (budget_.used_bytes() + round_up(bytes, page_bytes) > budget_.limit_bytes())
    throw NotEnoughMemory(fmt::format("{}: long lines of several files do not fit in the memory at a time", source.input->name),
                          plan_.memory_bytes);
  return budget_.allocate(bytes, "long lines");
}

// Twice as much, or what a line needs, in one slot from now on. The beginning of the line and what was fetched ahead go
// along.
Task<void> MergeSources::make_room(MergeSource& source, std::size_t tail) {
  const std::uint64_t most = largest_room(plan_);
  if (tail > most)
    throw NotEnoughMemory(
        fmt::format("{}: a line is longer than {}, a quarter of the memory", source.input->name, format_bytes(most)),
        plan_.memory_bytes);
  MergeSource::Slot& ahead = source.slots[1 - source.present];
  while (ahead.loading) co_await loaded_.changed();
  keep_last_line(source);
  const std::uint64_t room = std::min(std::max(room_growth * source.room, round_up(tail, page_bytes)), most);
  Buffer memory = allocate(source, room + plan_.block_bytes + page_bytes);
  std::byte* const data = memory.data() + room;
  if (ahead.loaded) std::memcpy(data, ahead.data, ahead.bytes);
  std::memcpy(data - tail, source.at, tail);
  source.at = reinterpret_cast<const char*>(data) - tail;
  source.end = source.at + tail;
  MergeSource::Slot& slot = source.slots[0];
  slot.bytes = ahead.bytes;
  slot.is_last = ahead.is_last;
  slot.loaded = ahead.loaded.load();
  slot.data = data;
  source.slots[1].loaded = false;
  source.present = 0;
  source.slot_count = 1;
  source.room = room;
  source.own_memory = std::move(memory);
}

// The block in `slot` is next; `tail` bytes of a line lie in front of it.
void MergeSources::enter(MergeSource& source, unsigned slot, std::size_t tail) {
  MergeSource::Slot& block = source.slots[slot];
  block.loaded.store(false, std::memory_order_relaxed);
  const char* const data = reinterpret_cast<const char*>(block.data);
  source.searched = source.has_block ? data : data + source.skipped;
  if (source.has_block) ++source.consumed_end;
  source.has_block = true;
  source.present = slot;
  source.at = source.searched - tail;
  source.end = data + block.bytes;
  source.at_last_block = block.is_last;
}

// Goes on to the other slot if its block is here; what there is of a line moves in front of it.
bool MergeSources::advance(MergeSource& source) {
  const auto tail = static_cast<std::size_t>(source.end - source.at);
  if (source.slot_count == 1 || !source.has_block || tail > source.room) return false;
  const unsigned next = 1 - source.present;
  if (!source.slots[next].loaded.load(std::memory_order_acquire)) return false;
  keep_last_line(source);
  if (tail > 0) std::memcpy(source.slots[next].data - tail, source.at, tail);
  enter(source, next, tail);
  emptied_.push_back(source.index);
  return true;
}

// A single slot, and the first block, are requested now.
Task<void> MergeSources::next_block(MergeSource& source) {
  const auto tail = static_cast<std::size_t>(source.end - source.at);
  if (tail > source.room) co_await make_room(source, tail);
  if (source.slot_count == 2 && source.has_block) {
    while (!advance(source)) co_await loaded_.changed();
    refill();
    co_return;
  }
  keep_last_line(source);
  MergeSource::Slot& slot = source.slots[source.present];
  if (tail > 0) std::memmove(slot.data - tail, source.at, tail);
  request(source);
  while (!slot.loaded) co_await loaded_.changed();
  enter(source, source.present, tail);
  emptied_.push_back(source.index);
  refill();
}

void MergeSources::refill() {
  for (const std::size_t index : emptied_) {
    release_consumed(*sources_[index]);
    if (sources_[index]->slot_count == 2) request(*sources_[index]);
  }
  emptied_.clear();
}

void MergeSources::release_consumed(MergeSource& source) {
  const std::uint64_t end = std::min(source.consumed_end, source.release_limit);
  if (source.input->is_plain || end < source.released_end + release_blocks_) return;
  background_.spawn(files_.release(source.input->run, source.released_end, end));
  source.input->released_blocks += end - source.released_end;
  source.released_end = end;
}

}  // namespace ecosort::lines
