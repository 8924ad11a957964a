// Surrounds the loop over rows of a merge (merge_lines.cpp): its beginning, its blocks, its end, and what it refuses.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/errors.h"
#include "engine/rows/damaged_input.h"
#include "engine/rows/merge_lines.h"
#include "formats/all/each_format.h"
#include "formats/keys/key_words.h"
#include "formats/lines/key_chain.h"
#include "formats/lines/line_run.h"

namespace ecosort::engine::rows {
namespace {

// Several merges share the write blocks. None waits for one while it has one that is not full (merge_all): every block in the
// hands of a merge becomes full without another, or is given back, and every other one comes back when it is written. So each of
// them gets its turn (Semaphore: first come, first served) as long as each can have one. That each takes at most its share of
// half the blocks keeps the others for writing behind.
std::size_t most_blocks(const planner::LinePlan& plan, std::size_t cursors, unsigned parts) {
  const std::size_t share = std::max<std::size_t>(plan.write_blocks / 2 / parts, 1);
  return std::min(share, std::clamp<std::size_t>(cursors / 4, 1, plan.blocks_at_once));
}

// Returns whether a run has a row that no window holds.
bool is_long(const MergeInput& input) { return input.run.longest > lines::window_bytes + 1; }

// Codes need rows that are keys, and in order: files of the user's may be in any. Rows that one window holds are told apart by
// it, whatever goes before them. Of a group by the first keys a row may be dropped whose bytes are not those of the one before,
// as codes suppose.
std::optional<RowCodes> codes_of(const formats::RowFormat& format, const MergeTerms& terms,
                                 const std::vector<MergeInput>& inputs) {
  const bool are_of_runs = terms.must_be_ordered && std::ranges::none_of(inputs, &MergeInput::is_plain);
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
      groups_by_first_keys_(terms.groups.is_on && !format_.groups_by_all()),
      row_head_(shuffle::as_shuffle(format_) != nullptr ? sizeof(shuffle::RowHead) : 0),
      written_head_(terms.keeps_heads ? row_head_ : 0),
      hashed_end_(format_.hashed_end()),
      part_(part),
      most_blocks_(most_blocks(tools.plan, inputs.size(), part.parts)),
      left_(terms.limit),
      cursors_(tools, inputs, slots, part_, terms.must_be_ordered || terms.groups.is_on ? &last_ : nullptr),
      codes_(codes_of(format_, terms_, inputs)),
      finds_plain_rows_(!codes_ && !(format_.rows_are_keys() && std::ranges::any_of(inputs, is_long))),
      tree_(format_, cursors_.all()),
      out_(lines::line_kernels()),
      group_(format_, terms.groups) {
  if (!part_.not_before) return;  // else the part is in order behind it as lines are behind each other
  last_.is_there = true;
  last_.text = *part_.not_before;
  last_.window = format_.window(last_.text, 0, 0);
  last_.cursor = no_cursor;
  last_row_ = last_.text.size() + 1;
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
  const bool counts =
      formats::with_format(format_, [](const auto& format) { return std::remove_cvref_t<decltype(format)>::checks_rows; });
  const std::string place = counts ? fmt::format(": line {}", cursor->lines_before + 1) : "";
  throw NotSorted(fmt::format("{}{} is not in order: this row comes before the one in front of it: {}",
                              formats::shown_name(cursor->input->name), place, keys::shown(cursor->line())),
                  cursor->lines_before);
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
    if (!cursor->exhausted) cursor->window = codes_->code(cursor->line(), 0, cursor->keys);
}

// Codes of chains begin where they pay: first windows tie, and windows behind them decide.
void MergeLines::begin_chain_codes() {
  std::size_t rows = 0, ties = 0;
  const MergeCursor* before = nullptr;
  for (const auto& cursor : cursors_.all()) {
    if (cursor->exhausted) continue;
    const records::KeyWindow window = cursor->window;
    ++rows;
    ties += before != nullptr && before->window == window &&
            lines::KeyChain::can_begin(format_, window, format_.behind_first(window));
    before = cursor.get();
  }
  if (2 * ties < rows) return;
  tree_.use_chain_codes();
  for (const auto& cursor : cursors_.all())
    if (!cursor->exhausted) MergeTree::code(*cursor);
}

Task<void> MergeLines::start() {
  cursors_.request_first();
  for (const auto& cursor : cursors_.all()) {
    if (cursor->input->first_rows != nullptr) co_await take_first_rows(*cursor);
    co_await next_line_begins(*cursor);
  }
  const bool are_of_runs = std::ranges::none_of(cursors_.all(), [](const auto& cursor) { return cursor->is_plain; });
  if (codes_) begin_codes();
  if (!codes_ && are_of_runs && terms_.must_be_ordered && !terms_.groups.is_on && row_head_ == 0) begin_chain_codes();
  tree_.build();
  is_tree_built_ = true;
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

void MergeLines::check_counts() const {
  const std::uint64_t dropped = merged_.dropped.count - merged_.blank_lines;
  if (!terms_.groups.adds_up(group_.rows_of_groups(), out_.sum().count, dropped))
    throw VerificationError("verification failed: the counts do not add up to the rows; the output was not written");
}

void MergeLines::check_end() const {
  if (!part_.not_after) return;
  const bool is_shuffle = shuffle::as_shuffle(format_) != nullptr;  // whose rows went out without their keys
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
