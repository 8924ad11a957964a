#include "lines/merge_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/errors.h"
#include "base/size_text.h"
#include "lines/index_lines.h"
#include "lines/line_run.h"

namespace ecosort::lines {
namespace {

constexpr std::uint64_t release_blocks = 32;     // given back at a time
constexpr std::uint64_t longest_line_share = 4;  // of the memory: what a line may take
constexpr std::uint64_t room_growth = 2;
constexpr std::size_t most_blocks_at_once = 3;  // of output, between two words with the coordinator

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

MergeLines::MergeLines(io::Reactor& reactor, pipeline::Compute& compute, RunFiles& files, MemoryBudget& memory,
                       const LinePlan& plan, const LineOrder& order, const MergeTerms& terms, std::vector<MergeInput> inputs,
                       unsigned slots)
    : reactor_(reactor),
      compute_(compute),
      files_(files),
      plan_(plan),
      order_(order),
      kernels_(line_kernels()),
      budget_(memory),
      terms_(terms),
      background_(reactor.gate()),
      loaded_(reactor.gate()),
      out_(kernels_) {
  std::uint64_t bytes = 0, longest = 0;
  for (const MergeInput& input : inputs) {
    bytes += slots * slot_bytes(plan, input);
    longest = std::max<std::uint64_t>(longest, room_before(plan, input));
  }
  memory_ = memory.allocate(bytes, "merge blocks");
  last_memory_ = memory.allocate(longest, "last line");
  std::byte* at = memory_.data();
  for (MergeInput& input : inputs) {
    auto source = std::make_unique<MergeSource>();
    source->index = sources_.size();
    source->room = room_before(plan, input);
    source->slot_count = slots;
    for (unsigned slot = 0; slot < slots; ++slot, at += slot_bytes(plan, input)) source->slots[slot].data = at + source->room;
    source->blocks = input.is_plain ? UINT64_MAX : input.run.blocks(plan.block_bytes);
    source->exhausted = source->blocks == 0;
    source->input = std::move(input);
    sources_.push_back(std::move(source));
  }
  tree_ = std::make_unique<MergeTree>(order_, sources_);
}

MergeLines::~MergeLines() = default;

// Begins to fetch the next block of the source into the slot that is not merged.
void MergeLines::request(MergeSource& source) {
  const unsigned slot = source.has_block && source.slot_count == 2 ? 1 - source.present : source.present;
  if (source.next_block >= source.blocks || source.slots[slot].loading || source.slots[slot].loaded) return;
  source.slots[slot].loading = true;
  source.slots[slot].loaded = false;
  background_.spawn(load(source, slot, source.next_block++));
}

Task<void> MergeLines::load(MergeSource& source, unsigned index, std::uint64_t block) {
  MergeSource::Slot& slot = source.slots[index];
  if (source.input.is_plain) {
    const io::File& file = *source.input.run.file;
    slot.bytes =
        co_await reactor_.read(file, file.facts().start_offset + block * plan_.block_bytes, slot.data, plan_.block_bytes, 0);
    slot.is_last = slot.bytes < plan_.block_bytes;
    if (slot.is_last) source.blocks = block + 1;
  } else {
    const std::size_t size = plan_.block_bytes, payload = size - block_checksum_bytes;
    co_await files_.read(source.input.run, block, slot.data);
    RunFiles::check(source.input.run, block, slot.data, size);  // on the coordinator, which has little else to do
    slot.bytes = std::min<std::uint64_t>(payload, source.input.run.bytes - block * payload);
    slot.is_last = block + 1 == source.blocks;
  }
  slot.loading = false;
  slot.loaded = true;
  loaded_.notify();
}

// The line that went out last may lie where a block is about to go.
void MergeLines::keep_last_line(const MergeSource& source) {
  if (!has_last_ || last_source_ != source.index || !(terms_.must_be_ordered || terms_.unique)) return;
  if (last_.size() > last_memory_.size()) {
    last_memory_ = Buffer();
    last_memory_ = allocate(source, last_.size());
  }
  if (!last_.empty()) std::memcpy(last_memory_.data(), last_.data(), last_.size());
  last_ = Text(reinterpret_cast<const char*>(last_memory_.data()), last_.size());
  last_source_ = SIZE_MAX;
}

Buffer MergeLines::allocate(const MergeSource& source, std::size_t bytes) {
  if (budget_.used_bytes() + round_up(bytes, page_bytes) > budget_.limit_bytes())
    throw UsageError(
        fmt::format("{}: long lines of several files do not fit in the memory at a time; give more with -S", source.input.name));
  return budget_.allocate(bytes, "long lines");
}

// Twice as much, or what a line needs, in one slot from now on. The beginning of the line and what was fetched ahead go
// along.
Task<void> MergeLines::make_room(MergeSource& source, std::size_t tail) {
  const std::uint64_t most = largest_room(plan_);
  if (tail > most)
    throw UsageError(fmt::format("{}: a line is longer than {}, a quarter of the memory; give more with -S", source.input.name,
                                 format_bytes(most)));
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
void MergeLines::enter(MergeSource& source, unsigned slot, std::size_t tail) {
  MergeSource::Slot& block = source.slots[slot];
  block.loaded.store(false, std::memory_order_relaxed);
  if (source.has_block) ++source.consumed_blocks;
  source.has_block = true;
  source.present = slot;
  source.searched = reinterpret_cast<const char*>(block.data);
  source.at = source.searched - tail;
  source.end = source.searched + block.bytes;
  source.at_last_block = block.is_last;
}

// Goes on to the other slot if its block is here; what there is of a line moves in front of it.
bool MergeLines::advance(MergeSource& source) {
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

// The same on the coordinator, which waits for the block. A single slot, and the first block, are requested now.
Task<void> MergeLines::next_block(MergeSource& source) {
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

// Blocks that were merged make room for those that follow.
void MergeLines::refill() {
  for (const std::size_t index : emptied_) {
    release_consumed(*sources_[index]);
    if (sources_[index]->slot_count == 2) request(*sources_[index]);
  }
  emptied_.clear();
}

// Whether the line that begins at `at` is complete; then its window is taken. An input's last line may lack its end.
bool MergeLines::find_line(MergeSource& source) {
  if (source.at == nullptr) return false;
  const char* found = kernels_.find(source.searched, source.end, terms_.terminator);
  if (found == nullptr) {
    if (!source.at_last_block) return false;
    if (source.at == source.end) {
      source.exhausted = true;
      return true;
    }
    *const_cast<char*>(source.end) = terms_.terminator;
    found = source.end++;
  }
  source.line_end = found;
  source.window = order_.window(source.line());
  for (std::size_t ahead = 64; ahead < 256; ahead += 64) __builtin_prefetch(source.line_end + ahead);
  return true;
}

Task<void> MergeLines::next_line_begins(std::size_t index) {
  MergeSource& source = *sources_[index];
  while (!source.exhausted && !find_line(source)) co_await next_block(source);
}

void MergeLines::release_consumed(MergeSource& source) {
  if (source.input.is_plain || source.consumed_blocks < source.released_blocks + release_blocks) return;
  background_.spawn(files_.release(source.input.run, source.released_blocks, source.consumed_blocks));
  source.released_blocks = source.consumed_blocks;
}

void MergeLines::out_of_order() const {
  throw VerificationError("verification failed: the merged lines would not be in order; the output was not written");
}

// The source's line is next. False if it is dropped because it equals the last one.
bool MergeLines::choose(const MergeSource& source) {
  if (has_last_ && (terms_.must_be_ordered || terms_.unique)) {
    if (source.window.prefix == last_window_.prefix && source.window.extension == last_window_.extension) {
      unsigned level = 0;
      const int order = tie_is_decided(order_, source.window, level) ? 0 : order_.compare(last_, source.line(), level);
      if (order == 0 && terms_.unique) {
        add_line(merged_.dropped, source.line());
        return false;
      }
      if (order > 0 && terms_.must_be_ordered) out_of_order();
    } else if (terms_.must_be_ordered) {
      const bool ascends = last_window_.prefix != source.window.prefix ? last_window_.prefix < source.window.prefix
                                                                       : last_window_.extension < source.window.extension;
      if (!ascends) out_of_order();
    }
  }
  has_last_ = true;
  last_ = source.line();
  last_window_ = source.window;
  last_source_ = source.index;
  return true;
}

// Copies the source's line into the block; one that does not fit goes on in the next block. Most are copied in one piece of
// constant size: what lies behind them in the block is overwritten later.
bool MergeLines::emit(const MergeSource& source, char* block, std::size_t capacity) {
  const std::size_t size = source.line().size() + 1, room = capacity - filled_;
  char* const to = block + filled_;
  if (size > room) {
    emitting_ = Text(source.at, size);
    return go_on_emitting(block, capacity);
  }
  if (size <= short_copy_step && room >= short_copy_step)
    std::memcpy(to, source.at, short_copy_step);
  else if (size <= copy_step && room >= copy_step)
    std::memcpy(to, source.at, copy_step);
  else
    std::memcpy(to, source.at, size);
  out_.add(Text(to, size - 1));
  filled_ += size;
  return true;
}

// False when the block is full before the line is complete.
bool MergeLines::go_on_emitting(char* block, std::size_t capacity) {
  const std::size_t part = std::min(emitting_.size(), capacity - filled_);
  if (part > 0) std::memcpy(block + filled_, emitting_.data(), part);
  emitting_.remove_prefix(part);
  filled_ += part;
  if (emitting_.empty()) out_.add(last_);
  return emitting_.empty();
}

MergeLines::Reason MergeLines::merge_some(char* block, std::size_t capacity) {
  for (bool is_emitting = !emitting_.empty(); is_emitting || !tree_->empty(); tree_->replay(), is_emitting = false) {
    MergeSource& source = tree_->winner();
    if (is_emitting) {
      if (!go_on_emitting(block, capacity)) return Reason::block_full;
    } else {
      if (!terms_.must_be_ordered) add_line(merged_.in, source.line());
      merged_.longest = std::max(merged_.longest, source.line().size() + 1);
      if (choose(source) && !emit(source, block, capacity)) return Reason::block_full;
    }
    source.at = source.searched = source.line_end + 1;
    while (!find_line(source)) {
      if (advance(source)) continue;
      waiting_ = source.index;
      return Reason::needs_block;
    }
  }
  return Reason::finished;
}

Task<void> MergeLines::start() {
  for (const auto& source : sources_)
    if (!source->exhausted) request(*source);
  for (std::size_t i = 0; i < sources_.size(); ++i) co_await next_line_begins(i);
  tree_->build();
}

// Goes on in the first of the blocks; returns how many became full.
std::size_t MergeLines::merge_blocks(const std::vector<std::byte*>& blocks, const LineSink& sink, Reason& reason) {
  std::size_t full = 0;
  for (; full < blocks.size(); ++full) {
    reason = merge_some(reinterpret_cast<char*>(blocks[full]), sink.capacity());
    out_.settle();
    if (reason != Reason::block_full) break;
    sink.complete(blocks[full], filled_, full);
    filled_ = 0;
  }
  return full;
}

// The first of `blocks` is there and holds what goes before the lines.
Task<void> MergeLines::merge_all(LineSink& sink, std::vector<std::byte*>& blocks) {
  const std::size_t most_blocks = std::clamp<std::size_t>(sources_.size() / 4, 1, most_blocks_at_once);
  for (Reason reason = Reason::block_full; reason != Reason::finished;) {
    while (blocks.empty() || (blocks.size() < most_blocks && sink.has_idle_block())) blocks.push_back(co_await sink.take());
    std::size_t full = 0;
    auto work = compute_.run([&] { full = merge_blocks(blocks, sink, reason); });
    co_await work;
    refill();
    for (std::size_t i = 0; i < full; ++i) sink.put(blocks[i], sink.capacity());
    blocks.erase(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(full));
    if (reason != Reason::needs_block) continue;
    co_await next_line_begins(waiting_);
    tree_->replay();
  }
}

Task<void> MergeLines::merge_to(LineSink& sink, const std::string& header) {
  try {
    std::byte* block = co_await sink.take();
    for (std::size_t done = 0; done < header.size();) {
      const std::size_t part = std::min(header.size() - done, sink.capacity() - filled_);
      std::memcpy(block + filled_, header.data() + done, part);
      done += part;
      filled_ += part;
      if (filled_ < sink.capacity()) break;
      sink.complete(block, filled_, 0);
      sink.put(block, filled_);
      filled_ = 0;
      block = co_await sink.take();
    }
    co_await start();
    std::vector<std::byte*> blocks{block};
    co_await merge_all(sink, blocks);
    sink.complete(blocks.front(), filled_, 0);
    sink.put(blocks.front(), filled_);
    for (std::size_t i = 1; i < blocks.size(); ++i) sink.give_back(blocks[i]);
  } catch (...) {  // what is under way still uses the blocks
    reactor_.gate().fail(std::current_exception());
  }
  try {
    co_await sink.settle();
  } catch (const Cancelled&) {
  }
  co_await background_.join();
  merged_.out = out_.sum();
  for (const auto& source : sources_)
    if (!source->input.is_plain) files_.forget(source->input.run, source->released_blocks);
}

}  // namespace ecosort::lines
