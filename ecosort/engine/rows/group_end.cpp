#include "engine/rows/group_end.h"

#include <algorithm>
#include <cstring>

namespace ecosort::engine::rows {

bool GroupEnd::end(Text row) {
  if (!policy_.stays(rows_)) return false;
  rows_of_groups_ += rows_;
  if (policy_.counts) format_.count_in_front(row, rows_, count_);
  row_ = row;
  left_ = {count_.text, row.substr(count_.replaced), Text(&terminator_, 1)};
  return true;
}

std::size_t GroupEnd::bytes_left() const noexcept { return left_[0].size() + left_[1].size() + left_[2].size(); }

bool GroupEnd::put_whole(char* to, std::size_t room, lines::LateHash& out) const {
  const bool is_begun = left_[0].size() < count_.text.size() || left_[1].size() + count_.replaced < row_.size();
  if (is_begun || bytes_left() > room) return false;
  char* const at = to + count_.text.size() - count_.replaced;
  if (!row_.empty()) std::memcpy(at, row_.data(), row_.size());
  at[row_.size()] = terminator_;
  out.add(Text(at, row_.size()));
  if (count_.replaced > 0) out.settle();
  if (!count_.text.empty()) std::memcpy(to, count_.text.data(), count_.text.size());
  return true;
}

bool GroupEnd::put(char* block, std::size_t capacity, std::size_t& filled, lines::LateHash& out) {
  const std::size_t bytes = bytes_left();
  if (bytes == 0) return true;
  if (put_whole(block + filled, capacity - filled, out)) {
    filled += bytes;
    left_ = {};
    return true;
  }
  for (Text& piece : left_) {
    const std::size_t part = std::min(piece.size(), capacity - filled);
    if (part > 0) std::memcpy(block + filled, piece.data(), part);
    piece.remove_prefix(part);
    filled += part;
    if (!piece.empty()) return false;
  }
  out.add(row_);
  out.settle();  // another row may take its place
  return true;
}

}  // namespace ecosort::engine::rows
