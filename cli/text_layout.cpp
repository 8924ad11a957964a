#include "cli/text_layout.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/terminal.h"

namespace ecosort::cli {

namespace {

// One line without newlines.
std::string wrapped_line(std::string_view line, std::size_t at, std::size_t indent, std::size_t columns) {
  std::string text;
  while (!line.empty()) {
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t size = std::min(line.find(' ', blanks), line.size());
    if (at + size > columns && at > indent && blanks > 0 && blanks < size) {
      text += '\n' + std::string(indent, ' ');
      line.remove_prefix(blanks);
      at = indent;
      continue;
    }
    text += line.substr(0, size);
    at += size;
    line.remove_prefix(size);
  }
  return text;
}

// Returns where TEXT begins in "  WORD   TEXT", or a little inside where that is far away; of any other line `indent`.
std::size_t hanging_indent(std::string_view line, std::size_t indent) {
  constexpr std::size_t most = 14;
  if (!line.starts_with("  ")) return indent;
  const std::size_t gap = line.find("  ", line.find_first_not_of(' '));
  return gap == std::string_view::npos ? indent : std::min(line.find_first_not_of(' ', gap), most);
}

}  // namespace

std::size_t help_columns() {
  constexpr std::size_t easy_to_read = 100;
  return std::min(text_columns(STDOUT_FILENO), easy_to_read);
}

std::string wrapped(std::string_view text, std::size_t at, std::size_t indent, std::size_t columns) {
  std::string lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (begin > 0) lines += '\n';
    lines += wrapped_line(line, begin == 0 ? at : 0, hanging_indent(line, indent), columns);
    begin = end + 1;
  }
  return lines;
}

std::string rows_text(const TextRows& rows, std::size_t columns) {
  constexpr std::size_t column = 10;
  const bool beside = std::ranges::all_of(rows, [](const auto& row) { return row.first.size() < column; });
  std::string text;
  for (const auto& [word, explanation] : rows) {
    if (beside)
      text += fmt::format("  {:<{}}{}\n", word, column, wrapped(explanation, 2 + column, 2 + column, columns));
    else
      text += fmt::format("  {}\n      {}\n", wrapped(word, 2, 4, columns), wrapped(explanation, 6, 6, columns));
  }
  return text;
}

std::pair<std::string_view, std::string_view> parts_of_example(std::string_view example) {
  const std::size_t gap = example.find("  ");
  if (gap == std::string_view::npos) return {example, {}};
  return {example.substr(0, gap), example.substr(std::min(example.find_first_not_of(' ', gap), example.size()))};
}

namespace {

// A shell takes lines that end so as one.
std::string continued(std::string lines) {
  for (std::size_t at = lines.find('\n'); at != std::string::npos; at = lines.find('\n', at + 3)) lines.insert(at, " \\");
  return lines;
}

}  // namespace

std::string examples_text(const std::vector<std::string>& examples, std::size_t columns) {
  std::string text;
  for (const std::string_view example : examples) {
    const auto [command, what] = parts_of_example(example);
    if (2 + example.size() <= columns)
      text += fmt::format("  {}\n", example);
    else
      text += fmt::format("  {}\n{}", continued(wrapped(command, 2, 4, columns - 2)),
                          what.empty() ? "" : fmt::format("      {}\n", wrapped(what, 6, 6, columns)));
  }
  return text;
}

}  // namespace ecosort::cli
