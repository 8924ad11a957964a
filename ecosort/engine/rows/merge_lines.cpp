#include "engine/rows/merge_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/errors.h"
#include "engine/rows/damaged_input.h"
#include "engine/rows/formats.h"
#include "engine/rows/truncated_cursor.h"
#include "formats/keys/key_words.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/line_run.h"

namespace ecosort::engine::rows {
namespace {

constexpr std::size_t most_blocks_at_once = 3;

// Several merges share the write blocks. None waits for one while it has one that is not full (merge_all): every block in the
// hands of a merge becomes full without another, or is given back, and every other one comes back when it is written. So each of
// them gets its turn (Semaphore: first come, first served) as long as each can have one. That each takes at most its share of
// half the blocks keeps the others for writing behind.
std::size_t most_blocks(const planner::LinePlan& plan, std::size_t cursors, unsigned parts) {
  const std::size_t share = std::max<std::size_t>(plan.write_blocks / 2 / parts, 1);
  return std::min(share, std::clamp<std::size_t>(cursors / 4, 1, most_blocks_at_once));
}

// Codes need rows that are keys, and in order: files of the user's may be in any. Rows that one window holds are told apart by
// it, whatever goes before them. Of a group by the first keys a row may be dropped whose bytes are not those of the one before,
// as codes suppose.
std::optional<RowCodes> codes_of(const formats::RowFormat& format, const MergeTerms& terms,
                                 const std::vector<MergeInput>& inputs) {
  const bool are_of_runs = terms.must_be_ordered && std::ranges::none_of(inputs, &MergeInput::is_plain);
  const auto is_long = [](const MergeInput& input) { return input.run.longest > lines::window_bytes + 1; };
  if (!RowCodes::can_code(format) || !are_of_runs || std::ranges::none_of(inputs, is_long)) return std::nullopt;
  if (!format.rows_are_keys() && terms.groups.is_on && !format.groups_by_all()) return std::nullopt;
  return RowCodes(format);
}

}  // namespace

MergeLines::MergeLines(const RowTools& tools, const MergeTerms& terms, std::vector<MergeInput>& inputs, unsigned slots,
                       const MergePart& part)
    : reactor_(tools.bench.reactor),
      compute_(tools.bench.compute),
      format_(tools.format),
      terms_(terms),
      hashes_input_(terms.hashes_input || terms.is_of_files || terms.limit != UINT64_MAX),
      row_head_(format_.kind() == formats::Kind::shuffled ? sizeof(shuffle::RowHead) : 0),
      written_head_(terms.keeps_heads ? row_head_ : 0),
      hashed_end_(format_.hashed_end()),
      part_(part),
      most_blocks_(most_blocks(tools.plan, inputs.size(), part.parts)),
      left_(terms.limit),
      cursors_(tools, inputs, slots, part_, terms.must_be_ordered || terms.groups.is_on ? &last_ : nullptr),
      codes_(codes_of(format_, terms_, inputs)),
      tree_(format_, cursors_.all()),
      out_(lines::line_kernels()),
      group_(format_, terms.groups) {
  if (!part_.not_before) return;  // else the part is in order behind it as lines are behind each other
  last_.is_there = true;
  last_.text = *part_.not_before;
  last_.window = format_.window(last_.text, 0, 0);
  if (codes_ && codes_->is_keyed()) last_keys_ = codes_->keys_of(last_.text);
  last_.cursor = no_cursor;
  last_row_ = last_.text.size() + 1;
}

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

void MergeLines::complete_last_row(MergeCursor& cursor) {
  if (cursor.at == cursor.end) {
    cursor.exhausted = true;
    return;
  }
  const Text row(cursor.at, static_cast<std::size_t>(cursor.end - cursor.at));
  if (const auto fault = format_.fault_in(row, true)) refuse(cursor, *fault);
  const Text end = format_.missing_end(row, cursor.before_end);
  std::memcpy(const_cast<char*>(cursor.end), end.data(), end.size());
  cursor.end += end.size();
  cursor.line_end = cursor.end - 1;
}

// Says where in the file the fault is, whose place counts from the present row on.
void MergeLines::refuse(MergeCursor& cursor, const formats::RowFault& fault) {
  refused_ = &cursor;
  const auto lines = static_cast<std::uint64_t>(std::count(cursor.at, cursor.at + fault.at, format_.terminator()));
  throw refused_row(fmt::format("{}: line {}, byte {}: {}", formats::shown_name(cursor.input->name),
                                cursor.lines_before + lines + 1, cursor.bytes_before + fault.at, fault.why),
                    fault);
}

// A run does not hold the rows that it was made of.
void MergeLines::rows_are_others(const MergeCursor& cursor) {
  if (cursor.input->run.in_input)
    throw VerificationError(
        fmt::format("verification failed: {} holds other rows than when it was first read; the output was not written",
                    cursor.input->run.in_input->file->path()));
  throw VerificationError("verification failed: a run ends within a line; the output was not written");
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
  if (cursor.is_plain || cursor.at == nullptr || cursor.searched != cursor.at) return false;
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
  } else if (step.is_known) {
    repeats_last_ = step.is_equal;
    cursor.window = code_behind_last(cursor, step.shared);
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

// Every row but the first one of its input follows the one that went out last, or one that equals it.
[[gnu::always_inline]] inline records::KeyWindow MergeLines::code_behind_last(MergeCursor& cursor) {
  const Text row = cursor.line();
  const std::size_t common = RowCodes::common(row, last_.text);
  repeats_last_ = common == row.size() && common == last_.text.size();
  return code_behind_last(cursor, common);
}

// The row agrees with the one that went out last in `common` bytes.
[[gnu::always_inline]] inline records::KeyWindow MergeLines::code_behind_last(MergeCursor& cursor, std::size_t common) {
  return codes_->is_keyed() ? codes_->keyed_code(cursor.line(), common, last_keys_, cursor.keys)
                            : codes_->code(cursor.at, common);
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
  while (!cursor.exhausted && !with_format(format_, find)) co_await cursors_.next_block(cursor);
}

Task<void> MergeLines::find_end(MergeCursor& cursor) {
  const auto find = [&](const auto& format) { return find_end(format, cursor); };
  while (!cursor.exhausted && !with_format(format_, find)) co_await cursors_.next_block(cursor);
}

// Takes what a plain file begins with: it stays on top, or is left out.
Task<void> MergeLines::take_first_rows(MergeCursor& cursor) {
  FirstRows& first_rows = *cursor.input->first_rows;
  first_rows.begin_input();
  co_await cursors_.next_block(cursor);
  const std::size_t mark = first_rows.take_mark({cursor.at, static_cast<std::size_t>(cursor.end - cursor.at)});
  cursor.at = cursor.searched = cursor.at + mark;
  cursor.bytes_before = mark;
  while (first_rows.wants_row()) {
    co_await find_end(cursor);
    if (cursor.exhausted) {
      first_rows.miss(formats::shown_name(cursor.input->name));
      co_return;
    }
    refused_ = &cursor;  // in case it is
    if (first_rows.take(formats::shown_name(cursor.input->name), cursor.line()) == formats::FirstRow::is_sorted) {
      cursor.searched = cursor.at;
      co_return;
    }
    pass_row(cursor);
  }
}

// By the cursor's line, which is not the first one of its input. Where a format's rows are not checked their lines are not
// counted.
void MergeLines::out_of_order(const MergeCursor* cursor) const {
  if (cursor == nullptr || !cursor->is_plain || !terms_.is_of_files)
    throw VerificationError("verification failed: the merged lines would not be in order; the output was not written");
  const bool counts = with_format(format_, [](const auto& format) { return std::remove_cvref_t<decltype(format)>::checks_rows; });
  const std::string place = counts ? fmt::format(": line {}", cursor->lines_before + 1) : "";
  throw NotSorted(fmt::format("{}{} is not in order: this row comes before the one in front of it: {}",
                              formats::shown_name(cursor->input->name), place, keys::shown(cursor->line())),
                  cursor->lines_before);
}

// The order of the line that went out last and the cursor's: negative where it goes first. Codes have no say in it.
[[gnu::always_inline]] inline int MergeLines::compare_to_last(MergeCursor& cursor) {
  if (codes_ && codes_->is_keyed())
    if (const std::optional<int> order = codes_->order(last_keys_, last_.text, cursor.keys, cursor.line())) return *order;
  if (codes_) return codes_->compare(last_.text, cursor.line());
  if (cursor.window.prefix != last_.window.prefix) return last_.window.prefix < cursor.window.prefix ? -1 : 1;
  if (cursor.window.extension != last_.window.extension) return last_.window.extension < cursor.window.extension ? -1 : 1;
  return compare_tie_to_last(cursor);
}

// Does so where the windows are equal.
[[gnu::noinline]] int MergeLines::compare_tie_to_last(MergeCursor& cursor) {
  const formats::KeyPlace place = cursor.has_chain ? tree_.chain_of(cursor).begin() : format_.behind_first(cursor.window);
  if (!cursor.has_chain && !lines::KeyChain::can_begin(format_, cursor.window, place))
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

// Returns whether the cursor's line is of the group of the last one.
[[gnu::always_inline]] inline bool MergeLines::is_of_group(MergeCursor& cursor) {
  const int order = compare_to_last(cursor);
  if (order > 0 && terms_.must_be_ordered) out_of_order(&cursor);
  return terms_.groups.is_on && format_.are_grouped(order, last_.text, cursor.line());
}

[[gnu::always_inline]] inline void MergeLines::take_last(MergeCursor& cursor) {
  last_.is_there = true;
  last_.text = row_to_write(cursor);
  last_.window = cursor.window;
  last_.cursor = cursor.index;
  if (codes_ && codes_->is_keyed()) last_keys_ = cursor.keys;
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

void MergeLines::check_counts() const {
  const std::uint64_t dropped = merged_.dropped.count - merged_.blank_lines;
  if (!terms_.groups.adds_up(group_.rows_of_groups(), out_.sum().count, dropped))
    throw VerificationError("verification failed: the counts do not add up to the rows; the output was not written");
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
  last_.text = Text(to, size - 1);  // where no cursor writes
  last_.cursor = no_cursor;
  hash_written(last_.text);
  filled_ += size;
  last_row_ = size;
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
  return cursor.window.prefix == last_.window.prefix && cursor.window.extension == last_.window.extension && !cursor.exhausted &&
         cursor.index == last_.cursor && cursor.line() == last_.text;
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

template <class Format>
MergeLines::Reason MergeLines::merge_some(const Format& format, char* block, std::size_t capacity) {
  if (filled_ == 0) carried_ = std::min(emitting_.size(), capacity);
  for (bool is_emitting = !emitting_.empty(); is_emitting || (left_ > 0 && !tree_.empty()); is_emitting = false) {
    MergeCursor& cursor = tree_.winner();
    if (is_emitting) {
      if (!go_on_emitting(block, capacity)) return Reason::block_full;
    } else {
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

// Rows get their first codes, unless they agree in so little that their windows cost less and show as much.
void MergeLines::begin_codes() {
  constexpr std::size_t least = 4;
  const auto [bytes, others] = cursors_.common_of_some(*codes_);
  if (codes_->is_keyed() ? bytes.size() < others
                         : std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}) < least * bytes.size())
    return codes_.reset();
  codes_->align(bytes);
  tree_.use(*codes_);
  for (const auto& cursor : cursors_.all())
    if (!cursor->exhausted) cursor->window = code_behind_last(*cursor, 0);
}

Task<void> MergeLines::start() {
  cursors_.request_first();
  for (const auto& cursor : cursors_.all()) {
    if (cursor->input->first_rows != nullptr) co_await take_first_rows(*cursor);
    co_await next_line_begins(*cursor);
  }
  if (codes_) begin_codes();
  tree_.build();
  is_tree_built_ = true;
}

// Continues in the first of the blocks; returns how many became full.
std::size_t MergeLines::merge_blocks(const std::vector<std::byte*>& blocks, LineSink& sink, Reason& reason) {
  std::size_t full = 0;
  for (; full < blocks.size(); ++full) {
    char* const block = reinterpret_cast<char*>(blocks[full]);
    reason = with_format(format_, [&](const auto& format) {
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

bool MergeLines::is_place_wanted(const LineSink& sink) const {
  return watcher_ != nullptr && watcher_->wants_place(sink.bytes());
}

// Every block that holds a byte was put. The line that did not fit the last one begins the lines that follow.
MergePlace MergeLines::place(const LineSink& sink) const {
  const std::size_t begun = emitting_.empty() ? 0 : tree_.winner().line().size() + 1 - emitting_.size();
  MergePlace place{sink.bytes() - begun, last_row_, merged_.in, out_.sum(), merged_.dropped, {}};
  if (hashes_input_ && !emitting_.empty()) {
    hash::MultisetHash begun_line;
    lines::add_line(begun_line, tree_.winner().line());
    place.in -= begun_line;
  }
  for (const auto& cursor : cursors_.all()) place.runs.push_back(cursors_.position(*cursor));
  return place;
}

// The first of `blocks` is there and holds what goes before the lines.
Task<void> MergeLines::merge_all(LineSink& sink, std::vector<std::byte*>& blocks) {
  for (Reason reason = Reason::block_full; reason != Reason::finished;) {
    const std::size_t most = is_place_wanted(sink) ? 1 : most_blocks_;  // one alone becomes full before another is begun
    while (blocks.empty() || (blocks.size() < most && sink.has_idle_block())) blocks.push_back(co_await sink.take());
    std::size_t full = 0;
    auto work = compute_.run([&] { full = merge_blocks(blocks, sink, reason); });
    co_await work;
    cursors_.refill();
    for (std::size_t i = 0; i < full; ++i) sink.put(blocks[i], sink.capacity());
    blocks.erase(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(full));
    if (blocks.empty() && is_place_wanted(sink)) co_await watcher_->at(place(sink));
    if (reason != Reason::needs_block) continue;
    co_await next_line_begins(*waiting_);
    tree_.replay();
  }
}

// Returns the block in which the lines continue.
Task<std::byte*> MergeLines::put_beginning(LineSink& sink, const std::string& beginning) {
  std::byte* block = co_await sink.take();
  for (std::size_t done = 0; done < beginning.size();) {
    const std::size_t part = std::min(beginning.size() - done, sink.capacity() - filled_);
    std::memcpy(block + filled_, beginning.data() + done, part);
    done += part;
    filled_ += part;
    if (filled_ < sink.capacity()) break;
    sink.complete(block, contents(), 0);
    sink.put(block, filled_);
    filled_ = 0;
    block = co_await sink.take();
  }
  co_return block;
}

void MergeLines::check_end() const {
  if (!part_.not_after) return;
  const bool is_shuffle = format_.kind() == formats::Kind::shuffled;  // whose rows went out without their keys
  const records::KeyWindow last = last_.window, border = format_.window(*part_.not_after, 0, 0);
  if (is_shuffle ? last.prefix > border.prefix : format_.compare(last_.text, *part_.not_after) > 0) out_of_order();
}

Task<void> MergeLines::merge_into(LineSink& sink, const std::string& beginning) {
  co_await start();
  const std::string counted = terms_.groups.counts ? format_.top_of_counted(beginning) : std::string();
  std::byte* const block = co_await put_beginning(sink, terms_.groups.counts ? counted : beginning);
  std::vector<std::byte*> blocks{block};
  co_await merge_all(sink, blocks);
  if (last_.is_there) check_end();
  check_counts();
  sink.complete(blocks.front(), contents(), 0);
  sink.put(blocks.front(), filled_);
  for (std::size_t i = 1; i < blocks.size(); ++i) sink.give_back(blocks[i]);
}

// A row is refused, unless the input turns out to be damaged, which is reported then.
Task<void> MergeLines::merge_or_refuse(LineSink& sink, const std::string& beginning) {
  std::optional<RefusedRow> refused;
  try {
    co_await merge_into(sink, beginning);
  } catch (const RefusedRow& error) {
    refused = error;
  }
  if (!refused) co_return;
  co_await cursors_.check_rest(cursors_.refused() != nullptr ? *cursors_.refused() : *refused_);
  refused->blame();
}

Task<void> MergeLines::merge_to(LineSink& sink, const std::string& beginning) {
  TaskGroup merging(reactor_.scope());
  merging.spawn(merge_or_refuse(sink, beginning));
  co_await merging.settle();
  co_await sink.settle();
  co_await cursors_.join();
  merged_.out = out_.sum();
  merged_.rows_of_groups = group_.rows_of_groups();
}

}  // namespace ecosort::engine::rows
