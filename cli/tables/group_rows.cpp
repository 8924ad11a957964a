#include "cli/option_values.h"
#include "cli/tables/tables.h"

namespace ecosort::cli {

namespace {

constexpr std::string_view grouping = "--unique-by,--unique-rows,--count,--repeated,--singles,--keep",
                           written = "--count,--repeated,--singles,--keep";

OptionRow count_name_option() {
  return {"--count-name", "NAME",
          "count",        "the name of the column or member of --count, for rows that already have one called count",
          Concern::how,   sets("groups.count_name", as_text)};
}

}  // namespace

std::vector<OptionRow> with_groups(std::vector<OptionRow> options, GroupWords words) {
  const std::vector<OptionRow> groups{
      {"--unique-by", words.key, "all keys",
       "keep one of the rows that are equal in this key, which must be the first key of the order; repeatable, for the next keys "
       "of the order. Further keys of the order decide which row comes first and stays, such as the newest of each name",
       Concern::how, adds_to("groups.by", as_text)},
      {"--unique-rows", "", "",
       "keep one of the rows that are equal in all of their bytes; the bytes then decide the order where the keys are equal",
       Concern::how, sets("groups.whole_rows", flag<true>)},
      {"--count", "", "", words.counted, Concern::how, sets("groups.count", flag<true>)},
      {"--repeated", "", "", "keep one row of each group of two or more equal rows, and no other row", Concern::how,
       sets("groups.only", word<"repeated">)},
      {"--singles", "", "", "keep only rows that are equal to no other row", Concern::how, sets("groups.only", word<"singles">)},
      {"--keep", "first|last", "first",
       "which of several equal rows stays: the first or the last in the order, and in the input where keys are equal",
       Concern::how, sets("groups.keep", as_choice)},
  };
  options.insert(options.end(), groups.begin(), groups.end());
  if (words.has_count_name) options.push_back(count_name_option());
  return options;
}

CommandTable with_group_conflicts(CommandTable table) {
  const std::vector<ConflictRow> conflicts{
      {"--repeated", "--singles", "--repeated and --singles cannot be combined: nothing would stay"},
      {"--keep", "--singles", "--keep cannot be combined with --singles: what stays has no equal"},
      {"--count,--repeated,--singles", "--limit",
       "--limit cannot be combined with --count, --repeated and --singles, which are known when all is merged: cut that output "
       "by head"},
      {"--keep", "--limit",
       "--limit cannot be combined with --keep last, which is known when all is merged: cut that output by head", "last"},
      {grouping, "--by-group",
       "--by-group drops the others of each group by itself: leave --unique-by, --unique-rows, --count, --repeated, --singles "
       "and "
       "--keep out"},
      {"--unique", "--by-group", "--by-group drops the others of each group by itself: leave --unique out"},
      {grouping, "--resumable",
       "--resumable cannot be combined with --unique-by, --unique-rows, --count, --repeated, --singles and --keep: sort with "
       "--resumable first, and merge the sorted file alone with them"},
      {grouping, "--inplace",
       "--inplace keeps every line: leave --unique-by, --unique-rows, --count, --repeated, --singles and --keep out, or write "
       "the result with -o"},
      {grouping, "--debug",
       "--debug shows every line: leave --unique-by, --unique-rows, --count, --repeated, --singles and --keep out"},
      {written, "--check", "--check looks at the order and writes nothing: leave --count, --repeated, --singles and --keep out"},
      {written, "-C", "-C looks at the order and writes nothing: leave --count, --repeated, --singles and --keep out"},
      {grouping, "--runs", "merge --runs: the runs say what they hold and which rows stay; sort what they become"}};
  if (find_row(table, "--count") == nullptr) return table;
  for (const ConflictRow& row : conflicts)
    if (find_row(table, row.with) != nullptr) table.conflicts.push_back(row);
  return table;
}

}  // namespace ecosort::cli
