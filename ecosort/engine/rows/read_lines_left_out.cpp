// ReadLines: lines that are refused or left out, and what is said of them.
#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "base/size_text.h"
#include "engine/rows/damaged_input.h"
#include "engine/rows/long_row.h"
#include "engine/rows/read_lines.h"

namespace ecosort::engine::rows {

// Before the rows are taken.
Task<void> ReadLines::set_aside(const lines::LineRun& run, const lines::Indexed& indexed) {
  for (const formats::BadRow& bad : indexed.bad_rows) {
    if (bad.fault && bad_rows_->wants_name())
      bad_rows_->name(place_of(run.bytes() + indexed_, bad.fault->at - indexed_) + bad.fault->why);
    co_await bad_rows_->add({run.bytes() + bad.begin, bad.end - bad.begin});
  }
}

// Leaves out the next line, whose quote is open for longer than the memory reaches, where the file shows that no row comes of it:
// memory makes no difference to what is a row. False: it may be one, or no one can look ahead.
Task<bool> ReadLines::leave_out_open_line(const lines::LineRun& run) {
  if (!format_.leaves_out_bad_rows() || input_ == inputs_.size() || inputs_[input_].is_stream()) co_return false;
  if (first_rows_.wants_row()) co_return false;  // no header is left out
  const LineInput& input = inputs_[input_];
  const Text rest(run.bytes() + indexed_, present_ - indexed_), line = rest.substr(0, rest.find(format_.terminator()));
  if (line.size() == rest.size()) co_return false;
  auto fault = fault_of_open_quote(input.name, input.file->facts().start_offset + file_indexed_, rest, format_, interrupted_);
  if (!fault) co_return false;
  fault->at += indexed_;
  lines::Indexed indexed;
  indexed.lines = 1;
  indexed.end = indexed_ + line.size() + 1;
  lines::add_line(indexed.hash, line);
  indexed.bad_rows.push_back({indexed_, indexed.end, std::move(fault)});
  co_await set_aside(run, indexed);
  take(run, indexed);
  co_return true;
}

// Such lines end the input.
void ReadLines::leave_out_blank_end(Text rest) {
  bytes_ += rest.size();
  file_indexed_ += rest.size();
  indexed_ += rest.size();
  while (!rest.empty()) {
    const Text line = rest.substr(0, rest.find(format_.terminator()));
    lines::add_line(hash_, line);
    lines::add_line(dropped_, line);
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    ++blank_lines_;
  }
}

// Names a place that counts from the next row on.
std::string ReadLines::place_of(const char* row, std::size_t at) const {
  const auto lines = static_cast<std::uint64_t>(std::count(row, row + at, format_.terminator()));
  return fmt::format("{}: {}byte {}: ", formats::shown_name(inputs_[input_].name), line_told(lines), file_indexed_ + at);
}

void ReadLines::refuse(const char* row, const formats::RowFault& fault) const {
  throw refused_row(place_of(row, fault.at) + fault.why, fault);
}

std::string ReadLines::line_told(std::uint64_t before) const {
  return counts_lines_ ? fmt::format("line {}, ", file_lines_ + before + 1) : "";
}

// Checks the beginning of the row that is not whole. Compressed bytes may hold a quote.
void ReadLines::check_beginning(Text row, bool is_all) const {
  if (input_ == inputs_.size()) return;
  const auto fault = format_.fault_in(row, is_all);
  if (fault && file_indexed_ == 0) refuse_contents(inputs_[input_].name, row);
  if (fault) refuse(row.data(), *fault);
}

void ReadLines::line_too_long(const lines::LineRun& run, Text beginning) const {
  check_beginning(beginning, false);
  const std::string& name = input_ < inputs_.size() ? inputs_[input_].name : inputs_.back().name;
  const std::string line = counts_lines_ ? fmt::format("line {}, at byte {},", file_lines_ + 1, file_indexed_)
                                         : fmt::format("the line at byte {}", file_indexed_);
  const bool is_on_drive = input_ < inputs_.size() && !inputs_[input_].is_stream() && !inputs_[input_].is_decoded();
  throw NotEnoughMemory(fmt::format("{}: {} is too long for the memory: {} hold lines of up to {}", name, line,
                                    format_bytes(plan_.memory_bytes), format_bytes(run.size() - plan_.block_bytes)),
                        plan_.memory_bytes, is_on_drive ? memory_for_row(name, file_indexed_, format_) : 0);
}

}  // namespace ecosort::engine::rows
