#include "engine/rows/truncated_cursor.h"

namespace ecosort::engine::rows {
namespace {

// The rows of a slot one after the other, without their bytes.
class Walk {
 public:
  explicit Walk(const MergeCursor::Slot& slot) : slot_(slot), at_(slot.rows + slot.carried), bytes_(slot.carried) {}

  [[nodiscard]] const char* at() const noexcept { return at_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }  // of rows before
  // False: the rows end, or are no truncated ones.
  bool pass() noexcept {
    const std::optional<codec::TruncatedRow> row = codec::truncated_row_at(at_, slot_.rows_end);
    if (!row || row->own > static_cast<std::size_t>(slot_.rows_end - row->bytes)) return false;
    at_ = row->bytes + row->own;
    bytes_ += row->shared + row->own + 1;
    return true;
  }

 private:
  const MergeCursor::Slot& slot_;
  const char* at_;
  std::size_t bytes_;
};

// Rows of the part before go by.
bool skip(MergeCursor& cursor, std::size_t carried, std::size_t skipped) {
  std::size_t bytes = carried;
  while (bytes < skipped) {
    if (!next_truncated_row(cursor).is_there) return false;
    bytes += cursor.line().size() + 1;
  }
  return bytes == skipped;
}

}  // namespace

bool enter_truncated(MergeCursor& cursor, const MergeCursor::Slot& slot, std::size_t tail, std::size_t skipped) {
  char* const row = reinterpret_cast<char*>(slot.data) - cursor.row_room;
  const std::size_t carried = slot.carried;
  cursor.at = cursor.line_end = row;
  cursor.searched = slot.rows + carried;
  cursor.end = slot.rows_end;
  cursor.goes_on = slot.goes_on;
  cursor.is_first = true;
  if (!cursor.has_block) return skip(cursor, carried, std::max(skipped, carried));
  if (tail + carried > cursor.row_room) return false;
  if (carried == 0) return tail == 0;  // a row that begins with the block may count as carried
  std::memmove(row, slot.data - tail, tail);
  std::memcpy(row + tail, slot.rows, carried);
  cursor.is_pending = row[tail + carried - 1] == cursor.terminator;
  cursor.line_end = row + tail + carried - (cursor.is_pending ? 1 : 0);
  cursor.goes_on |= !cursor.is_pending;
  return cursor.is_pending || cursor.searched == cursor.end;
}

const char* end_of_rows(const MergeCursor::Slot& slot, std::size_t bytes) {
  Walk rows(slot);
  while (rows.bytes() < bytes)
    if (!rows.pass()) return nullptr;
  return rows.bytes() == bytes ? rows.at() : nullptr;
}

std::int64_t place_in_block(const MergeCursor& cursor) {
  Walk rows(cursor.slots[cursor.present]);
  while (rows.at() < cursor.searched && rows.pass()) {
  }
  return static_cast<std::int64_t>(rows.bytes()) - static_cast<std::int64_t>(cursor.line().size() + 1);
}

void add_shared(const MergeCursor& cursor, std::size_t most_rows, std::vector<std::size_t>& common) {
  const char* at = cursor.searched;
  for (std::size_t i = 0; i < most_rows; ++i) {
    const std::optional<codec::TruncatedRow> row = codec::truncated_row_at(at, cursor.end);
    if (!row || row->own > static_cast<std::size_t>(cursor.end - row->bytes)) return;
    common.push_back(row->shared);
    at = row->bytes + row->own;
  }
}

}  // namespace ecosort::engine::rows
