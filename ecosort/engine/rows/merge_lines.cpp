#include "engine/rows/merge_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "engine/rows/damaged_input.h"
#include "engine/rows/truncated_cursor.h"
#include "formats/all/each_format.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/line_run.h"

namespace ecosort::engine::rows {

// Finds the end of the row that begins at `at`, and returns whether it is complete. An input's last row may lack its end.
template <class Format>
bool MergeLines::find_end(const Format& format, MergeCursor& cursor) {
  if (cursor.at == nullptr) return false;
  if constexpr (requires { Format::rows_begin_anew; }) cursor.searched = cursor.at;
  const char* const found = format.row_end(cursor.searched, cursor.end, cursor.inside);
  if (found != nullptr) {
    cursor.line_end = found;
    return true;
  }
  cursor.searched = cursor.end;
  if (!cursor.at_last_block) return false;
  if (!cursor.is_plain && cursor.at != cursor.end) rows_are_others(cursor);
  complete_last_row(cursor);
  return true;
}

// Rows of stored runs were looked at when they were read. Those of an input were counted then, too.
template <class Format>
void MergeLines::check_row(const Format& format, MergeCursor& cursor) {
  if (cursor.is_plain) {
    if (const auto fault = format.check_row(cursor.line(), merged_.key_counts)) refuse(cursor, *fault);
  } else if (format.check_row(cursor.line(), counted_before_)) {
    rows_are_others(cursor);
  }
}

// Does as find_row() for a row of a run, where a format sees at once where it ends and what its window is.
template <class Format>
bool MergeLines::find_plain_row(const Format& format, MergeCursor& cursor) {
  if (!finds_plain_rows_ || cursor.is_plain || cursor.at == nullptr || cursor.searched != cursor.at) return false;
  cursor.line_end = format.plain_row_end(cursor.at, cursor.end, cursor.window);
  return cursor.line_end != nullptr;
}

// Does as find_row(), in a block of truncated rows: what a row shares with the one before is known, which went out last.
template <class Format>
bool MergeLines::find_truncated_row(const Format& format, MergeCursor& cursor) {
  const TruncatedStep step = next_truncated_row(cursor);
  if (!step.is_there) [[unlikely]] {
    if (step.is_damaged) cursors_.damaged(cursor);
    if (cursor.searched != cursor.end || !cursor.at_last_block) return false;
    if (cursor.goes_on) rows_are_others(cursor);
    cursor.exhausted = true;
    return true;
  }
  if (!codes_ || !is_tree_built_) {
    cursor.window = format.window(cursor.line());
    take_chain_code(cursor);
  } else if (step.is_known) {
    repeats_last_ = step.is_equal;
    cursor.window = codes_->code(cursor.line(), step.shared, cursor.keys);
  } else {
    cursor.window = code_behind_last(cursor);
  }
  return true;
}

// Does as find_end(), and takes the row's window. Also true where there is no row any more.
template <class Format>
bool MergeLines::find_row(const Format& format, MergeCursor& cursor) {
  cursor.has_chain = false;
  if (cursor.is_truncated) return find_truncated_row(format, cursor);
  if constexpr (requires { &Format::plain_row_end; }) {
    if (find_plain_row(format, cursor)) {
      cursor.fetch_ahead();
      take_chain_code(cursor);
      return true;
    }
  }
  if (!find_end(format, cursor)) return false;
  if constexpr (Format::leaves_out_blank_rows) {
    while (cursor.is_plain && !cursor.exhausted && format.is_blank(cursor.line())) {
      leave_out(cursor);
      if (!find_end(format, cursor)) return false;
    }
  }
  if constexpr (Format::checks_rows)
    if (cursor.is_plain && !pass_blank_end(format, cursor)) return false;
  if (cursor.exhausted) return true;
  if constexpr (Format::checks_rows)
    if (cursor.is_checked) check_row(format, cursor);
  cursor.window = codes_ && is_tree_built_ ? code_behind_last(cursor) : format.window(cursor.line());
  if constexpr (requires { &Format::repeats_header; })
    if (cursor.is_plain && format.repeats_header(cursor.line(), cursor.window))
      formats::add(merged_.repeated_header, {1, cursor.input->name, cursor.lines_before + 1});
  cursor.fetch_ahead();
  take_chain_code(cursor);
  return true;
}

// Leaves out lines that hold nothing: they may end a file, and nothing else. Does as find_end() then.
template <class Format>
bool MergeLines::pass_blank_end(const Format& format, MergeCursor& cursor) {
  while (!cursor.exhausted && format.is_blank_end(cursor.line())) {
    if (cursor.blank_line == 0) {
      cursor.blank_line = cursor.lines_before + 1;
      cursor.blank_byte = cursor.bytes_before;
    }
    leave_out(cursor);
    if (!find_end(format, cursor)) return false;
  }
  if (cursor.exhausted || cursor.blank_line == 0) return true;
  refused_ = &cursor;
  static constexpr char blank[2 * 64] = "\n";  // kernels look at whole vectors
  const auto fault = format.check_row(Text(blank, blank), counted_before_);
  throw refused_row(fmt::format("{}: line {}, byte {}: {}", formats::shown_name(cursor.input->name), cursor.blank_line,
                                cursor.blank_byte, fault->why),
                    *fault);
}

// Every row but the first one of its input follows the one that went out last, or one that equals it: the cursor still has its
// keys.
[[gnu::always_inline]] inline records::KeyWindow MergeLines::code_behind_last(MergeCursor& cursor) {
  const Text row = cursor.line();
  const std::size_t common = RowCodes::common(row, last_.text);
  repeats_last_ = common == row.size() && common == last_.text.size();
  return codes_->code(row, common, cursor.keys);
}

// Gives a code of its chain to a row whose first window is there. Without groups the line that went out last is the row before
// it.
[[gnu::always_inline]] inline void MergeLines::take_chain_code(MergeCursor& cursor) {
  if (!tree_.has_chain_codes() || !is_tree_built_) return;
  if (cursor.window != last_.window)
    MergeTree::code(cursor);
  else
    tree_.code_behind(cursor, last_.text, last_chain_, last_has_chain_);
}

// The row behind the present one is next.
void MergeLines::pass_row(MergeCursor& cursor) noexcept {
  if (cursor.is_truncated) return;  // the next row is put together in the place of this one
  if (cursor.is_plain) {
    const Text row = cursor.line();
    cursor.before_end = row.empty() ? '\0' : row.back();
    cursor.bytes_before += row.size() + 1;
    cursor.lines_before += 1 + lines::line_kernels().count(row.data(), row.size(), *cursor.line_end);
  }
  cursor.at = cursor.searched = cursor.line_end + 1;
}

// The row is blank.
void MergeLines::leave_out(MergeCursor& cursor) {
  lines::add_line(merged_.in, cursor.line());
  lines::add_line(merged_.dropped, cursor.line());
  ++merged_.blank_lines;
  pass_row(cursor);
}

Task<void> MergeLines::next_line_begins(MergeCursor& cursor) {
  const auto find = [&](const auto& format) { return find_row(format, cursor); };
  while (!cursor.exhausted && !formats::with_format(format_, find)) co_await cursors_.next_block(cursor);
}

Task<void> MergeLines::find_end(MergeCursor& cursor) {
  const auto find = [&](const auto& format) { return find_end(format, cursor); };
  while (!cursor.exhausted && !formats::with_format(format_, find)) co_await cursors_.next_block(cursor);
}

// The order of the line that went out last and the cursor's: negative where it goes first. Codes have no say in it.
[[gnu::always_inline]] inline int MergeLines::compare_to_last(MergeCursor& cursor) {
  if (codes_ && !codes_->is_keyed()) return codes_->compare(last_.text, cursor.line());
  const records::KeyWindow window = tree_.first_window(cursor);
  if (window.prefix != last_.window.prefix) return last_.window.prefix < window.prefix ? -1 : 1;
  if (window.extension != last_.window.extension) return last_.window.extension < window.extension ? -1 : 1;
  return codes_ && cursor.keys.are_all ? codes_->compare(last_.text, cursor.line()) : compare_tie_to_last(cursor);
}

// Compares them where their windows are equal.
[[gnu::noinline]] int MergeLines::compare_tie_to_last(MergeCursor& cursor) {
  const formats::KeyPlace place = cursor.has_chain ? tree_.chain_of(cursor).begin() : format_.behind_first(last_.window);
  if (!cursor.has_chain && !lines::KeyChain::can_begin(format_, last_.window, place))
    return lines::compare_at(format_, last_.text, cursor.line(), place.level);
  if (!std::exchange(last_has_chain_, true)) last_chain_.begin(place);
  return lines::KeyChain::compare(format_, last_chain_, last_.text, tree_.chain_of(cursor, place), cursor.line());
}

// The cursor's line is next. Like emit() it is a part of the loop over rows: calls of the two took 3 % of the time of lines.
// False if it is dropped because it equals the last one.
[[gnu::always_inline]] inline bool MergeLines::choose(MergeCursor& cursor) {
  if (last_.is_there && (terms_.must_be_ordered || terms_.groups.is_on)) {
    if (!is_of_group(cursor)) {
      in_group_ = 0;
    } else if (in_group_ == terms_.groups.most) {
      lines::add_line(merged_.dropped, cursor.line());
      return false;
    }
  }
  ++in_group_;
  take_last(cursor);
  return terms_.skip == 0 || !is_skipped(last_.text);
}

// Does as is_of_group() where the first keys make groups: only rows of one are compared by the others.
[[gnu::noinline]] bool MergeLines::has_first_keys_of_last(MergeCursor& cursor) {
  const records::KeyWindow window = tree_.first_window(cursor), last = last_.window;
  const int by_groups = format_.compare_groups(last_.text, cursor.line());
  int order = by_groups;
  if (window.prefix != last.prefix)
    order = last.prefix < window.prefix ? -1 : 1;
  else if (window.extension != last.extension)
    order = last.extension < window.extension ? -1 : 1;
  else if (by_groups == 0)
    order = format_.compare_in_group(last_.text, cursor.line());
  if (order > 0 && terms_.must_be_ordered) out_of_order(&cursor);
  return by_groups == 0;
}

// Returns whether the cursor's line is of the group of the last one.
[[gnu::always_inline]] inline bool MergeLines::is_of_group(MergeCursor& cursor) {
  if (groups_by_first_keys_) return has_first_keys_of_last(cursor);
  const int order = compare_to_last(cursor);
  if (order > 0 && terms_.must_be_ordered) out_of_order(&cursor);
  return terms_.groups.is_on && order == 0;
}

[[gnu::always_inline]] inline void MergeLines::take_last(MergeCursor& cursor) {
  last_.is_there = true;
  last_.text = row_to_write(cursor);
  last_.window = tree_.first_window(cursor);
  last_.cursor = cursor.index;
  last_has_chain_ = cursor.has_chain;
  if (last_has_chain_) [[unlikely]]
    last_chain_ = tree_.chain_of(cursor);
}

// The row that may go out is the last one; where its cursor writes the next row in its place, a copy of it.
void MergeLines::take_into_group(MergeCursor& cursor) {
  if (hashes_input_) lines::add_line(merged_.in, cursor.line());
  merged_.longest = std::max(merged_.longest, cursor.line().size() + 1);
  if (last_.is_there) {
    group_.add_row();
    lines::add_line(merged_.dropped, terms_.groups.keeps_last ? last_.text : cursor.line());
    if (!terms_.groups.keeps_last) return;
  } else {
    group_.begin();
  }
  take_last(cursor);
  if (cursor.is_truncated) cursors_.keep_last_line(cursor);
}

void MergeLines::end_group() {
  if (!group_.end(last_.text)) lines::add_line(merged_.dropped, last_.text);
  last_.is_there = false;
}

[[gnu::always_inline]] inline Text MergeLines::row_to_write(const MergeCursor& cursor) const noexcept {
  const std::size_t skipped = row_head_ - written_head_;
  return {cursor.at + skipped, static_cast<std::size_t>(cursor.line_end - cursor.at) - skipped};
}

bool MergeLines::is_skipped(Text row) {
  if (merged_.skipped.count == terms_.skip) return false;
  lines::add_line(merged_.skipped, hashed(row, written_head_));
  return true;
}

// The last row is in a block of the output as a whole, where no cursor writes.
[[gnu::always_inline]] inline void MergeLines::row_is_out(Text row) noexcept {
  last_.text = row;
  last_.cursor = no_cursor;
  last_row_ = row.size() + 1;
  hash_written(row);
}

// Copies the cursor's line into the block; one that does not fit continues in the next block. Most are copied in one piece of
// constant size: what lies behind them in the block is overwritten later.
[[gnu::always_inline]] inline bool MergeLines::emit(const MergeCursor& cursor, char* block, std::size_t capacity) {
  const Text row = row_to_write(cursor);
  const std::size_t size = row.size() + 1, room = capacity - filled_;
  char* const to = block + filled_;
  if (size > room) {
    emitting_ = Text(row.data(), size);
    return go_on_emitting(block, capacity);
  }
  if (size <= lines::short_copy_step && room >= lines::short_copy_step)
    std::memcpy(to, row.data(), lines::short_copy_step);
  else if (size <= lines::copy_step && room >= lines::copy_step)
    std::memcpy(to, row.data(), lines::copy_step);
  else
    std::memcpy(to, row.data(), size);
  row_is_out(Text(to, size - 1));
  filled_ += size;
  return true;
}

// False when the block is full before the line is complete. Lines are hashed later: one that was put together in a room now,
// because the next one takes its place.
bool MergeLines::go_on_emitting(char* block, std::size_t capacity) {
  const std::size_t part = std::min(emitting_.size(), capacity - filled_);
  if (part > 0) std::memcpy(block + filled_, emitting_.data(), part);
  emitting_.remove_prefix(part);
  filled_ += part;
  if (!emitting_.empty()) return false;
  hash_written(last_.text);
  last_row_ = last_.text.size() + 1;
  if (tree_.winner().is_truncated) {
    out_.settle();
    cursors_.keep_last_line(tree_.winner());
  }
  return true;
}

// Returns whether the cursor continues with the line that it gave last, which then is next again: no other cursor has a smaller
// one.
bool MergeLines::repeats_last(const MergeCursor& cursor) const noexcept {
  if (codes_) return repeats_last_ && !cursor.exhausted;
  if (tree_.has_chain_codes()) return false;
  return cursor.window == last_.window && !cursor.exhausted && cursor.index == last_.cursor && cursor.line() == last_.text;
}

run::BlockContents MergeLines::contents() const noexcept {
  return {static_cast<std::uint32_t>(filled_), static_cast<std::uint32_t>(carried_)};
}

// The cursor's row was taken. Returns whether the next one is here.
template <class Format>
[[gnu::always_inline]] inline bool MergeLines::go_on(const Format& format, MergeCursor& cursor) {
  if constexpr (Format::checks_rows)
    pass_row(cursor);
  else if (!cursor.is_truncated)
    cursor.at = cursor.searched = cursor.line_end + 1;
  while (!find_row(format, cursor)) {
    if (cursors_.advance(cursor)) continue;
    waiting_ = &cursor;
    return false;
  }
  if (!repeats_last(cursor)) tree_.replay();
  return true;
}

// Returns whether all rows that are left go out as they come: no other run has any, and no one asks for some of them only.
bool MergeLines::can_copy() const {
  return format_.rows_are_keys() && !terms_.groups.is_on && !hashes_input_ && terms_.must_be_ordered && terms_.skip == 0 &&
         !tree_.empty() && !tree_.winner().is_plain && tree_.is_alone();
}

// Copies rows of the only run that is left, as many as are here and fit, but no more than the nearest cache holds: there they are
// compared and hashed. Returns whether there was one; the last one is the cursor's present row then.
bool MergeLines::copy_rows(MergeCursor& cursor, char* block, std::size_t capacity) {
  if (cursor.is_truncated) return false;
  std::uint32_t ends[lines::split_room];
  const char* const from = cursor.at;
  const std::size_t size = std::min({static_cast<std::size_t>(cursor.end - from), capacity - filled_, lines::split_bytes});
  const std::size_t rows = lines::line_kernels().split(from, size, format_.terminator(), ends);
  if (rows == 0) return false;
  char* const to = block + filled_;
  const std::size_t copied = ends[rows - 1] + std::size_t{1};
  std::memcpy(to, from, copied);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const Text row(to + begin, ends[i] - begin);
    if (last_.is_there && format_.compare(last_.text, row) > 0) out_of_order(&cursor);
    last_.is_there = true;
    row_is_out(row);
    merged_.longest = std::max(merged_.longest, last_row_);
    begin += last_row_;
  }
  cursor.line_end = from + copied - 1;
  cursor.at = cursor.line_end + 1 - last_row_;
  last_.window = format_.window(cursor.line(), 0, 0);
  last_has_chain_ = false;
  filled_ += copied;
  return true;
}

