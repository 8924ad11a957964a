// All commands, in the order of the help: their tables, and the functions that do them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <span>

#include "base/errors.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/sorts.h"
#include "cli/tables/tables.h"
#include "ecosort/request.hpp"

namespace ecosort::cli {

namespace {

CommandLine read_sort(std::string_view command, const Words& words) { return read_sort_words(command, words); }

constexpr std::array<CommandRow, 4> first_commands{{
    {"sort", sort_table, nullptr, read_sort},
    {"inplace", inplace_table, nullptr, read_inplace_words},
    {"resume", resume_table, run_resume},
    {"lines", lines_table, run_lines, read_lines_words},
}};
constexpr std::array<CommandRow, 17> other_commands{{
    {"parquet", parquet_table, run_parquet},
    {"shuffle", shuffle_table, nullptr, read_shuffle_words},
    {"merge", merge_table, run_merge, read_merge_words},
    {"sample", sample_table, run_sample},
    {"partition", partition_table, run_partition},
    {"plan", plan_table, run_plan},
    {"run", run_table, run_request},
    {"request", request_table, print_request},
    {"gen", gen_table, run_gen},
    {"check", check_table, run_check},
    {"power", power_table, run_power},
    {"tune", tune_table, run_tune},
    {"joulesort", joulesort_table, run_joulesort},
    {"cluster", cluster_table, run_cluster},
    {"queue", queue_table, run_queue},
    {"serve", serve_table, run_serve},
    {"manual", manual_table, run_manual},
}};

}  // namespace

std::span<const CommandRow> command_rows() {
  static const std::vector<CommandRow> commands = [] {
    std::vector<CommandRow> all;
    for (const std::span<const CommandRow> some :
         {std::span<const CommandRow>(first_commands), value_commands(), std::span<const CommandRow>(other_commands)})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return commands;
}

std::string names_of_formats() {
  const std::span<const std::string_view> all(format_names);
  return fmt::format("{} or {}", fmt::join(all.first(all.size() - 1), ", "), all.back());
}

std::string names_of_requests(std::string_view between) {
  std::vector<std::string_view> names;
  for (const CommandRow& command : command_rows())
    if (command.read != nullptr) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, between));
}

const std::vector<CommandTable>& command_tables() {
  static const std::vector<CommandTable> tables = [] {
    std::vector<CommandTable> all;
    for (const CommandRow& command : command_rows()) all.push_back(with_group_conflicts(command.make_table()));
    return all;
  }();
  return tables;
}

// Makes the table of this command only: those of all commands take as long as the sort of a small file.
const CommandTable& command_table(std::string_view name) {
  static std::map<std::string_view, CommandTable> made;
  for (const CommandRow& command : command_rows())
    if (command.name == name)
      return made.contains(command.name) ? made[command.name]
                                         : made.emplace(command.name, with_group_conflicts(command.make_table())).first->second;
  for (const CommandTable& table : plan_tables())
    if (table.name == name) return table;
  throw InternalError(fmt::format("no option table for '{}'", name));
}

}  // namespace ecosort::cli
