// All commands, in the order of the help.
#include <fmt/format.h>

#include <array>
#include <map>

#include "base/errors.h"
#include "cli/option_table.h"
#include "cli/tables/tables.h"

namespace ecosort::cli {

namespace {

struct Maker {
  std::string_view name;
  CommandTable (*make)();
};

constexpr std::array<Maker, 23> makers{{{"sort", sort_table},
                                        {"inplace", inplace_table},
                                        {"resume", resume_table},
                                        {"lines", lines_table},
                                        {"csv", csv_table},
                                        {"jsonl", jsonl_table},
                                        {"parquet", parquet_table},
                                        {"shuffle", shuffle_table},
                                        {"merge", merge_table},
                                        {"sample", sample_table},
                                        {"partition", partition_table},
                                        {"plan", plan_table},
                                        {"run", run_table},
                                        {"request", request_table},
                                        {"gen", gen_table},
                                        {"check", check_table},
                                        {"power", power_table},
                                        {"tune", tune_table},
                                        {"joulesort", joulesort_table},
                                        {"cluster", cluster_table},
                                        {"queue", queue_table},
                                        {"serve", serve_table},
                                        {"manual", manual_table}}};

}  // namespace

const std::vector<CommandTable>& command_tables() {
  static const std::vector<CommandTable> tables = [] {
    std::vector<CommandTable> all;
    all.reserve(makers.size());
    for (const Maker& maker : makers) all.push_back(with_group_conflicts(maker.make()));
    return all;
  }();
  return tables;
}

// Makes the table of this command only: those of all commands take as long as the sort of a small file.
const CommandTable& command_table(std::string_view name) {
  static std::map<std::string_view, CommandTable> made;
  for (const Maker& maker : makers)
    if (maker.name == name)
      return made.contains(maker.name) ? made[maker.name]
                                       : made.emplace(maker.name, with_group_conflicts(maker.make())).first->second;
  for (const CommandTable& table : plan_tables())
    if (table.name == name) return table;
  throw InternalError(fmt::format("no option table for '{}'", name));
}

}  // namespace ecosort::cli
