#include <fmt/format.h>

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
  std::string_view name, summary, description, operand;
  std::vector<std::string_view> examples;
};

CommandTable plan_of(CommandTable table, PlanText text, std::vector<OptionRow> options) {
  table.name = text.name;
  table.summary = text.summary;
  table.description = text.description;
  table.examples = std::move(text.examples);
  table.options = std::move(options);
  table.operands = {{table.operands.front().name, text.operand}};
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
              {"plan sort",
               "prints what `ecosort sort` would do with these options; writes nothing",
               "",
               "a file of whole records; `-` is standard input",
               {"ecosort plan sort --memory 1GiB input.dat -o sorted.dat", "ecosort plan sort --json input.dat -o sorted.dat",
                "ecosort plan sort --assume-size 1TB --memory 4GiB --temp /ssd     how often it would be moved",
                "ecosort plan sort --profile p.toml in -o out     how long it will take, and what would help"}},
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
              {"plan inplace",
               "prints what `ecosort inplace` would do with these options, and how much free space it needs; writes nothing",
               "",
               "a regular file of whole records",
               {"ecosort plan inplace data.dat", "ecosort plan inplace --assume-size 1TB --space 24GB --memory 4GiB"}},
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
                 {"plan lines",
                  "prints bounds of what `ecosort lines` would do with these options; writes nothing",
                  "The memory and space of `lines` depend on the lengths of the lines, which are known only when they are read.",
                  "text; `-`, or none, is standard input",
                  {"ecosort plan lines -S 1G log.txt -o sorted.txt", "ecosort plan lines -S 4G --assume-size 1TB"}},
                 std::move(options));
}

CommandTable plan_rows_table(CommandTable table, PlanText text) {
  std::vector<OptionRow> options =
      showing(table.options, {"--by", "-o,--output", "--unique", "--merge", "--resumable", "--memory", "--threads", "--temp",
                              "--compress", "--assume-ratio", "--goal", "--count"});
  options.push_back({"--json", "", "", "with --resumable: print the plan as one JSON object"});
  options.push_back({"--assume-size", "SIZE", "", "plan for rows of this size in all that are not there, such as 1TB"});
  text.description = "Memory and space depend on the lengths of the rows, which are known only when they are read.";
  return plan_of(std::move(table), std::move(text), std::move(options));
}

CommandTable plan_csv_table() {
  return plan_rows_table(csv_table(), {"plan csv",
                                       "prints bounds of what `ecosort csv` would do with these options; writes nothing",
                                       "",
                                       "CSV; `-` is standard input",
                                       {"ecosort plan csv --by price:number --memory 1GiB shop.csv -o sorted.csv",
                                        "ecosort plan csv --by price:number --memory 4GiB --assume-size 1TB"}});
}

CommandTable plan_jsonl_table() {
  return plan_rows_table(jsonl_table(), {"plan jsonl",
                                         "prints bounds of what `ecosort jsonl` would do with these options; writes nothing",
                                         "",
                                         "JSON lines; `-` is standard input",
                                         {"ecosort plan jsonl --by time:date --memory 1GiB log.jsonl -o sorted.jsonl",
                                          "ecosort plan jsonl --by time:date --memory 4GiB --assume-size 1TB"}});
}

CommandTable plan_shuffle_table() {
  CommandTable table = shuffle_table();
  std::vector<OptionRow> options =
      showing(table.options, {"-o,--output", "--limit", "--skip", "--csv", "--jsonl", "--record-size", "--memory", "--threads",
                              "--temp", "--compress", "--assume-ratio", "--goal"});
  options.push_back({"--assume-size", "SIZE", "", "plan for rows of this size in all that are not there, such as 1TB"});
  return plan_of(std::move(table),
                 {"plan shuffle",
                  "prints bounds of what `ecosort shuffle` would do with these options; writes nothing",
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
                 {"plan run",
                  "prints what `ecosort run` would do with a request; writes nothing",
                  "",
                  "a file with the request; `-` is standard input",
                  {"ecosort plan run request.json", "ecosort plan run --json - < request.json"}},
                 std::move(options));
}

}  // namespace

CommandTable plan_table() {
  return {.name = "plan",
          .synopsis =
              "sort|csv|jsonl|shuffle [options] INPUT... -o OUTPUT | inplace [options] FILE | lines [options] [FILE...] | "
              "partition FORMAT [options] | run REQUEST",
          .summary = "prints what sort, inplace, lines, csv, jsonl, shuffle, partition or run would do; writes nothing",
          .description = "",
          .examples = {"ecosort plan sort --memory 1GiB input.dat -o sorted.dat",
                       "ecosort plan sort --assume-size 1TB --memory 4GiB", "ecosort plan lines -S 1G log.txt -o sorted.txt",
                       "ecosort plan inplace data.dat                    how much free space it needs"},
          .options = {},
          .operands = {{"sort", "its options: ecosort plan sort --help"},
                       {"inplace", "its options: ecosort plan inplace --help"},
                       {"lines", "its options: ecosort plan lines --help"},
                       {"csv", "its options: ecosort plan csv --help"},
                       {"jsonl", "its options: ecosort plan jsonl --help"},
                       {"shuffle", "its options: ecosort plan shuffle --help"},
                       {"partition", "its options: ecosort plan partition --help"},
                       {"run", "its options: ecosort plan run --help"}},
          .ending = "",
          .exit_status = plan_codes()};
}

const std::vector<CommandTable>& plan_tables() {
  static const std::vector<CommandTable> tables{plan_sort_table(),      plan_inplace_table(), plan_lines_table(),
                                                plan_csv_table(),       plan_jsonl_table(),   plan_shuffle_table(),
                                                plan_partition_table(), plan_run_table()};
  return tables;
}

}  // namespace ecosort::cli
