#include "cli/option_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "cli/text_layout.h"

namespace ecosort::cli {

const CommandTable& command_table(std::string_view name) {
  for (const CommandTable& table : command_tables())
    if (table.name == name) return table;
  for (const CommandTable& table : plan_tables())
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
  const std::size_t columns = help_columns();
  std::string text = "Examples\n" + examples_text(table.examples, columns);
  text += fmt::format("\nUsage\n  {}\n\n", wrapped(fmt::format("ecosort {} {}", table.name, table.synopsis), 2, 6, columns));
  text += wrapped(table.description.empty() ? fmt::format("ecosort {} {}.", table.name, table.summary)
                                            : std::string(table.description),
                  0, 0, columns) +
          "\n\n";
  TextRows rows;
  for (const OptionRow& option : table.options)
    if (!option.is_hidden) rows.emplace_back(option_words(option), option_text(option));
  for (const OperandRow& operand : table.operands) rows.emplace_back(operand.name, operand.text);
  rows.emplace_back("--help", "print this text");
  text += rows_text(rows, columns);
  if (!table.ending.empty()) text += fmt::format("\n{}\n", wrapped(table.ending, 0, 0, columns));
  if (table.exit_status.empty()) return text;
  TextRows codes;
  for (const OperandRow& row : table.exit_status) codes.emplace_back(row.name, row.text);
  return text + "\nExit status\n" + rows_text(codes, columns);
}

}  // namespace ecosort::cli
