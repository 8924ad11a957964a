#include "engine/rows/reread_lines.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "formats/lines/line_run.h"
#include "formats/shuffle/shuffle_format.h"

namespace ecosort::engine::rows {

std::uint64_t RereadLines::memory_bytes(std::size_t longest, std::size_t block_bytes) noexcept {
  return 2 * block_bytes + 3 * round_up(longest, page_bytes);
}

//   memory | room | block | room | block | last line |
RereadLines::RereadLines(const ReadTools& tools, const WrittenLines& lines)
    : reactor_(tools.bench.reactor),
      compute_(tools.bench.compute),
      format_(tools.format),
      is_shuffle_(shuffle::as_shuffle(format_) != nullptr),
      hashed_end_(format_.hashed_end()),
      marker_(format_.record_marks()),
      lines_(lines),
      block_bytes_(tools.plan.block_bytes),
      room_(round_up(lines.longest, page_bytes)),
      progress_(tools.bench.progress),
      memory_(tools.bench.memory.allocate(memory_bytes(lines.longest, block_bytes_), "blocks to read the output back")),
      blocks_{memory_.data() + room_, memory_.data() + 2 * room_ + block_bytes_},
      last_at_(memory_.data() + 2 * (room_ + block_bytes_)) {}

Task<void> RereadLines::run() {
  if (lines_.bytes == 0) co_return;
  co_await read(0, 0);
  unsigned present = 0;
  for (std::uint64_t offset = 0; offset < lines_.bytes; offset += block_bytes_, present = 1 - present) {
    if (const int signal_number = interrupted_ == nullptr ? 0 : interrupted_->load(); signal_number != 0)
      throw Interrupted(signal_number);
    TaskGroup ahead(reactor_.scope());
    if (offset + block_bytes_ < lines_.bytes) ahead.spawn(read(1 - present, offset + block_bytes_));
    const auto look = [&]() -> Task<void> {
      auto work = compute_.run([&] { check(present, offset); });
      co_await work;
    };
    ahead.spawn(look());
    co_await ahead.join();
    keep_last();
    carry_rest(1 - present);
  }
  in_order_ &= rest_.empty();
}

Task<void> RereadLines::read(unsigned slot, std::uint64_t offset) {
  const std::uint64_t size = std::min<std::uint64_t>(block_bytes_, lines_.bytes - offset);
  const std::uint64_t unit = std::max<std::uint64_t>(lines_.file.alignment(), 1);
  (void)co_await reactor_.read(lines_.file, offset, blocks_[slot], round_up(size, unit), size);
  progress_.add_bytes(size);
}

// The beginning of a line lies in front of the block.
void RereadLines::check(unsigned slot, std::uint64_t offset) {
  const std::uint64_t size = std::min<std::uint64_t>(block_bytes_, lines_.bytes - offset);
  char* const block = reinterpret_cast<char*>(blocks_[slot]);
  const char* const end = block + size;
  const std::size_t open = marker_.open_bytes();
  if (marker_.is_on()) in_order_ &= !marker_.mark(block, size, offset + size == lines_.bytes);
  const char* at = block - rest_.size() + (offset == 0 ? lines_.mark_bytes : 0);
  // Rows that are walked are found from their beginnings on.
  const bool begins_anew = format_.begins_anew();
  for (const char* from = begins_anew ? at : std::max<const char*>(at, block - open); from < end;) {
    if (begins_anew) inside_ = {};
    const char* const line_end = format_.find_end(from, end, inside_);
    if (line_end == nullptr) break;
    check_line(Text(at, static_cast<std::size_t>(line_end - at)), offset + static_cast<std::uint64_t>(line_end - block));
    at = from = line_end + 1;
  }
  rest_ = Text(at, static_cast<std::size_t>(end - at));
  if (rest_.size() > room_) {  // of no line that was written
    in_order_ = false;
    rest_ = {};
  }
}

// `offset`: of the line's end in the file.
void RereadLines::check_line(Text line, std::uint64_t offset) {
  const bool is_top = offset < lines_.header_bytes;
  lines::add_line(hash_, {line.data(), line.size() + (is_top ? 0 : hashed_end_)});
  if (is_top || is_shuffle_) return;  // keys of a shuffle are not in its output
  if (has_last_) in_order_ &= format_.compare(last_, line) <= 0;
  has_last_ = true;
  last_ = line;
}

// Its block is about to be read into.
void RereadLines::keep_last() {
  if (!has_last_) return;
  const std::size_t size = std::min(last_.size(), room_);
  if (last_.data() != reinterpret_cast<const char*>(last_at_) && size > 0) std::memmove(last_at_, last_.data(), size);
  last_ = Text(reinterpret_cast<const char*>(last_at_), size);
}

// Its block, too.
void RereadLines::carry_rest(unsigned slot) {
  char* const to = reinterpret_cast<char*>(blocks_[slot]) - rest_.size();
  if (!rest_.empty()) std::memcpy(to, rest_.data(), rest_.size());
  rest_ = Text(to, rest_.size());
}

}  // namespace ecosort::engine::rows
