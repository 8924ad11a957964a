#include "lines/merge_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "base/size_text.h"
#include "base/uint128.h"
#include "lines/index_lines.h"
#include "lines/line_run.h"

namespace ecosort::lines {
namespace {

constexpr std::uint64_t release_blocks = 32;     // given back at a time
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

}  // namespace

MergeFit fit_merge(const LinePlan& plan, const std::vector<MergeInput>& inputs, std::size_t first) {
  for (const unsigned slots : {2U, 1U}) {
    std::uint64_t bytes = 0, longest = 0, kept = 0;  // kept: for a longer line of a plain file
    std::size_t fit = 0;
    for (std::size_t i = first; i < inputs.size() && fit < plan.batch_size; ++i, ++fit) {
      bytes += slots * slot_bytes(plan, inputs[i]);
      if (inputs[i].is_plain) kept = kept_for_longer_lines(plan);
      longest = std::max<std::uint64_t>({longest, room_before(plan, inputs[i]), inputs[i].is_plain ? largest_room(plan) : 0});
      if (bytes + longest + kept > plan.merge_bytes()) break;
    }
    if (fit >= std::min<std::size_t>(2, inputs.size() - first)) return {fit, slots};
  }
  return {0, 0};
}

struct MergeLines::Source {
  MergeInput input;
  std::size_t index = 0;
  std::size_t room = 0;
  std::uint64_t blocks = 0;      // of a stored run
  std::uint64_t next_block = 0;  // to be requested
  std::uint64_t consumed_blocks = 0, released_blocks = 0;
  struct Slot {
    std::byte* data = nullptr;  // of the block; `room` bytes lie before
    std::size_t bytes = 0;      // of lines that came
    bool loading = false, loaded = false, is_last = false;
  };
  Slot slots[2];
  unsigned slot_count = 2;
  unsigned present = 0;  // the slot that is merged
  Buffer own_memory;     // of the one slot of a file with long lines
  bool has_block = false;
  const char* at = nullptr;  // the line
  const char* line_end = nullptr;
  const char* searched = nullptr;
  const char* end = nullptr;  // of the bytes that are here
  bool at_last_block = false, exhausted = false;
  records::KeyWindow window{};

  [[nodiscard]] Text line() const noexcept { return {at, static_cast<std::size_t>(line_end - at)}; }
};

// A loser tree over the sources: the windows are compared first, then the lines, then the order of the sources.
//
// A node holds a window above the number of its source. The smaller one goes up and the larger one stays without a branch,
// because nobody can predict which it is; only equal windows are looked at more closely. The number of leaves is a power of two;
// those beyond the sources, and exhausted sources, hold the largest window there is.
class MergeLines::Tree {
 public:
  Tree(const LineOrder& order, const std::vector<std::unique_ptr<Source>>& sources) : order_(order), sources_(sources) {
    while (leaves_ < sources.size()) leaves_ *= 2;
    losers_.resize(leaves_);
  }

  void build() { winner_ = build(1); }
  [[nodiscard]] std::size_t winner() const noexcept { return winner_.source(); }
  [[nodiscard]] bool empty() const noexcept { return !is_live(winner_.source()); }

  // The line of the winner changed, or it is exhausted.
  void replay() {
    const std::size_t source = winner_.source();
    Node climbing = leaf(source);
    for (std::size_t at = (source + leaves_) / 2; at > 0; at /= 2) {
      Node& stays = losers_[at];
      const bool wins = stays.key < climbing.key;
      if (stays.key >> 32U == climbing.key >> 32U) [[unlikely]] {
        if (wins_tie(stays.source(), climbing.source())) std::swap(stays, climbing);
        continue;
      }
      const uint128 changed = (stays.key ^ climbing.key) & -static_cast<uint128>(wins);
      stays.key ^= changed;
      climbing.key ^= changed;
    }
    winner_ = climbing;
  }

 private:
  struct Node {
    uint128 key = 0;  // 12 bytes of window, 4 of source

    [[nodiscard]] std::size_t source() const noexcept { return static_cast<std::uint32_t>(key); }
  };

  [[nodiscard]] bool is_live(std::size_t source) const { return source < sources_.size() && !sources_[source]->exhausted; }

