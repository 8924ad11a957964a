#include <algorithm>

#include "base/json.h"
#include "cli/manual.h"
#include "cli/option_table.h"
#include "ecosort/value_types.hpp"
#include "job/output_codec.h"

namespace ecosort::cli {

namespace {

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

// A word in capitals says what kind of value there is; the others are values.
Json values_of(const OptionRow& option) {
  Json values = Json::array();
  if (option.argument.find('|') == std::string_view::npos) return values;
  for (const std::string_view value : split(option.argument, '|'))
    if (std::ranges::none_of(value, [](char c) { return c >= 'A' && c <= 'Z'; })) values.push_back(value);
  return values;
}

// The member of a request that the option sets, as its schema names it.
Json member_json(const OptionRow& option, std::string_view format) {
  constexpr std::string_view of_rows = "rows.";
  const std::string_view member = option.sets.member;
  if (!member.starts_with(of_rows)) return text_or_null(member);
  return std::string(format) + "." + std::string(member.substr(of_rows.size()));
}

Json option_json(const OptionRow& option, std::string_view format) {
  Json names = Json::array();
  for (const std::string_view name : spellings(option)) names.push_back(name);
  return {{"names", std::move(names)},
          {"argument", text_or_null(option.argument)},
          {"argument_is_optional", option.may_lack_argument()},
          {"argument_is_joined", option.joined},
          {"values", values_of(option)},
          {"repeatable", option.sets.adds},
          {"default", text_or_null(option.fallback)},
          {"text", option.text},
          {"concerns", word_of(option.concern)},
          {"sets", member_json(option, format)},
          {"hidden", option.is_hidden}};
}

Json rows_json(const std::vector<OperandRow>& rows, const char* name) {
  Json list = Json::array();
  for (const OperandRow& row : rows) list.push_back({{name, row.name}, {"text", row.text}});
  return list;
}

Json conflicts_json(const CommandTable& table) {
  Json list = Json::array();
  for (const ConflictRow& row : table.conflicts)
    for (const std::string_view option : split(row.option, ','))
      list.push_back({{"option", option},
                      {"value", text_or_null(row.value)},
                      {"with", text_or_null(row.with)},
                      {"why", row.message(option)}});
  return list;
}

// The types of keys of commands whose rows have values.
Json key_types_json(const CommandTable& table) {
  Json types = Json::array();
  if (table.format.empty() || find_row(table, "--by") == nullptr) return types;
  for (const ValueTypeFacts& type : value_types)
    types.push_back({{"name", type.name}, {"argument", text_or_null(type.argument)}, {"text", type.text}});
  return types;
}

Json command_json(const CommandTable& table) {
  Json options = Json::array();
  for (const OptionRow& option : table.options) options.push_back(option_json(option, table.format));
  options.push_back(option_json({"--help", "", "", "print a summary of the command", Concern::nothing}, ""));
  return {{"name", table.name},
          {"synopsis", table.synopsis},
          {"summary", table.summary},
          {"options", std::move(options)},
          {"operands", rows_json(table.operands, "name")},
          {"conflicts", conflicts_json(table)},
          {"key_types", key_types_json(table)},
          {"exit_codes", rows_json(table.exit_status, "code")}};
}

}  // namespace

std::string manual_json() {
  Json commands = Json::array();
  for (const std::vector<CommandTable>* tables : {&command_tables(), &plan_tables()})
    for (const CommandTable& table : *tables) commands.push_back(command_json(table));
  Json endings = Json::array();
  for (const std::string_view ending : job::endings_of_inputs()) endings.push_back(ending);
  const Json manual{{"schema", "ecosort.manual/1"},
                    {"version", ECOSORT_VERSION},
                    {"commands", std::move(commands)},
                    {"compressed_endings", std::move(endings)}};
  return manual.text(1) + "\n";
}

}  // namespace ecosort::cli
