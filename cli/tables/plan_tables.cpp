#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "cli/tables/tables.h"

namespace ecosort::cli {

namespace {

OptionRow json_option() { return {"--json", "", "", "print the plan as one JSON object, where the space is too short, too"}; }

// Only `names` are shown; the others are understood, so that a whole command can be planned with `plan` in front of it.
std::vector<OptionRow> showing(std::vector<OptionRow> options, const std::vector<std::string_view>& names) {
  for (OptionRow& row : options) row.is_hidden = std::ranges::find(names, row.name) == names.end();
  return options;
}

constexpr std::string_view plan_ending =
    "Any other option that the command takes may be given here, too: it does not change the plan.";

std::vector<OperandRow> plan_codes() { return {{"0", "it can be done so"}, {"2", "it cannot, and one line says why"}}; }

// A plan says this of itself; the rest is as of the command that it plans.
struct PlanText {
  std::string_view what, description, operand;
  std::vector<std::string> examples;
  std::string_view prints = "bounds of what";
};

CommandTable plan_of(CommandTable table, PlanText text, std::vector<OptionRow> options) {
  table.name = fmt::format("plan {}", text.what);
  table.summary = fmt::format("prints {} `ecosort {}` would do {}; writes nothing", text.prints, text.what,
                              text.what == "run" ? "with a request" : "with these options");
  table.description = text.description;
  table.examples = std::move(text.examples);
  table.options = std::move(options);
  table.operands = {{table.operands.front().name, std::string(text.operand)}};
  table.ending = plan_ending;
  table.key_types = nullptr;
  table.exit_status = plan_codes();
  return table;
}

CommandTable plan_sort_table() {
  std::vector<OptionRow> options =
      showing(sort_options(),
              {"-o,--output", "--record-size", "--key",      "--reverse",      "--memory",        "--threads",  "--merge-threads",
               "--temp",      "--resumable",   "--io",       "--request-size", "--request-depth", "--gather",   "--run-records",
               "--profile",   "--no-profile",  "--compress", "--assume-ratio", "--goal",          "-q,--quiet", "--count"});
  options.push_back(json_option());
  options.push_back(
      {"--assume-size", "SIZE", "", "plan for an input of this size that is not there, such as 1TB; -o may be left out"});
  options.push_back({"--space", "SIZE", "", "", Concern::means, {}, false, true});
  CommandTable table =
      plan_of(sort_table(),
              {"sort",
               "",
               "a file of whole records; `-` is standard input",
               {"ecosort plan sort --memory 1GiB input.dat -o sorted.dat", "ecosort plan sort --json input.dat -o sorted.dat",
                "ecosort plan sort --assume-size 1TB --memory 4GiB --temp /ssd     how often it would be moved",
                "ecosort plan sort --profile p.toml in -o out     how long it will take, and what would help"},
               "what"},
              std::move(options));
  table.conflicts.push_back({"--space", "", "--space is an option of: ecosort plan inplace"});
  return table;
}

// It also knows options of `sort` that `inplace` does not have.
std::vector<ConflictRow> plan_inplace_conflicts() {
  const CommandTable inplace = inplace_table();
  std::vector<ConflictRow> rows = inplace.conflicts;
  for (const OptionRow& row : sort_options())
    if (std::ranges::find(inplace.options, row.name, &OptionRow::name) == inplace.options.end())
      rows.push_back({last_spelling(row.name), "", "{} means nothing in place"});
  return rows;
}

CommandTable plan_inplace_table() {
  std::vector<OptionRow> options = showing(sort_options(), {"--record-size", "--key", "--reverse", "--memory", "--threads",
                                                            "--io", "--profile", "--no-profile", "-q,--quiet"});
  options.push_back(json_option());
  options.push_back(space_option());
  options.push_back(as_is_option());
  options.push_back({"--assume-size", "SIZE", "", "plan for a file of this size that is not there, such as 1TB"});
  CommandTable table =
      plan_of(inplace_table(),
              {"inplace",
               "It also says how much free space that needs.",
               "a regular file of whole records",
               {"ecosort plan inplace data.dat", "ecosort plan inplace --assume-size 1TB --space 24GB --memory 4GiB"},
               "what"},
              std::move(options));
  table.conflicts = plan_inplace_conflicts();
  return table;
}

CommandTable plan_lines_table() {
  std::vector<OptionRow> options = showing(lines_options(), {"--batch-size",   "--compress-program",
                                                             "--files0-from",  "-m,--merge",
                                                             "-o,--output",    "-S,--buffer-size",
                                                             "--memory",       "-T,--temporary-directory",
                                                             "--temp",         "--parallel",
                                                             "-u,--unique",    "--header",
                                                             "--resumable",    "--inplace",
                                                             "--as-is",        "--compress",
                                                             "--assume-ratio", "--goal",
                                                             "--decompress",   "--compress-output",
                                                             "--level",        "--count"});
  options.push_back({"--json", "", "", "with --resumable or --inplace: print the plan as one JSON object"});
  options.push_back({"--assume-size", "SIZE", "", "plan for lines of this size in all that are not there, such as 1TB"});
  return plan_of(lines_table(),
                 {"lines",
                  "The memory and space of `lines` depend on the lengths of the lines, which are known only when they are read.",
                  "text; `-`, or none, is standard input",
                  {"ecosort plan lines -S 1G log.txt -o sorted.txt", "ecosort plan lines -S 4G --assume-size 1TB"}},
                 std::move(options));
}

constexpr std::string_view by_lengths =
    "Memory and space depend on the lengths of the rows, which are known only when they are read.";

// The first of `parts` of a text that begins so.
std::string before(std::string_view text, std::string_view parts) { return std::string(text.substr(0, text.find(parts))); }

CommandTable plan_values_table(CommandTable table) {
  std::vector<OptionRow> options =
      showing(table.options, {"--by", "-o,--output", "--unique", "--merge", "--resumable", "--memory", "--threads", "--temp",
                              "--compress", "--assume-ratio", "--goal", "--count"});
  options.push_back({"--json", "", "", "with --resumable: print the plan as one JSON object"});
  options.push_back({"--assume-size", "SIZE", "", "plan for rows of this size in all that are not there, such as 1TB"});
  constexpr std::string_view program = "ecosort ";
  const std::string what = table.name, key = before(find_row(table, "--by")->argument, "[");
  const std::string operand = before(table.operands.front().text, ". ");
  return plan_of(table,
                 {what,
                  by_lengths,
                  operand,
                  {fmt::format("{}plan {}", program, table.examples.front().substr(program.size())),
                   fmt::format("{}plan {} --by {} --memory 4GiB --assume-size 1TB", program, what, key)}},
                 std::move(options));
}

CommandTable plan_shuffle_table() {
  CommandTable table = shuffle_table();
  std::vector<OptionRow> options =
      showing(table.options, {"-o,--output", "--limit", "--skip", "--csv", "--jsonl", "--record-size", "--memory", "--threads",
                              "--temp", "--compress", "--assume-ratio", "--goal"});
  options.push_back({"--assume-size", "SIZE", "", "plan for rows of this size in all that are not there, such as 1TB"});
  return plan_of(std::move(table),
                 {"shuffle",
                  "Memory and space depend on the lengths of the rows, which are known only when they are read, unless they "
                  "are records.",
                  "a file; `-` is standard input",
                  {"ecosort plan shuffle --memory 1GiB train.txt -o shuffled.txt",
                   "ecosort plan shuffle --record-size 3072 --memory 4GiB --assume-size 1TB"}},
                 std::move(options));
}

CommandTable plan_run_table() {
  std::vector<OptionRow> options = showing(run_table().options, {"--goal", "--profile", "--no-profile", "-q,--quiet"});
  options.push_back({"--json", "", "", "print the plan as one JSON object, where there is one of such a request"});
  return plan_of(run_table(),
                 {"run",
                  "",
                  "a file with the request; `-` is standard input",
                  {"ecosort plan run request.json", "ecosort plan run --json - < request.json"},
                  "what"},
                 std::move(options));
}

}  // namespace

CommandTable plan_table() {
  std::vector<std::string_view> values;
  for (const CommandRow& command : value_commands()) values.push_back(command.name);
  std::vector<OperandRow> operands;
  for (const CommandTable& table : plan_tables()) {
    std::string what = table.name.substr(table.name.find(' ') + 1);
    operands.push_back({what, fmt::format("its options: ecosort {} --help", table.name)});
  }
  return {.name = "plan",
          .synopsis =
              fmt::format("sort|{}|shuffle [options] INPUT... -o OUTPUT | inplace [options] FILE | lines [options] [FILE...] | "
                          "partition FORMAT [options] | run REQUEST",
                          fmt::join(values, "|")),
          .summary = fmt::format("prints what sort, inplace, lines, {}, shuffle, partition or run would do; writes nothing",
                                 fmt::join(values, ", ")),
          .description = "",
          .examples = {"ecosort plan sort --memory 1GiB input.dat -o sorted.dat",
                       "ecosort plan sort --assume-size 1TB --memory 4GiB", "ecosort plan lines -S 1G log.txt -o sorted.txt",
                       "ecosort plan inplace data.dat                    how much free space it needs"},
          .options = {},
          .operands = std::move(operands),
          .ending = "",
          .exit_status = plan_codes()};
}

const std::vector<CommandTable>& plan_tables() {
  static const std::vector<CommandTable> tables = [] {
    std::vector<CommandTable> all{plan_sort_table(), plan_inplace_table(), plan_lines_table()};
    for (const CommandRow& command : value_commands()) all.push_back(plan_values_table(command.make_table()));
    for (CommandTable (*const make)() : {plan_shuffle_table, plan_partition_table, plan_run_table}) all.push_back(make());
    for (CommandTable& table : all) table = with_group_conflicts(std::move(table));
    return all;
  }();
  return tables;
}

}  // namespace ecosort::cli
