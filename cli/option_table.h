// Flags are data: parsing, help, man page and shell completion come from these tables (cli/tables/ holds them).
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ecosort::cli {

// What an option says something about, for programs that read the tables: the queue and the cluster.
enum class Concern : std::uint8_t {
  how,          // the way of sorting, in any other respect
  rows,         // the rows and how any two of them compare: a part of a divided sort has the same
  compression,  // of inputs and of the output
  output,       // the place of the result
  temp,         // the place of runs
  input,        // a file that is read besides the inputs
  memory,       // the bound on all buffers
  means,        // other means that the machine may lack
  job,          // whether a crash is outlived
  report,       // what is written about the run
  nothing       // with it no output is made
};
[[nodiscard]] std::string_view word_of(Concern concern) noexcept;

struct OptionRow {
  std::string_view name;  // "--memory"; several spellings separated by commas: "-o,--output"
  // "SIZE"; empty: a switch. FILE and DIR are completed as such, "a|b|c" are the values that are proposed; "[=N]" may be left
  // out, and the long spelling alone takes it.
  std::string_view argument;
  std::string_view fallback;  // what holds without the option, for people
  std::string_view text;
  Concern concern = Concern::how;
  bool repeatable = false;
  bool joined = false;     // the argument follows without a space: "-tN"
  bool is_hidden = false;  // understood, but told to no one

  [[nodiscard]] bool may_lack_argument() const noexcept { return argument.starts_with("[="); }
  [[nodiscard]] bool takes_next_word() const noexcept { return !argument.empty() && !joined && !may_lack_argument(); }
};

// An option that cannot be given together with another one.
struct ConflictRow {
  std::string_view option;   // by its last spelling; options of one message are separated by commas
  std::string_view with;     // likewise one; empty: the command refuses the option always
  std::string line{};        // the message; empty: "OPTION goes without WITH"
  std::string_view value{};  // of the option; empty: any. Of a certain value the command makes sure by itself

  [[nodiscard]] std::string message() const;
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
  std::vector<ConflictRow> conflicts{};
};

[[nodiscard]] const std::vector<CommandTable>& command_tables();
// Of `ecosort plan WHAT`, each under the name "plan WHAT".
[[nodiscard]] const std::vector<CommandTable>& plan_tables();
[[nodiscard]] const CommandTable& command_table(std::string_view name);

// UsageError where two of the options that are `given`, by their names in the table, conflict.
void check_conflicts(const CommandTable& table, const std::set<std::string_view>& given);

// All spellings of the option.
[[nodiscard]] std::vector<std::string_view> spellings(const OptionRow& option);
// The one that messages use.
[[nodiscard]] std::string_view last_spelling(std::string_view name) noexcept;

// The parts of a text between separators.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// "-o, --output FILE", as people write it.
[[nodiscard]] std::string option_words(const OptionRow& option);

// "text (default: ...)".
[[nodiscard]] std::string option_text(const OptionRow& option);

// The text of `ecosort NAME --help`: examples first, then the usage and the options.
[[nodiscard]] std::string help_text(const CommandTable& table);

}  // namespace ecosort::cli