  [[nodiscard]] Node leaf(std::size_t source) const {
    records::KeyWindow window{~std::uint64_t{0}, ~std::uint32_t{0}};
    if (is_live(source)) window = sources_[source]->window;
    return {make_uint128(window.prefix, std::uint64_t{window.extension} << 32U | source)};
  }

  // Windows are equal, so that one of them may even be that of an exhausted source.
  [[nodiscard]] bool wins_tie(std::size_t a, std::size_t b) const {
    if (!is_live(a)) return false;
    if (!is_live(b)) return true;
    const Source &x = *sources_[a], &y = *sources_[b];
    unsigned level = 0;
    const int order = tie_is_decided(order_, x.window, level) ? 0 : order_.compare(x.line(), y.line(), level);
    return order != 0 ? order < 0 : a < b;
  }

  Node build(std::size_t node) {
    if (node >= leaves_) return leaf(node - leaves_);
    const Node left = build(2 * node), right = build(2 * node + 1);
    const bool is_tie = left.key >> 32U == right.key >> 32U;
    const bool right_wins = is_tie ? wins_tie(right.source(), left.source()) : right.key < left.key;
    losers_[node] = right_wins ? left : right;
    return right_wins ? right : left;
  }

  const LineOrder& order_;
  const std::vector<std::unique_ptr<Source>>& sources_;
  std::size_t leaves_ = 2;
  std::vector<Node> losers_;
  Node winner_;
};

MergeLines::MergeLines(io::Reactor& reactor, pipeline::Compute& compute, RunFiles& files, MemoryBudget& memory,
                       const LinePlan& plan, const LineOrder& order, const MergeTerms& terms, std::vector<MergeInput> inputs,
                       unsigned slots)
    : reactor_(reactor),
      compute_(compute),
      files_(files),
      plan_(plan),
      order_(order),
      budget_(memory),
      terms_(terms),
      background_(reactor.gate()),
      loaded_(reactor.gate()) {
  std::uint64_t bytes = 0, longest = 0;
  for (const MergeInput& input : inputs) {
    bytes += slots * slot_bytes(plan, input);
    longest = std::max<std::uint64_t>(longest, room_before(plan, input));
  }
  memory_ = memory.allocate(bytes, "merge blocks");
  last_memory_ = memory.allocate(longest, "last line");
  std::byte* at = memory_.data();
  for (MergeInput& input : inputs) {
    auto source = std::make_unique<Source>();
    source->index = sources_.size();
    source->room = room_before(plan, input);
    source->slot_count = slots;
    for (unsigned slot = 0; slot < slots; ++slot, at += slot_bytes(plan, input)) source->slots[slot].data = at + source->room;
    source->blocks = input.is_plain ? UINT64_MAX : input.run.blocks(plan.block_bytes);
    source->exhausted = source->blocks == 0;
    source->input = std::move(input);
    sources_.push_back(std::move(source));
  }
  tree_ = std::make_unique<Tree>(order_, sources_);
}

MergeLines::~MergeLines() = default;

// Begins to fetch the next block of the source into the slot that is not merged.
void MergeLines::request(Source& source) {
  const unsigned slot = source.has_block && source.slot_count == 2 ? 1 - source.present : source.present;
  if (source.next_block >= source.blocks || source.slots[slot].loading || source.slots[slot].loaded) return;
  source.slots[slot].loading = true;
  source.slots[slot].loaded = false;
  background_.spawn(load(source, slot, source.next_block++));
}

Task<void> MergeLines::load(Source& source, unsigned index, std::uint64_t block) {
  Source::Slot& slot = source.slots[index];
  const io::File& file = *source.input.run.file;
  if (source.input.is_plain) {
    slot.bytes =
        co_await reactor_.read(file, file.facts().start_offset + block * plan_.block_bytes, slot.data, plan_.block_bytes, 0);
    slot.is_last = slot.bytes < plan_.block_bytes;
    if (slot.is_last) source.blocks = block + 1;
  } else {
    const std::size_t size = plan_.block_bytes, payload = size - block_checksum_bytes;
    (void)co_await reactor_.read(file, block * size, slot.data, size, size);
    RunFiles::check(source.input.run, block, slot.data, size);  // on the coordinator, which has little else to do
    slot.bytes = std::min<std::uint64_t>(payload, source.input.run.bytes - block * payload);
    slot.is_last = block + 1 == source.blocks;
  }
  slot.loading = false;
  slot.loaded = true;
  loaded_.notify();
}

// The line that went out last may lie where a block is about to go.
void MergeLines::keep_last_line(const Source& source) {
  if (!has_last_ || last_source_ != source.index || !(terms_.must_be_ordered || terms_.unique)) return;
  if (last_.size() > last_memory_.size()) {
    last_memory_ = Buffer();
    last_memory_ = allocate(source, last_.size());
  }
  if (!last_.empty()) std::memcpy(last_memory_.data(), last_.data(), last_.size());
  last_ = Text(reinterpret_cast<const char*>(last_memory_.data()), last_.size());
  last_source_ = SIZE_MAX;
}

Buffer MergeLines::allocate(const Source& source, std::size_t bytes) {
  if (budget_.used_bytes() + round_up(bytes, page_bytes) > budget_.limit_bytes())
    throw UsageError(
        fmt::format("{}: long lines of several files do not fit in the memory at a time; give more with -S", source.input.name));
  return budget_.allocate(bytes, "long lines");
}

// Twice as much, or what a line needs, in one slot from now on. The beginning of the line and what was fetched ahead go
// along.
Task<void> MergeLines::make_room(Source& source, std::size_t tail) {
  const std::uint64_t most = largest_room(plan_);
  if (tail > most)
    throw UsageError(fmt::format("{}: a line is longer than {}, a quarter of the memory; give more with -S", source.input.name,
                                 format_bytes(most)));
  Source::Slot& ahead = source.slots[1 - source.present];
  while (ahead.loading) co_await loaded_.changed();
  keep_last_line(source);
  const std::uint64_t room = std::min(std::max(room_growth * source.room, round_up(tail, page_bytes)), most);
  Buffer memory = allocate(source, room + plan_.block_bytes + page_bytes);
  Source::Slot moved = ahead;
  moved.data = memory.data() + room;
  if (ahead.loaded) std::memcpy(moved.data, ahead.data, ahead.bytes);
  std::memcpy(moved.data - tail, source.at, tail);
  source.at = reinterpret_cast<const char*>(moved.data) - tail;
  source.end = source.at + tail;
  source.slots[0] = moved;
  source.slots[1] = {};
  source.present = 0;
  source.slot_count = 1;
  source.room = room;
  source.own_memory = std::move(memory);
}

// Goes on to the next block; what there is of a line moves in front of it.
Task<void> MergeLines::next_block(Source& source) {
  const auto tail = static_cast<std::size_t>(source.end - source.at);
  if (tail > source.room) co_await make_room(source, tail);
  keep_last_line(source);
  const unsigned next = source.has_block && source.slot_count == 2 ? 1 - source.present : source.present;
  Source::Slot& slot = source.slots[next];
  char* const begin = reinterpret_cast<char*>(slot.data) - tail;
  if (source.slot_count == 1 || !source.has_block) {
    if (tail > 0) std::memmove(begin, source.at, tail);
    request(source);
  }
  while (!slot.loaded) co_await loaded_.changed();
  if (source.slot_count == 2 && tail > 0) std::memcpy(begin, source.at, tail);
  slot.loaded = false;
  if (source.has_block) ++source.consumed_blocks;
  source.has_block = true;
  source.present = next;
  source.at = begin;
  source.searched = reinterpret_cast<const char*>(slot.data);
  source.end = source.searched + slot.bytes;
  source.at_last_block = slot.is_last;
  release_consumed(source);
  if (source.slot_count == 2) request(source);
}

// Whether the line that begins at `at` is complete; then its window is taken. An input's last line may lack its end.
bool MergeLines::find_line(Source& source) {
  if (source.at == nullptr) return false;
  const void* found = std::memchr(source.searched, terms_.terminator, static_cast<std::size_t>(source.end - source.searched));
  if (found == nullptr) {
    if (!source.at_last_block) return false;
    if (source.at == source.end) {
      source.exhausted = true;
      return true;
    }
    *const_cast<char*>(source.end) = terms_.terminator;
    found = source.end++;
  }
  source.line_end = static_cast<const char*>(found);
  source.window = order_.window(source.line());
  for (std::size_t ahead = 64; ahead < 256; ahead += 64) __builtin_prefetch(source.line_end + ahead);
  return true;
}

Task<void> MergeLines::next_line_begins(std::size_t index) {
  Source& source = *sources_[index];
  while (!source.exhausted && !find_line(source)) co_await next_block(source);
}

void MergeLines::release_consumed(Source& source) {
  if (source.input.is_plain || source.consumed_blocks < source.released_blocks + release_blocks) return;
  background_.spawn(files_.release(source.input.run, source.released_blocks, source.consumed_blocks));
  source.released_blocks = source.consumed_blocks;
}

void MergeLines::out_of_order() const {
  throw VerificationError("verification failed: the merged lines would not be in order; the output was not written");
}

// The winner's line is next. False if it is dropped because it equals the last one.
bool MergeLines::choose() {
  const Source& source = *sources_[tree_->winner()];
  const Text line = source.line();
  if (terms_.must_be_ordered || terms_.unique) {
    if (has_last_ && source.window.prefix == last_window_.prefix && source.window.extension == last_window_.extension) {
      unsigned level = 0;
      const int order = tie_is_decided(order_, source.window, level) ? 0 : order_.compare(last_, line, level);
      if (order == 0 && terms_.unique) {
        add_line(merged_.dropped, line);
        return false;
      }
      if (order > 0 && terms_.must_be_ordered) out_of_order();
    } else if (has_last_ && terms_.must_be_ordered) {
      const bool ascends = last_window_.prefix != source.window.prefix ? last_window_.prefix < source.window.prefix
                                                                       : last_window_.extension < source.window.extension;
      if (!ascends) out_of_order();
    }
  }
  has_last_ = true;
  last_ = line;
  last_window_ = source.window;
  last_source_ = source.index;
  return true;
}

// Copies the present line into the block. False when the block is full before the line is complete.
bool MergeLines::emit(char* block, std::size_t capacity) {
  const std::size_t part = std::min(emitting_.size(), capacity - filled_);
  if (part > 0) std::memcpy(block + filled_, emitting_.data(), part);
  emitting_.remove_prefix(part);
  filled_ += part;
  return emitting_.empty();
}

MergeLines::Reason MergeLines::merge_some(char* block, std::size_t capacity) {
  while (true) {
    if (!is_emitting_) {
      if (tree_->empty()) return Reason::finished;
      Source& source = *sources_[tree_->winner()];
      if (!terms_.must_be_ordered) add_line(merged_.in, source.line());
      merged_.longest = std::max(merged_.longest, source.line().size() + 1);
      is_emitting_ = choose();
      if (is_emitting_) emitting_ = Text(source.at, source.line().size() + 1);
    }
    if (is_emitting_) {
      const std::size_t whole = emitting_.size(), at = filled_;
      const bool is_whole = whole == last_.size() + 1;
      if (!emit(block, capacity)) return Reason::block_full;
      add_line(merged_.out, is_whole ? Text(block + at, whole - 1) : last_);
      is_emitting_ = false;
    }
    Source& source = *sources_[tree_->winner()];
    source.at = source.searched = source.line_end + 1;
    if (!find_line(source)) {
      waiting_ = tree_->winner();
      return Reason::needs_block;
    }
    tree_->replay();
  }
}

Task<void> MergeLines::start() {
  for (const auto& source : sources_)
    if (!source->exhausted) request(*source);
  for (std::size_t i = 0; i < sources_.size(); ++i) co_await next_line_begins(i);
  tree_->build();
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
      sink.put(block, filled_);
      filled_ = 0;
      block = co_await sink.take();
    }
    co_await start();
    for (Reason reason = Reason::block_full; reason != Reason::finished;) {
      auto work = compute_.run([&] { reason = merge_some(reinterpret_cast<char*>(block), sink.capacity()); });
      co_await work;
      if (reason == Reason::needs_block) {
        co_await next_line_begins(waiting_);
        tree_->replay();
      } else if (reason == Reason::block_full) {
        sink.put(block, filled_);
        filled_ = 0;
        block = co_await sink.take();
      }
    }
    sink.put(block, filled_);
  } catch (...) {  // what is under way still uses the blocks
    reactor_.gate().fail(std::current_exception());
  }
  try {
    co_await sink.settle();
  } catch (const Cancelled&) {
  }
  co_await background_.join();
  for (const auto& source : sources_)
    if (!source->input.is_plain) files_.forget(source->input.run, source->released_blocks);
}

}  // namespace ecosort::lines
