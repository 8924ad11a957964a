#include "formats/lines/line_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/lines/walking_framer.h"

namespace ecosort::lines {

const char* LineGroups::find_end(const char* at, const char* end) const noexcept {
  const LineKernels& kernels = line_kernels();
  std::uint64_t found = 0;
  for (const char* line = at; line < end;) {
    const char* const line_end = kernels.find(line, end, '\n');
    if (line_end == nullptr) return nullptr;
    const bool is_last = lines_ > 0 ? ++found == lines_ : is_empty_line({line, static_cast<std::size_t>(line_end - line)});
    if (is_last) return line_end;
    line = line_end + 1;
  }
  return nullptr;
}

std::string_view LineGroups::missing_end(Text row) const noexcept {
  if (lines_ > 0) return "\n";
  const bool has_returns = row.find("\r\n") != Text::npos;
  if (row.ends_with('\n') || is_blank(row)) return has_returns ? "\r\n" : "\n";
  if (!has_returns) return "\n\n";
  return row.ends_with('\r') ? "\n\r\n" : "\r\n\r\n";
}

std::optional<formats::RowFault> LineGroups::fault_in(Text beginning, bool is_all) const {
  if (!is_all || lines_ == 0) return std::nullopt;
  const auto ends = static_cast<std::uint64_t>(std::ranges::count(beginning, '\n'));
  const std::uint64_t lines = ends + (beginning.ends_with('\n') ? 0 : 1);
  if (lines == lines_) return std::nullopt;
  return formats::RowFault{
      0,
      fmt::format("the last record has {} lines instead of {}: the file is not whole, or its records have fewer", lines, lines_)};
}

LineGroupOrder::LineGroupOrder(LineGroups groups, const LineOrderTerms& terms)
    : RowFormat(Format::lines, '\n', std::nullopt), groups_(groups), order_(terms) {
  is_walked_ = true;
  levels_ = order_.levels();
}

void LineGroupOrder::enter(LineRun& run, Part& part, DuplicateFilter* seen) const {
  WalkingFramer<LineGroupOrder> framer(run, *this, part);
  enter_rows(run, framer, part, seen);
}

formats::KeyBytes LineGroupOrder::key_bytes(unsigned level) const {
  const formats::KeyBytes bytes = order_.key_bytes(level);
  return bytes == formats::KeyBytes::of_row ? formats::KeyBytes::compared : bytes;
}

}  // namespace ecosort::lines
