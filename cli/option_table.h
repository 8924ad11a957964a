// Flags are data: parsing, help, man page and shell completion come from these tables (cli/tables/ holds them).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ecosort::cli {

struct OptionRow {
  std::string_view name;  // "--memory"; several spellings separated by commas: "-o,--output"
  // "SIZE"; empty: a switch. FILE and DIR are completed as such, "a|b|c" are the only values there are.
  std::string_view argument;
  std::string_view fallback;  // what holds without the option, for people
  std::string_view text;
  bool repeatable = false;
  bool joined = false;     // the argument follows without a space: "-tN"
  bool is_hidden = false;  // understood, but told to no one
};

// A word that is no option, such as INPUT.
struct OperandRow {
  std::string_view name;
  std::string_view text;
};

// A word that users of another program type, and what to write here.
struct HabitRow {
  std::string_view word;  // one or two letters, or a whole option
  std::string_view advice;
};

struct CommandTable {
  std::string_view name;
  std::string_view synopsis;     // without "ecosort NAME"
  std::string_view summary;      // one line, as in "ecosort NAME: ..."
  std::string_view description;  // sentences; may be empty
  std::vector<std::string_view> examples;
  std::vector<OptionRow> options;
  std::vector<OperandRow> operands;
  std::string_view ending;                // what else is to say; may be empty
  std::vector<OperandRow> exit_status{};  // codes and their meanings; empty: those of plan, or of another program
  std::span<const HabitRow> habits{};
};

[[nodiscard]] const std::vector<CommandTable>& command_tables();
// Of `ecosort plan WHAT`, each under the name "plan WHAT".
[[nodiscard]] const std::vector<CommandTable>& plan_tables();
[[nodiscard]] const CommandTable& command_table(std::string_view name);

// "-o, --output FILE", as people write it.
[[nodiscard]] std::string option_words(const OptionRow& option);

// "text (default: ...)".
[[nodiscard]] std::string option_text(const OptionRow& option);

// The text of `ecosort NAME --help`: examples first, then the usage and the options.
[[nodiscard]] std::string help_text(const CommandTable& table);

}  // namespace ecosort::cli
