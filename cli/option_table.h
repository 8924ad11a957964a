// The catalog of options: every option is one row (cli/tables/ has them). Parsing, refusals, help, man page, shell completion and
// `ecosort manual json` come from these rows, and so does the member of the request that an option sets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace ecosort::cli {

struct CommandLine;

// Says what an option concerns, for programs that read the tables: the queue and the cluster.
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

struct GivenOption;

// Makes the value of a member of the request. `before` is what the member holds so far; null: nothing yet. Throws UsageError for
// a word that means nothing. cli/option_values.h has these functions.
using ValueOf = Json (*)(const GivenOption& given, const Json* before);

// An option says this to the request.
struct Sets {
  std::string_view member{};  // its path in the JSON of a request, such as "means.threads"; "rows." is the format. Empty: none
  ValueOf value = nullptr;    // without a member it only checks the word
  bool adds = false;          // the member is a list, and the option is repeatable
  std::string_view also{};    // a member that becomes true
};
constexpr Sets sets(std::string_view member, ValueOf value, std::string_view also = {}) { return {member, value, false, also}; }
constexpr Sets adds_to(std::string_view member, ValueOf value) { return {member, value, true, {}}; }
constexpr Sets checked(ValueOf value) { return {{}, value, false, {}}; }

struct OptionRow {
  std::string_view name;  // "--memory"; several spellings separated by commas: "-o,--output"
  // "SIZE"; empty: a switch. FILE and DIR are completed as such, "a|b|c" are the values that are proposed; "[=N]" may be left
  // out, and the long spelling alone takes it.
  std::string_view argument;
  std::string_view fallback;  // what holds without the option, for people
  std::string_view text;
  Concern concern = Concern::how;
  Sets sets{};
  bool joined = false;     // the argument follows without a space: "-tN"
  bool is_hidden = false;  // understood, but not shown
  bool is_gnu = false;     // GNU sort has it: a beginning that fits it means it

  [[nodiscard]] bool may_lack_argument() const noexcept { return argument.starts_with("[="); }
  [[nodiscard]] bool takes_next_word() const noexcept { return !argument.empty() && !joined && !may_lack_argument(); }
};

// An option that someone gave.
struct GivenOption {
  const OptionRow* row = nullptr;
  std::optional<std::string> word{};  // its argument
  bool is_obsolescent = false;        // a key as "+1 -2"
};

// An option that cannot be given together with another one.
struct ConflictRow {
  std::string_view option;   // by its last spelling; options of one message are separated by commas
  std::string_view with;     // likewise one; empty: the command refuses the option always
  std::string_view line{};   // the message, in which {} is the option; empty: "OPTION cannot be combined with WITH"
  std::string_view value{};  // of the option; empty: any. Of a certain value the command makes sure by itself

  // Returns the message, in which `given` are the options: those of `option` that someone gave.
  [[nodiscard]] std::string message(std::string_view given) const;
};

// A word that is no option, such as INPUT.
struct OperandRow {
  std::string name;
  std::string text;
};

// A word that users of another program type, and what to write here.
struct HabitRow {
  std::string_view word;  // one or two letters, or a whole option
  std::string_view advice;
};

// A member of the request that has a certain value where no option of the command sets it.
struct FixedMember {
  std::string_view member;
  Json value;
};

struct CommandTable {
  std::string name;
  std::string synopsis;          // without "ecosort NAME"
  std::string summary;           // one line, as in "ecosort NAME: ..."
  std::string_view description;  // sentences; may be empty
  std::vector<std::string> examples;
  std::vector<OptionRow> options;
  std::vector<OperandRow> operands;
  std::string_view ending{};              // what else is to say; may be empty
  std::vector<OperandRow> exit_status{};  // codes and their meanings; empty: those of plan, or of another program
  std::span<const HabitRow> habits{};
  std::vector<ConflictRow> conflicts{};
  std::string_view format{};  // what the rows of its request are, such as "csv"; empty: it makes no request
  std::vector<FixedMember> fixed{};
  bool is_gnu = false;                   // its words follow the rules of GNU sort
  std::string (*key_types)() = nullptr;  // explains the types of its keys, in front of the ending

  [[nodiscard]] std::string explanation() const { return (key_types == nullptr ? "" : key_types()) + std::string(ending); }
};

// A subcommand: its table, and what it does with the words after its name.
struct CommandRow {
  std::string_view name;
  CommandTable (*make_table)();
  int (*run)(const std::vector<std::string>& words) = nullptr;  // null: does the request that its words make
  CommandLine (*read)(std::string_view command, const std::vector<std::string>& words) = nullptr;  // null: they make none
};
// Returns all of them, in the order of the help.
[[nodiscard]] std::span<const CommandRow> command_rows();
// "records, lines, csv or jsonl".
[[nodiscard]] std::string names_of_formats();
// Names the commands of `ecosort request`.
[[nodiscard]] std::string names_of_requests(std::string_view between);
[[nodiscard]] const std::vector<CommandTable>& command_tables();
// Returns those of `ecosort plan WHAT`, each under the name "plan WHAT".
[[nodiscard]] const std::vector<CommandTable>& plan_tables();
[[nodiscard]] const CommandTable& command_table(std::string_view name);
// The row of an option, by its last spelling, or by the member of the request that it sets. Null: the command has none.
[[nodiscard]] const OptionRow* find_row(const CommandTable& table, std::string_view last_spelling);
[[nodiscard]] const OptionRow* row_that_sets(const CommandTable& table, std::string_view member);

// Throws UsageError where two of the options that are `given` conflict.
void check_conflicts(const CommandTable& table, const std::vector<GivenOption>& given);

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
