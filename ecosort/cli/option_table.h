// Flags are data: parsing, help, man page and shell completion come from this one table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ecosort::cli {

struct OptionRow {
  std::string_view name;      // "--memory"; several spellings separated by commas: "-o,--output"
  std::string_view argument;  // "SIZE"; empty: a switch
  std::string_view fallback;  // what holds without the option, for people
  std::string_view text;
  bool repeatable = false;
};

struct CommandTable {
  std::string_view name;
  std::string_view synopsis;  // without "ecosort NAME"
  std::string_view summary;   // one line
  std::vector<std::string_view> examples;
  std::vector<OptionRow> options;
};

[[nodiscard]] const std::vector<CommandTable>& command_tables();
[[nodiscard]] const CommandTable& command_table(std::string_view name);

// The text of `ecosort NAME --help`: synopsis, examples first, then the options.
[[nodiscard]] std::string help_text(const CommandTable& table);

}  // namespace ecosort::cli
