// From words to values: what the tables of options (cli/option_table.h) say is parsed into the variables that they are bound to.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/option_table.h"

namespace ecosort::cli {

// Where each option of a table puts its value, by the name in the table.
struct OptionTargets {
  std::map<std::string_view, std::string*> texts;
  std::map<std::string_view, std::vector<std::string>*> lists;
  std::map<std::string_view, bool*> switches;
  std::map<std::string_view, std::uint64_t*> numbers;
  std::vector<std::string>* operands = nullptr;
};

struct ParsedWords {
  bool asks_for_help = false;        // nothing else was looked at
  std::set<std::string_view> given;  // names in the table
};

// UsageError naming the command and the option for anything it cannot read, and for options that conflict; InternalError for an
// option that is bound to nothing.
ParsedWords parse_words(const CommandTable& table, const Words& words, const OptionTargets& targets);

}  // namespace ecosort::cli
