// All commands, in the order of the help: their tables, and the functions that do them.
#include <fmt/format.h>

#include <array>
#include <map>

#include "base/errors.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/tables/tables.h"

namespace ecosort::cli {

namespace {

constexpr std::array<CommandRow, 23> commands{{
    {"sort", sort_table},
    {"inplace", inplace_table},
    {"resume", resume_table, run_resume},
    {"lines", lines_table, run_lines},
    {"csv", csv_table},
    {"jsonl", jsonl_table},
    {"parquet", parquet_table, run_parquet},
    {"shuffle", shuffle_table},
    {"merge", merge_table, run_merge},
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

std::span<const CommandRow> command_rows() { return commands; }

const std::vector<CommandTable>& command_tables() {
  static const std::vector<CommandTable> tables = [] {
    std::vector<CommandTable> all;
    all.reserve(commands.size());
    for (const CommandRow& command : commands) all.push_back(with_group_conflicts(command.make_table()));
    return all;
  }();
  return tables;
}

// Makes the table of this command only: those of all commands take as long as the sort of a small file.
const CommandTable& command_table(std::string_view name) {
  static std::map<std::string_view, CommandTable> made;
  for (const CommandRow& command : commands)
    if (command.name == name)
      return made.contains(command.name) ? made[command.name]
                                         : made.emplace(command.name, with_group_conflicts(command.make_table())).first->second;
  for (const CommandTable& table : plan_tables())
    if (table.name == name) return table;
  throw InternalError(fmt::format("no option table for '{}'", name));
}

}  // namespace ecosort::cli
