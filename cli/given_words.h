// Splits the words of a command into options of its table and operands.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/option_table.h"
#include "formats/lines/posix_rules.h"

namespace ecosort::cli {

// Holds the words of a command. The rows of options are those of the catalog, which stays.
struct GivenWords {
  std::vector<GivenOption> options;  // in their order
  std::vector<std::string> operands;
  bool asks_for_help = false, asks_for_version = false;  // what follows was not looked at

  // All take the last spelling. The word is that of the last time; empty: the option is not there.
  [[nodiscard]] bool has(std::string_view option) const noexcept;
  [[nodiscard]] std::string_view word(std::string_view option) const noexcept;
  // Throws UsageError for a word that is no whole number.
  [[nodiscard]] std::uint64_t number(std::string_view option, std::uint64_t usual = 0) const;
};

// Long options, letters, which may be bundled (-qo FILE), and operands in any order; behind `--` all are operands. Throws
// UsageError that names the command and the option for anything else.
[[nodiscard]] GivenWords split_words(const CommandTable& table, const Words& words);

// Splits words by the rules of GNU sort 9.1: long options may be cut short, and +N [-M] is a key. `each` gets the options in
// their order and may throw, so that the first mistake is the one that is reported. Throws WrongOption with the lines that sort
// writes.
[[nodiscard]] GivenWords split_gnu_words(const CommandTable& table, const Words& words, const lines::PosixRules& rules,
                                         const std::function<void(const GivenOption&)>& each);
[[nodiscard]] lines::PosixRules posix_rules_of_environment();

}  // namespace ecosort::cli
