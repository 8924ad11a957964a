#include "cli/option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace ecosort::cli {

namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

// In lines of at most so many columns where words allow it. Lines that go on are indented by `indent`; those of the text stay.
std::string wrapped(std::string_view text, std::size_t indent) {
  constexpr std::size_t columns = 100;
  std::string lines;
  std::size_t at = indent;  // the caller has written so many
  while (!text.empty()) {
    const std::size_t size = std::min(text.find_first_of(" \n", 1), text.size());
    if (text[0] == ' ' && at + size > columns) {
      lines += '\n' + std::string(indent, ' ');
      text.remove_prefix(1);
      at = indent;
      continue;
    }
    lines += text.substr(0, size);
    at = text[0] == '\n' ? size - 1 : at + size;
    text.remove_prefix(size);
  }
  return lines;
}

// Short words and their texts side by side; where a word is long, every text gets lines of its own.
std::string layout(const Rows& rows) {
  constexpr std::size_t column = 10;
  const bool beside = std::ranges::all_of(rows, [](const auto& row) { return row.first.size() < column; });
  std::string text;
  for (const auto& [word, explanation] : rows) {
    if (beside)
      text += fmt::format("  {:<{}}{}\n", word, column, wrapped(explanation, 2 + column));
    else
      text += fmt::format("  {}\n      {}\n", word, wrapped(explanation, 6));
  }
  return text;
}

}  // namespace

const CommandTable& command_table(std::string_view name) {
  for (const CommandTable& table : command_tables())
    if (table.name == name) return table;
  throw InternalError(fmt::format("no option table for '{}'", name));
}

std::string option_words(const OptionRow& option) {
  std::string words(option.name);
  if (const std::size_t comma = words.find(','); comma != std::string::npos) words.insert(comma + 1, " ");
  return words + (option.argument.empty() || option.joined ? "" : " ") + std::string(option.argument);
}

std::string option_text(const OptionRow& option) {
  return option.fallback.empty() ? std::string(option.text) : fmt::format("{} (default: {})", option.text, option.fallback);
}

std::string help_text(const CommandTable& table) {
  std::string text = "Examples\n";
  for (const std::string_view example : table.examples) text += fmt::format("  {}\n", example);
  text += fmt::format("\nUsage\n  ecosort {} {}\n\n", table.name, table.synopsis);
  text += table.description.empty() ? fmt::format("ecosort {} {}.\n\n", table.name, table.summary)
                                    : fmt::format("{}\n\n", wrapped(table.description, 0));
  Rows rows;
  for (const OptionRow& option : table.options) rows.emplace_back(option_words(option), option_text(option));
  for (const OperandRow& operand : table.operands) rows.emplace_back(operand.name, operand.text);
  rows.emplace_back("--help", "print this text");
  text += layout(rows);
  return table.ending.empty() ? text : fmt::format("{}\n{}\n", text, wrapped(table.ending, 0));
}

}  // namespace ecosort::cli
