#include "cli/option_values.h"
#include "cli/tables/tables.h"

namespace ecosort::cli {

namespace {

constexpr std::string_view grouping = "--unique-by,--unique-rows,--count,--repeated,--singles,--keep",
                           written = "--count,--repeated,--singles,--keep";

std::string_view count_text(std::string_view format) {
  if (format == "lines") return "of equal lines one goes out, with their number in front, as uniq -c writes it";
  if (format == "csv") return "of equal rows one goes out, with their number in front, in a column of its own";
  if (format == "jsonl") return "of equal lines one goes out, with their number as its first member";
  return "of equal records one goes out, with their number in front: 8 bytes, little-endian";
}

OptionRow count_name_option() {
  return {"--count-name", "NAME",
          "count",        "the name of that column or member, where the rows have one of this name already",
          Concern::how,   sets("groups.count_name", as_text)};
}

}  // namespace

std::vector<OptionRow> with_groups(std::vector<OptionRow> options, std::string_view format) {
  const std::string_view key = format == "lines"     ? "POS1[,POS2]"
                               : format == "records" ? "OFFSET:LENGTH[:TYPE][:desc]"
                               : format == "csv"     ? "NAME[:TYPE][:desc]"
                                                     : "PATH[:TYPE][:desc]";
  const std::vector<OptionRow> groups{
      {"--unique-by", key, "all keys",
       "keep one of those that are equal in this key, a first one of the order; repeatable, for the next keys of the order. With "
       "more keys in the order, the one that stays is the first, as the newest of each name",
       Concern::how, adds_to("groups.by", as_text)},
      {"--unique-rows", "", "",
       "keep one of those that are equal in all of their bytes, which then decide the order where the keys are equal",
       Concern::how, sets("groups.whole_rows", flag<true>)},
      {"--count", "", "", count_text(format), Concern::how, sets("groups.count", flag<true>)},
      {"--repeated", "", "", "keep one of those that are equal, and only where there are several", Concern::how,
       sets("groups.only", word<"repeated">)},
      {"--singles", "", "", "keep only what is equal to no other", Concern::how, sets("groups.only", word<"singles">)},
      {"--keep", "first|last", "first", "which of those that are equal stays, in the order; of equal keys that of the input",
       Concern::how, sets("groups.keep", as_choice)},
  };
  options.insert(options.end(), groups.begin(), groups.end());
  if (format == "csv" || format == "jsonl") options.push_back(count_name_option());
  return options;
}

CommandTable with_group_conflicts(CommandTable table) {
  const std::vector<ConflictRow> conflicts{
      {"--repeated", "--singles", "--repeated and --singles cannot be combined: nothing would stay"},
      {"--keep", "--singles", "--keep cannot be combined with --singles: what stays has no equal"},
      {"--count,--repeated,--singles", "--limit",
       "--limit cannot be combined with --count, --repeated and --singles, which show when all is merged: cut that output by "
       "head"},
      {"--keep", "--limit",
       "--limit cannot be combined with --keep last, which shows when all is merged: cut that output by head", "last"},
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
  if (find_row(table, "--singles") == nullptr) return table;
  for (const ConflictRow& row : conflicts)
    if (find_row(table, row.with) != nullptr) table.conflicts.push_back(row);
  return table;
}

}  // namespace ecosort::cli
