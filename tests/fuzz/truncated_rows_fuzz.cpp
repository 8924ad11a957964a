// The truncated rows of a run block hold any bytes: the merge's cursor puts rows together within the room it has, and finds the
// rows that restoring the block as a whole finds. What truncation makes of any rows gives them back.
//
// Input: a byte of flags, one for what is carried, one for the tail, one for the room; the rows follow.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "codec/truncate.h"
#include "engine/rows/truncated_cursor.h"
#include "fuzz_support.h"

namespace {

using namespace ecosort;
using ecosort::fuzz::require;

constexpr std::size_t head_bytes = 24, behind_block = 4096, most_rows_bytes = std::size_t{1} << 16U;

struct Flags {
  bool goes_on, has_block, is_nul;
  std::size_t carried, tail, room;
};

// Memory of one slot, whose bytes behind the room must stay as they are.
class Slot {
 public:
  Slot(const std::string& rows, const Flags& flags)
      : flags_(flags), memory_(flags.room + head_bytes + rows.size() + behind_block, '\x55') {
    std::ranges::copy(rows, memory_.begin() + static_cast<std::ptrdiff_t>(flags.room + head_bytes));
    before_ = memory_;
    MergeSlot& slot = cursor_.slots[0];
    slot.data = reinterpret_cast<std::byte*>(memory_.data() + flags.room);
    slot.rows = memory_.data() + flags.room + head_bytes;
    slot.rows_end = slot.rows + rows.size();
    slot.carried = std::min(flags.carried, rows.size());
    slot.goes_on = flags.goes_on;
    slot.is_truncated = cursor_.is_truncated = true;
    cursor_.room = cursor_.row_room = flags.room;
    cursor_.terminator = flags.is_nul ? '\0' : '\n';
    cursor_.has_block = flags.has_block;
  }
  // The rows that the cursor finds, with their ends, behind what lay in front of the block.
  std::string rows() {
    std::string found;
    if (!ecosort::engine::rows::enter_truncated(cursor_, cursor_.slots[0], flags_.has_block ? flags_.tail : 0, 0)) return found;
    for (;;) {
      const ecosort::engine::rows::TruncatedStep step = ecosort::engine::rows::next_truncated_row(cursor_);
      is_damaged_ |= step.is_damaged;
      if (!step.is_there) break;
      found.append(cursor_.line()) += cursor_.terminator;
      if (found.size() > most_rows_bytes) break;
      require(ecosort::engine::rows::place_in_block(cursor_) + static_cast<std::int64_t>(cursor_.line().size()) + 1 >= 0,
              "a row has a place");
    }
    if (cursor_.goes_on && !is_damaged_) found.append(cursor_.at, ecosort::engine::rows::tail_of(cursor_));
    std::vector<std::size_t> common;
    ecosort::engine::rows::add_shared(cursor_, 32, common);
    require(std::equal(memory_.begin() + static_cast<std::ptrdiff_t>(flags_.room), memory_.end(),
                       before_.begin() + static_cast<std::ptrdiff_t>(flags_.room)),
            "rows are put together within the room");
    return found;
  }
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }
  [[nodiscard]] const char* end_of(std::size_t bytes) const {
    return ecosort::engine::rows::end_of_rows(cursor_.slots[0], bytes);
  }

 private:
  using MergeSlot = ecosort::engine::rows::MergeCursor::Slot;
  Flags flags_;
  std::vector<char> memory_, before_;
  ecosort::engine::rows::MergeCursor cursor_;
  bool is_damaged_ = false;
};

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

void there_and_back(const std::string& rows, std::size_t carried, char terminator) {
  std::string in = rows + std::string(ecosort::codec::truncation_slack_bytes, terminator);
  std::vector<std::byte> to(3 * rows.size() + 64), back(rows.size());
  const auto made = ecosort::codec::truncate({bytes_of(in).first(rows.size()), carried, terminator}, to);
  require(made.has_value(), "rows fit");
  require(ecosort::codec::restore(std::span(to).first(made->bytes), made->is_last_whole, terminator, carried, back),
          "rows come back");
  require(std::ranges::equal(back, bytes_of(rows)), "as they were");
  const std::string truncated(reinterpret_cast<const char*>(to.data()), made->bytes);
  Slot slot(truncated, {!made->is_last_whole, false, terminator == '\0', carried, 0, 4 * page_bytes + rows.size()});
  require(slot.rows() == rows.substr(carried) && !slot.is_damaged(), "and row by row");
  require(slot.end_of(rows.size()) != nullptr || !made->is_last_whole, "they end where they end");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t numbers = 4;
  if (size <= numbers || size > most_rows_bytes) return 0;
  const std::string rows(reinterpret_cast<const char*>(data + numbers), size - numbers);
  const Flags flags{(data[0] & 1U) != 0,       (data[0] & 2U) != 0,           (data[0] & 4U) != 0, data[1],
                    std::size_t{data[2]} % 64, 64 + std::size_t{data[3]} * 16};
  Slot slot(rows, flags);
  (void)slot.rows();
  for (const std::size_t bytes : {std::size_t{0}, flags.carried, rows.size(), most_rows_bytes}) (void)slot.end_of(bytes);
  std::vector<std::byte> to(flags.room);
  (void)ecosort::codec::restore(bytes_of(rows), !flags.goes_on, '\n', flags.carried, to);
  there_and_back(rows, std::min(flags.carried, rows.size()), flags.is_nul ? '\0' : '\n');
  return 0;
}
