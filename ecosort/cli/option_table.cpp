#include "cli/option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace ecosort::cli {

namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

// Short words and their texts side by side; where a word is long, every text gets lines of its own.
std::string layout(const Rows& rows) {
  constexpr std::size_t column = 10;
  const bool beside = std::ranges::all_of(rows, [](const auto& row) { return row.first.size() < column; });
  std::string text;
  for (const auto& [word, explanation] : rows) {
    if (beside)
      text += fmt::format("  {:<{}}{}\n", word, column, explanation);
    else
      text += fmt::format("  {}\n      {}\n", word, explanation);
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
  text += table.description.empty() ? fmt::format("ecosort {} {}.\n", table.name, table.summary)
                                    : fmt::format("{}\n", table.description);
  Rows rows;
  for (const OptionRow& option : table.options) rows.emplace_back(option_words(option), option_text(option));
  for (const OperandRow& operand : table.operands) rows.emplace_back(operand.name, operand.text);
  rows.emplace_back("--help", "print this text");
  text += layout(rows);
  return table.ending.empty() ? text : fmt::format("{}\n{}\n", text, table.ending);
}

}  // namespace ecosort::cli
