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
    std::vector<CommandRow> all(first_commands.begin(), first_commands.end());
    for (const CommandRow& row : value_commands()) all.push_back({row.name, row.make_table, nullptr, read_table_words});
    all.insert(all.end(), other_commands.begin(), other_commands.end());
    return all;
  }();
  return commands;
}

std::string names_of_requests(std::string_view between) {
  std::vector<std::string_view> names;
  for (const CommandRow& command : command_rows())
    if (command.read != nullptr) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, between));
}

// It names all commands that read such words.
CommandTable request_table() {
  return {.name = "request",
          .synopsis = names_of_requests("|") + " [options] INPUT... -o OUTPUT",
          .summary = "prints the request that a command's words make, for programs",
          .description =
              "Reads the words of a command as the command does, refuses what it would refuse whatever the files are, and prints "
              "one line of JSON: `request` is for `ecosort run`, `options` are to be given to that, too, and `resumable` says "
              "whether the place of the result may be made a resumable one. Reads and writes no file that is sorted.",
          .examples = {"ecosort request sort --record-size 16 --key 8:u64 in.dat -o out.dat",
                       "ecosort request csv --by price:number shop.csv -o sorted.csv"},
          .options = {},
          .operands = {{"COMMAND", "with its options and files, as one would type them"}},
          .ending = "",
          .exit_status = {{"0", "done"}, {"2", "the command would refuse these words, and one line says why"}}};
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