template <class Format>
MergeLines::Reason MergeLines::merge_some(const Format& format, char* block, std::size_t capacity) {
  if (filled_ == 0) carried_ = std::min(emitting_.size(), capacity);
  const bool is_copy = can_copy();
  for (bool is_emitting = !emitting_.empty(); is_emitting || (left_ > 0 && !tree_.empty()); is_emitting = false) {
    MergeCursor& cursor = tree_.winner();
    if (is_emitting) {
      if (!go_on_emitting(block, capacity)) return Reason::block_full;
    } else if (!is_copy || !copy_rows(cursor, block, capacity)) {
      if (hashes_input_) lines::add_line(merged_.in, hashed(cursor.line(), row_head_));
      merged_.longest = std::max(merged_.longest, cursor.line().size() + 1);
      if (choose(cursor)) {
        --left_;
        if (!emit(cursor, block, capacity)) return Reason::block_full;
      }
    }
    if (!go_on(format, cursor)) return Reason::needs_block;
  }
  return Reason::finished;
}

// Does as merge_some(), where a row goes out when its group ends.
template <class Format>
MergeLines::Reason MergeLines::merge_groups(const Format& format, char* block, std::size_t capacity) {
  if (filled_ == 0) carried_ = std::min(group_.bytes_left(), capacity);
  while (group_.put(block, capacity, filled_, out_)) {
    if (tree_.empty()) {
      if (!last_.is_there) return Reason::finished;
      end_group();
    } else if (MergeCursor& cursor = tree_.winner(); last_.is_there && !is_of_group(cursor)) {
      end_group();
    } else {
      take_into_group(cursor);
      if (!go_on(format, cursor)) return Reason::needs_block;
    }
  }
  return Reason::block_full;
}

// Continues in the first of the blocks; returns how many became full.
std::size_t MergeLines::merge_blocks(const std::vector<std::byte*>& blocks, LineSink& sink, Reason& reason) {
  std::size_t full = 0;
  for (; full < blocks.size(); ++full) {
    char* const block = reinterpret_cast<char*>(blocks[full]);
    reason = formats::with_format(format_, [&](const auto& format) {
      return terms_.groups.is_decided_at_end() ? merge_groups(format, block, sink.capacity())
                                               : merge_some(format, block, sink.capacity());
    });
    out_.settle();
    if (reason != Reason::block_full) break;
    sink.complete(blocks[full], contents(), full);
    filled_ = 0;
  }
  return full;
}

}  // namespace ecosort::engine::rows
