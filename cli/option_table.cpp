#include "cli/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/errors.h"
#include "cli/text_layout.h"
#include "ecosort/request.hpp"

namespace ecosort::cli {

std::string_view word_of(Concern concern) noexcept {
  static constexpr std::array<std::string_view, 11> words{"how",    "rows",  "compression", "output", "temp",   "input",
                                                          "memory", "means", "job",         "report", "nothing"};
  return words[static_cast<std::size_t>(concern)];
}

std::string ConflictRow::message(std::string_view given) const {
  return line.empty() ? fmt::format("{} cannot be combined with {}", given, with) : fmt::format(fmt::runtime(line), given);
}

const OptionRow* find_row(const CommandTable& table, std::string_view name) {
  // Most names are passed by their last letters alone.
  const auto row = std::ranges::find_if(table.options, [&](const OptionRow& option) {
    return option.name.back() == name.back() && option.name.ends_with(name) && last_spelling(option.name) == name;
  });
  return row == table.options.end() ? nullptr : &*row;
}

const OptionRow* row_that_sets(const CommandTable& table, std::string_view member) {
  const auto row = std::ranges::find_if(table.options, [&](const OptionRow& option) { return option.sets.member == member; });
  return row == table.options.end() ? nullptr : &*row;
}

void check_conflicts(const CommandTable& table, const std::vector<GivenOption>& given) {
  const auto is_given = [&](std::string_view option) {
    return std::ranges::any_of(given, [&](const GivenOption& one) { return last_spelling(one.row->name) == option; });
  };
  for (const ConflictRow& row : table.conflicts) {
    if (!row.value.empty() || (!row.with.empty() && !is_given(row.with))) continue;
    std::string conflicting;
    for (const std::string_view option : split(row.option, ','))
      if (is_given(option)) conflicting += (conflicting.empty() ? "" : " and ") + std::string(option);
    if (!conflicting.empty()) throw UsageError(row.message(conflicting));
  }
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string_view> spellings(const OptionRow& option) { return split(option.name, ','); }

std::string_view last_spelling(std::string_view name) noexcept { return name.substr(name.rfind(',') + 1); }

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
  if (const std::string more = table.explanation(); !more.empty()) text += fmt::format("\n{}\n", wrapped(more, 0, 0, columns));
  if (table.exit_status.empty()) return text;
  TextRows codes;
  for (const OperandRow& row : table.exit_status) codes.emplace_back(row.name, row.text);
  return text + "\nExit status\n" + rows_text(codes, columns);
}

std::string names_of_formats() {
  const std::span<const std::string_view> all(format_names);
  return fmt::format("{} or {}", fmt::join(all.first(all.size() - 1), ", "), all.back());
}

}  // namespace ecosort::cli
