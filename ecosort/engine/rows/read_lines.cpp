#include "engine/rows/read_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "engine/rows/damaged_input.h"
#include "formats/lines/pass_quotes.h"
#include "formats/lines/quoted.h"

namespace ecosort::engine::rows {
namespace {

// Is read into a buffer with a limit before it is looked at: its pages are few, and stay in use.
constexpr std::size_t limited_fill_bytes = std::size_t{32} << 20U;
constexpr std::size_t index_batch_bytes = std::size_t{4} << 20U;  // to wake the threads for a block costs as much as its work

// Returns how many of `size` bytes at `offset` the file had when it was opened; of a stream none are known.
std::size_t known_to_come(const LineInput& input, std::uint64_t offset, std::size_t size) {
  if (input.is_stream() || input.end_offset() <= offset) return 0;
  return std::min<std::uint64_t>(size, input.end_offset() - offset);
}

}  // namespace

ReadLines::ReadLines(const ReadTools& tools, FirstRows& first_rows, std::vector<LineInput>& inputs,
                     std::vector<lines::DuplicateFilter>& seen)
    : reactor_(tools.bench.reactor),
      compute_(tools.bench.compute),
      plan_(tools.plan),
      format_(tools.format),
      first_rows_(first_rows),
      inputs_(inputs),
      progress_(tools.bench.progress),
      interrupted_(tools.bench.interrupted),
      seen_(seen),
      storage_(tools.bench.storage),
      reads_(reactor_.scope()),
      arrived_(reactor_.scope()),
      marker_(format_.record_marks()) {
  begin_input();
}

void ReadLines::begin_input() {
  if (input_ == inputs_.size()) return;
  LineInput& input = inputs_[input_];
  offset_ = input.file->facts().start_offset;
  first_rows_.begin_input();
  file_lines_ = file_indexed_ = 0;
  counts_lines_ = !marker_.is_on();
  before_end_ = 0;
  at_begin_ = true;
  marker_.begin_input();
}

//   input | ...... line | line ...          requests begin at a whole unit: what lies before the place is skipped
//               ^ unit  ^ place
void ReadLines::begin_at(const ReadPlace& place) {
  input_ = place.input;
  begin_input();
  if (input_ == inputs_.size()) return;
  const std::uint64_t unit = std::max<std::uint64_t>(inputs_[input_].file->alignment(), page_bytes);
  offset_ = round_down(place.offset, unit);
  skipped_ = place.offset - offset_;
  counts_lines_ &= place.lines != ReadPlace::uncounted;
  file_lines_ = counts_lines_ ? place.lines : 0;
  file_indexed_ = place.offset;
  before_end_ = place.before_end;
  if (place.offset == 0) return;
  at_begin_ = false;
  first_rows_.go_on_in_input();
}

ReadPlace ReadLines::place() const {
  if (input_ == inputs_.size() || first_rows_.wants_row()) return {input_};
  const bool is_read = file_indexed_ > 0 && file_indexed_ >= inputs_[input_].end_offset();
  return is_read ? ReadPlace{input_ + 1} : ReadPlace{input_, file_indexed_, file_lines_, file_indexed_ == 0 ? '\0' : before_end_};
}

// Returns where a block of the present input may begin.
std::size_t ReadLines::aligned(std::size_t at) const {
  const std::size_t unit = input_ < inputs_.size() && !inputs_[input_].is_decoded() ? inputs_[input_].file->alignment() : 1;
  return unit <= 1 ? at : round_up(at, std::max(unit, page_bytes));
}

void ReadLines::place_tail(lines::LineRun& run) {
  const std::size_t end = aligned(run.kept_bytes + tail_.size());
  if (end > run.size()) line_too_long(run, tail_);
  if (!tail_.empty()) std::memmove(run.bytes() + end - tail_.size(), tail_.data(), tail_.size());
  indexed_ = end - tail_.size();
  present_ = requested_ = end;
  tail_ = {};
  indexed_ += std::exchange(skipped_, 0);
  marked_ = std::max(end, indexed_);
}

// Returns whether `size` more bytes may be requested: they, and the index of the lines that may be in all that is not indexed
// yet, fit.
bool ReadLines::has_room(const lines::LineRun& run, std::size_t size) const {
  const std::size_t unindexed = requested_ + size - indexed_;
  const std::size_t usual = lines_ == 0 ? 32 : std::max<std::size_t>(bytes_ / lines_, 1);
  const std::size_t foreseen = run.count == 0 ? 1 : std::min(unindexed / usual, unindexed);
  return requested_ + size + 1 <= run.room_for(run.count + foreseen + 1);
}

// After how many bytes the next run begins, by what the lines read so far are like: they are spread over the runs evenly.
std::uint64_t ReadLines::wanted_bytes(const lines::LineRun& run) const {
  if (limit_ != nullptr) return std::max(limited_fill_bytes, run.kept_bytes);
  if (plan_.spread_bytes == 0 || lines_ == 0) return UINT64_MAX;
  const std::uint64_t for_lines = run.size() - std::min<std::uint64_t>(run.size(), 2 * plan_.block_bytes);
  const std::uint64_t usual = std::max<std::uint64_t>(bytes_ / lines_, 1);
  const std::uint64_t full = std::max<std::uint64_t>(for_lines / (usual + lines::index_bytes_per_line) * usual, 1);
  const std::uint64_t full_runs = div_up(plan_.spread_bytes, full);
  return div_up(plan_.spread_bytes, planner::spread_runs(plan_, full_runs, longest_));
}

void ReadLines::request_blocks(lines::LineRun& run) {
  if (input_ == inputs_.size()) return;
  const LineInput& input = inputs_[input_];
  const std::size_t depth = input.is_stream() ? 1 : plan_.read_depth;
  while (!input_ended_ && !full_ && blocks_.size() < depth) {
    const bool is_in_a_line = !took_rows_ && blocks_.empty();  // which may be longer than a run is wanted to be
    if (!is_in_a_line && taken_ >= wanted_bytes(run)) {
      full_ = blocks_.empty();
      return;
    }
    if (blocks_.empty()) requested_ = present_ = aligned(present_);
    std::size_t size = plan_.block_bytes;
    while (size > page_bytes && !has_room(run, size)) size = round_down(size / 2, page_bytes);
    if (!has_room(run, size)) {
      full_ = blocks_.empty();
      return;
    }
    blocks_.push_back({.at = requested_, .size = size});
    requested_ += size;
    const std::uint64_t offset = offset_;
    taken_ += known_to_come(input, offset, size);
    offset_ += size;
    if (!input.is_stream() && offset_ >= input.end_offset() && input.end_offset() > 0) input_ended_ = true;
    reads_.spawn(read(blocks_.back(), run, offset));
  }
}

Task<void> ReadLines::read(Block& block, lines::LineRun& run, std::uint64_t offset) {
  const io::File& file = *inputs_[input_].file;
  const std::string& name = inputs_[input_].name;
  const std::size_t at_least = known_to_come(inputs_[input_], offset, block.size);
  std::byte* const data = run.memory.data() + block.at;
  if (inputs_[input_].is_decoded()) {
    if (!decoded_) decoded_.emplace(*decoding_, inputs_[input_]);
    block.got = co_await decoded_->read(reads_, data, block.size);
  } else {
    block.got = co_await reactor_.read(file, offset, data, block.size, at_least);
  }
  if (at_least > 0) block.got = at_least;  // more is what the file grew by
  if (look_ && offset == file.facts().start_offset) look_(name, {run.bytes() + block.at, block.got});
  block.arrived = true;
  progress_.add_bytes(block.got);
  arrived_.notify();
}

// The next block is here. One that is short is the last of its input.
Task<void> ReadLines::accept_block(lines::LineRun& run) {
  while (!blocks_.front().arrived) co_await arrived_.changed();
  bool is_last = false;
  while (!blocks_.empty() && blocks_.front().arrived && !is_last) {
    const Block block = blocks_.front();
    blocks_.pop_front();
    present_ = block.at + block.got;
    is_last = block.got < block.size || (input_ended_ && blocks_.empty());
  }
  if (!is_last) {
    const bool is_enough = blocks_.empty() || present_ - indexed_ >= std::min(index_batch_bytes, run.size() / 8);
    if (!is_enough) co_return;
    request_blocks(run);  // the drive continues reading while the lines are indexed
    co_await index(run);
    co_return;
  }
  input_ended_ = true;
  while (!blocks_.empty()) {  // requests beyond the end
    while (!blocks_.front().arrived) co_await arrived_.changed();
    blocks_.pop_front();
  }
  requested_ = present_;
  co_await index(run);
}

// Returns whether what the input begins with is here and taken, so that rows follow that are sorted.
bool ReadLines::take_first_rows(lines::LineRun& run) {
  const auto advance = [this](std::size_t bytes) {
    indexed_ += bytes;
    bytes_ += bytes;
    file_indexed_ += bytes;
  };
  if (at_begin_) {
    if (present_ - indexed_ < formats::RowFormat::most_mark_bytes && !input_ended_) return false;
    advance(first_rows_.take_mark({run.bytes() + indexed_, present_ - indexed_}));
    at_begin_ = false;
  }
  while (first_rows_.wants_row()) {
    const char* const begin = run.bytes() + indexed_;
    const char* const end = format_.find_first_row_end(begin, run.bytes() + present_);
    if (end == nullptr) return false;
    const Text row(begin, static_cast<std::size_t>(end - begin));
    const formats::FirstRow use = first_rows_.take(formats::shown_name(inputs_[input_].name), row);
    if (use == formats::FirstRow::is_sorted) break;
    if (use == formats::FirstRow::goes_on_top || use == formats::FirstRow::is_comment) lines::add_line(hash_, row);
    if (use == formats::FirstRow::is_comment) {
      lines::add_line(dropped_, row);
      ++comments_;
    }
    advance(row.size() + 1);
    file_lines_ += 1 + static_cast<std::uint64_t>(std::ranges::count(row, format_.terminator()));
    before_end_ = row.empty() ? '\0' : row.back();
    took_rows_ = true;
  }
  return true;
}

bool ReadLines::has_whole_row(const lines::LineRun& run) const {
  const Text rest(run.bytes() + indexed_, present_ - indexed_);
  if (rest.empty() || format_.is_blank_end(rest)) return false;
  formats::Inside inside;  // at the end also a quote that is open has a row, where such rows are left out
  return is_complete_ || format_.find_end(rest.data(), rest.data() + rest.size(), inside) != nullptr;
}

// Among rows that are not counted yet.
formats::RepeatedHeader ReadLines::repeated_header(const lines::LineRun& run, const lines::Indexed& indexed) const {
  const char* const begin = run.bytes() + indexed_;
  const auto lines = static_cast<std::uint64_t>(
      std::count(begin, static_cast<const char*>(run.bytes()) + indexed.header_row, format_.terminator()));
  return {indexed.header_rows, inputs_[input_].name, file_lines_ + lines + 1};
}

void ReadLines::take(const lines::LineRun& run, const lines::Indexed& indexed) {
  const std::size_t bytes = indexed.end - indexed_;
  if (indexed.header_rows > 0) formats::add(repeated_header_, repeated_header(run, indexed));
  bytes_ += bytes;
  file_indexed_ += bytes;
  lines_ += indexed.lines;
  file_lines_ += indexed.lines + indexed.ends_inside;
  longest_ = std::max(longest_, indexed.longest);
  hash_ += indexed.hash;
  dropped_ += indexed.dropped;
  beyond_ += indexed.beyond;
  blank_lines_ += indexed.blank_lines;
  comments_ += indexed.comments;
  took_rows_ |= indexed.lines > 0;
  entered_ += indexed.entered;
  formats::add(key_counts_, indexed.key_counts);
  if (bytes > 0) before_end_ = bytes == 1 ? '\0' : run.bytes()[indexed.end - 2];
  indexed_ = indexed.end;
}

// Returns the origin of the next row, where it can be read again.
std::optional<BufferOrder::Origin> ReadLines::origin() const {
  if (input_ == inputs_.size()) return std::nullopt;
  const LineInput& input = inputs_[input_];
  if (input.is_stream() || input.file->alignment() > page_bytes) return std::nullopt;
  return BufferOrder::Origin{input_, input.file->facts().start_offset + file_indexed_};
}

// The rows from `first` on get their keys, and those behind the bound are left out.
void ReadLines::number_rows(const shuffle::ShuffleFormat& format, lines::LineRun& run, std::size_t first,
                            lines::Indexed& indexed) {
  format.keys().enter(run.top(), first, run.count, entered_, compute_.threads());
  if (!run.bound) return;
  sorting::Entry* const top = run.top();
  std::size_t kept = first;
  for (std::size_t i = first; i < run.count; ++i) {
    const sorting::Entry entry = *(top - 1 - i);
    if (!run.bound->is_behind({entry.prefix, entry.extension}, {})) {
      *(top - 1 - kept++) = entry;
      continue;
    }
    const Text row = run.line(entry);
    lines::add_line(indexed.beyond, {row.data(), row.size() + format.hashed_end()});
    indexed.dropped_bytes += row.size() + 1;
  }
  run.count = kept;
}

// Marks the ends of the records that have arrived.
Task<void> ReadLines::mark_records(const lines::LineRun& run) {
  if (!marker_.is_on() || present_ < marked_) co_return;
  std::optional<formats::RecordMarker::Fault> fault;
  const std::size_t size = present_ - marked_;
  const bool is_all = input_ended_ && blocks_.empty();
  auto work = compute_.run([&] { fault = marker_.mark(run.bytes() + marked_, size, is_all); }, size);
  co_await work;
  marked_ = present_;
  if (!fault) co_return;
  const char* const row = run.bytes() + indexed_;
  refuse(row, {static_cast<std::size_t>(fault->at - row), std::move(fault->why)});
}

Task<void> ReadLines::index(lines::LineRun& run) {
  co_await mark_records(run);
  if (!take_first_rows(run)) co_return;
  run.is_complete = is_complete_;
  lines::Indexed indexed;
  do indexed = co_await index_some(run);
  while (indexed.bad_rows.size() >= formats::most_bad_rows);
  if (has_whole_row(run)) full_ = true;  // rows are left for which the index has no place
}

Task<lines::Indexed> ReadLines::index_some(lines::LineRun& run) {
  const std::size_t room = run.size() - std::min(run.size(), requested_ + 1 + lines::line_slack_bytes);
  const std::size_t most = room / lines::index_bytes_per_line - std::min(run.count, room / lines::index_bytes_per_line);
  lines::Indexed indexed;
  const std::size_t from = indexed_, to = present_, before = run.count;
  if (limit_ != nullptr) limit_->set_bounds(run);
  const shuffle::ShuffleFormat* const shuffle = shuffle::as_shuffle(format_);
  auto work = compute_.run(
      [&] {
        indexed = lines::index_lines(run, format_, from, to, most, compute_.threads(), seen_);
        if (shuffle != nullptr) number_rows(*shuffle, run, before, indexed);
        if (order_ != nullptr) order_->add(run, format_, indexed, before, from, origin(), compute_.threads());
        if (limit_ != nullptr) limit_->after_batch(run, indexed.lines, indexed.beyond.count);
      },
      to - from);
  co_await work;
  run.line_bytes += indexed.end - from - indexed.dropped_bytes;
  if (!indexed.bad_rows.empty()) co_await set_aside(run, indexed);
  take(run, indexed);
  if (indexed.fault) {
    indexed.fault->at -= indexed_;
    refuse(run.bytes() + indexed_, *indexed.fault);
  }
  co_return indexed;
}

// Returns whether the last bytes, in which no row ends, are whole lines: a quote is open.
bool ReadLines::ends_line(Text rest) const {
  if (!rest.ends_with(format_.terminator())) return false;
  rest.remove_suffix(1);
  formats::Inside inside;
  if (format_.is_walked()) lines::pass_quotes(format_, rest, inside);
  return !inside.escape;
}

// The input is read to its end. Its last line is completed; there was room kept for that.
void ReadLines::end_input(lines::LineRun& run) {
  if (const Text rest(run.bytes() + indexed_, present_ - indexed_); !rest.empty() && format_.is_blank_end(rest))
    leave_out_blank_end(rest);
  if (indexed_ < present_) {
    const Text row(run.bytes() + indexed_, present_ - indexed_);
    if (!format_.leaves_out_bad_rows() || first_rows_.wants_row()) check_beginning(row, true);  // no header is left out
    const Text end = format_.leaves_out_bad_rows() && ends_line(row) ? Text() : format_.missing_end(row, before_end_);
    if (present_ + end.size() > run.room_for(run.count + 1)) {
      full_ = true;
      return;
    }
    std::memcpy(run.bytes() + present_, end.data(), end.size());
    present_ += end.size();
    requested_ = marked_ = present_;
    is_complete_ = true;
    return;
  }
  if (first_rows_.wants_row()) first_rows_.miss(formats::shown_name(inputs_[input_].name));
  decoded_.reset();
  ++input_;
  input_ended_ = is_complete_ = false;
  begin_input();
  indexed_ = present_ = requested_ = marked_ = aligned(present_);
}

// Makes what has been read and has no place in this run the tail for the next one.
Task<void> ReadLines::cut_off(lines::LineRun& run) {
  for (; !blocks_.empty(); blocks_.pop_front()) {
    while (!blocks_.front().arrived) co_await arrived_.changed();
    present_ = blocks_.front().at + blocks_.front().got;
    if (blocks_.front().got < blocks_.front().size) {
      input_ended_ = true;
      while (blocks_.size() > 1) {
        while (!blocks_.back().arrived) co_await arrived_.changed();
        blocks_.pop_back();
      }
    }
  }
  requested_ = present_;
  co_await mark_records(run);
  const auto rest = [&] { return Text(run.bytes() + indexed_, present_ - indexed_); };
  if (run.count == 0 && !took_rows_ && !rest().empty() && !co_await leave_out_open_line(run)) line_too_long(run, rest());
  tail_ = rest();
}

Task<void> ReadLines::fill(lines::LineRun& run, BufferOrder* order) {
  order_ = order;
  if (order != nullptr) order->begin();
  run.is_ordered = false;
  if (run.kept_bytes == 0) run.count = run.line_bytes = 0;
  run.format = &format_;
  run.keys_follow = shuffle::as_shuffle(format_) != nullptr;
  run.has_quotes &= run.kept_bytes > 0;
  took_rows_ = false;
  taken_ = 0;
  for (lines::DuplicateFilter& seen : seen_) seen.forget();
  run.terminator = format_.terminator();
  full_ = false;
  place_tail(run);
  run.offset = file_indexed_ - indexed_;
  reads_.spawn(read_until_full(run));
  co_await reads_.join();
}

Task<void> ReadLines::read_until_full(lines::LineRun& run) {
  std::optional<RefusedRow> refused;
  try {
    co_await read_rows(run);
  } catch (const RefusedRow& error) {
    refused = error;
  }
  if (!refused) co_return;
  if (decoded_) co_await check_rest(run);
  refused->blame();
}

// Checks the rest of the present input, whose bytes no one wants any more: IoError where it is damaged.
Task<void> ReadLines::check_rest(lines::LineRun& run) {
  for (; !blocks_.empty(); blocks_.pop_front())
    while (!blocks_.front().arrived) co_await arrived_.changed();
  co_await decoded_->check_rest(reads_, {run.memory.data(), plan_.block_bytes});
}

Task<void> ReadLines::read_rows(lines::LineRun& run) {
  if (indexed_ < present_) co_await index(run);
  while (!full_ && input_ < inputs_.size()) {
    request_blocks(run);
    if (!blocks_.empty()) {
      co_await accept_block(run);
    } else if (input_ended_) {
      co_await mark_records(run);
      if (!has_whole_row(run)) end_input(run);
      if (indexed_ < present_) co_await index(run);
    }
  }
  co_await cut_off(run);
}

std::string ReadLines::check_unchanged() {
  std::string grown;
  for (const LineInput& input : inputs_)
    if (input.has_grown(storage_)) grown += (grown.empty() ? "" : ", ") + lines::quoted_name(input.name);
  return grown.empty() ? "" : grown + " grew meanwhile: what was added is not in the output";
}

}  // namespace ecosort::engine::rows
