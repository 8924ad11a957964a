#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "cli/option_values.h"
#include "cli/tables/tables.h"
#include "ecosort/value_types.hpp"

namespace ecosort::cli {

namespace {

std::string table_types() {
  std::string text = "Types of keys:\n";
  for (const ValueTypeFacts& type : value_types) text += fmt::format("  {:<8}  {}\n", type.name, type.text);
  return text;
}

// Explains values of a command behind the types.
constexpr std::string_view csv_ending =
    "A value that is empty, or cannot be read as the type of its key, comes after all others, or with --nulls "
    "first before them, whatever the direction of the key. Their number is printed at the end.";
constexpr std::string_view jsonl_ending =
    "PATH is names with dots between them and [N], from 0 on, for arrays: user.tags[0]. A name with other signs is "
    "put in double quotes: '\"a.b\".c'. Where names repeat within an object, the last one counts, as to readers of "
    "JSON; with --strict it is an error. Whatever its "
    "type in JSON, a value is compared by its text: a string without quotes and escapes; a number, true or false "
    "as it is written; an object or an array byte for byte. So 10, \"10\" and \"1e1\" are equal numbers, and true "
    "is among texts after \"10\". A value that is missing or null, or cannot be read as the type of its key, "
    "comes after all others, or with --nulls first before them, whatever the direction of the key. Their number "
    "is printed at the end. A PATH that no row has is an error. Blank lines are left out, and counted.";

// Options of GNU sort.
constexpr std::string_view key_advice = "keys are named: --by NAME",
                           number_advice = "numbers are a type of a key: --by NAME:number",
                           reverse_advice = "the direction belongs to a key: --by NAME:desc",
                           unique_advice = "one row of those with equal keys is kept with --unique",
                           stable_advice = "rows with equal keys stay in input order anyway",
                           nocase_advice = "letters of either case are alike in a key: --by NAME:nocase",
                           version_advice = "versions are a type of a key: --by NAME:version",
                           delimiter_advice = "name the separator of values with --delimiter",
                           memory_advice = "the memory is given with --memory",
                           temp_advice = "the directory is given with --temp",
                           merge_advice = "sorted files are merged with --merge",
                           check_advice = "the order is checked with --check",
                           threads_advice = "threads are given with --threads",
                           header_advice = "the first row is the header anyway, unless --no-header is given";
constexpr HabitRow habits_of_sort[] = {
    {"-k", key_advice},
    {"--key", key_advice},
    {"-n", number_advice},
    {"--numeric-sort", number_advice},
    {"-g", number_advice},
    {"--general-numeric-sort", number_advice},
    {"-r", reverse_advice},
    {"--reverse", reverse_advice},
    {"-u", unique_advice},
    {"-s", stable_advice},
    {"--stable", stable_advice},
    {"-f", nocase_advice},
    {"--ignore-case", nocase_advice},
    {"-V", version_advice},
    {"--version-sort", version_advice},
    {"-S", memory_advice},
    {"--buffer-size", memory_advice},
    {"-T", temp_advice},
    {"--temporary-directory", temp_advice},
    {"-m", merge_advice},
    {"-c", check_advice},
    {"-C", check_advice},
    {"--parallel", threads_advice},
    {"--desc", reverse_advice},
    {"-t", delimiter_advice},  // these are of csv only
    {"--field-separator", delimiter_advice},
    {"-d", delimiter_advice},
    {"--separator", delimiter_advice},
    {"--header", header_advice},
};
constexpr std::size_t habits_of_csv_only = 5;

OptionRow by_option(std::string_view argument, std::string_view text) {
  return {"--by", argument, "", text, Concern::rows, adds_to("rows.keys", as_text)};
}

// csv and jsonl have these in common, behind what is their own. `nulls` are values without a place in the order.
std::vector<OptionRow> table_options(std::vector<OptionRow> options, std::string_view nulls) {
  const std::vector<OptionRow> common{
      {"-o,--output", "FILE", "",
       "where the sorted rows go; `-` is standard output. An existing file is replaced only when all went well", Concern::output,
       sets("place.output", as_output)},
      {"--split", "rows=N|size=S|files=N|by=KEY", "",
       "write several files, which appear together; -o has {} where their names differ, such as 'out-{}.csv'. N rows each, at "
       "most S bytes each, N files of about one size, or one for each value of the first key (by=KEY:N: of their first N "
       "bytes). Each has what stays on top. A manifest, such as out-manifest.json, comes last and lists them",
       Concern::how, sets("place.split", as_text)},
      claim_option(),
      {"--nulls", "first|last", "last", nulls, Concern::rows, sets("rows.nulls_first", as_nulls_first)},
      {"--strict", "", "", "refuse a value that cannot be read as what its key says", Concern::rows,
       sets("rows.strict", flag<true>)},
      {"--bad-rows", "refuse|skip|FILE", "refuse",
       "what happens to a row that cannot be read: `refuse` ends the sort and names it, `skip` leaves it out, and FILE gets "
       "it byte for byte when the output is complete. All are counted, and the first ten are named",
       Concern::how, sets("rows.bad_rows", as_bad_rows)},
      {"--date-format", "FORMAT", "ISO 8601",
       "how dates are written, such as '%d.%m.%Y %H:%M'. It knows %Y %y %m %d %e %b %B %j %a %A %H %I %p %M %S %f (a fraction) "
       "%z %Z (UTC, GMT) "
       "%s %F %T %D %R %%; names of months and weekdays are English",
       Concern::rows, sets("rows.date_format", as_text)},
      {"--unique", "", "",
       "keep only the first row, in input order, of those with equal keys. Values that are empty, and those that cannot be read "
       "as what their key says, are equal: --strict ends with an error there",
       Concern::how, sets("unique", flag<true>)},
      limit_option(),
      by_group_option(),
      {"--check", "", "", "do not sort, only report whether INPUT is in order; with --unique, strictly", Concern::nothing},
      {"--merge", "", "", "merge files that are in order already, which is checked while they are read", Concern::how,
       sets("input_order", word<"sorted">)},
      {"--resumable", "", "",
       "keep runs and a journal in OUTPUT.ecosort, so that `ecosort resume OUTPUT` continues after a crash; regular files only, "
       "none compressed, and no --merge, --check, --temp",
       Concern::job, sets("place.kind", word<"resumable">)},
  };
  options.insert(options.end(), common.begin(), common.end());
  for (OptionRow& row : chosen({"--memory", "--threads", "--temp", "--io", "--profile", "--no-profile", "--verify", "--stats",
                                "--events", "--trace", "--progress", "-q,--quiet"})) {
    if (row.name == "--temp") row.fallback = "$TMPDIR, or beside the output";
    options.push_back(row);
  }
  std::ranges::copy(run_compression_rows("auto", "rows"), std::back_inserter(options));
  std::ranges::copy(compression_rows("auto", "auto"), std::back_inserter(options));
  return options;
}

std::vector<ConflictRow> table_conflicts() {
  return {{"--check", "--resumable", "--resumable: --check sorts nothing; leave it out"},
          {"--merge", "--resumable",
           "--merge cannot be combined with --resumable: sort the files without --merge to be able to resume"},
          {"--limit", "--check", "--limit: --check sorts nothing; leave it out"},
          {"--limit", "--resumable", limit_conflict},
          {"--trace", "--resumable"},
          {"--bad-rows", "--resumable"},
          {"--split", "--resumable"},
          {"--claim", "--resumable"},
          {"--claim", "--split"},
          {"--claim", "--check", "--claim: --check writes nothing; `ecosort check --claim FILE` reads the claim of a file"},
          {"--split", "--check", "--split: --check writes nothing; leave it out"},
          {"--stats,--events,--trace", "--check", "{}: --check does not report; `ecosort check FORMAT --stats FILE` does"},
          {"--bad-rows", "--check", "--bad-rows: --check writes nothing; leave it out"},
          {"--bad-rows", "--merge", "--bad-rows cannot be combined with --merge: sort the files"},
          {"--temp", "--resumable", temp_conflict},
          goal_conflict()};
}

// Compressed files are recognised by what they are, and written by their names.
std::vector<FixedMember> decoding() { return {{"compression.decompress", true}, {"compression.output", "auto"}}; }

std::vector<OperandRow> table_codes() {
  return exit_codes({{"1", "--check found a row out of order, or the written rows failed their verification"},
                     {"2", "wrong usage, bad input, or a plan that cannot work"},
                     {"3", "an I/O error, also an input that changed while it was read"}});
}

std::vector<OptionRow> csv_options() {
  return table_options(
      {
          by_option(
              "NAME[:TYPE][:desc]",
              "sort key: a column by its name in the header or by its number (`#3` is the third one); the type of its values "
              "(see below); `desc` for the largest first; repeatable, the first one decides first"),
          {"--delimiter", "TEXT|tab", "that of a first line `sep=;`, a tab where all files are named .tsv, else a comma",
           "separator of values, up to 8 bytes, such as '||'; \\t, \\x01 and \\\\ are a tab, the byte 1 and a backslash",
           Concern::rows, sets("rows.delimiter", as_delimiter)},
          {"--quote", "CHAR|none", "\"", "what may enclose values; `none`: quotes are bytes like others", Concern::rows,
           sets("rows.quote", as_quote)},
          {"--escape", "CHAR", "",
           "a delimiter, quote or newline behind CHAR is a part of the value, as MySQL and Hive write it with '\\'. Keys are "
           "compared without escapes: \\n, \\t, \\r, \\b, \\0 and \\Z are control characters, and a value \\N is missing",
           Concern::rows, sets("rows.escape", as_byte)},
          {"--no-header", "", "", "the first row is no header; --by 3 is the third column", Concern::rows,
           sets("rows.header", flag<false>)},
          {"--comment", "TEXT", "",
           "lines that begin with TEXT are no rows. Those that the first input begins with stay in front; all others are left "
           "out, and counted",
           Concern::how, sets("rows.comment", as_beginning)},
          {"--skip", "N", "0",
           "the first N lines of every input are no rows; those of the first input stay in front, those of others are left out, "
           "and counted",
           Concern::how, sets("rows.skip_lines", as_count)},
      },
      "where values go that are empty or unparsable");
}

// Lines that are no rows.
std::vector<ConflictRow> csv_conflicts() {
  std::vector<ConflictRow> rows = table_conflicts();
  for (const std::string_view option : {"--comment", "--skip"}) {
    rows.push_back({option, "--resumable"});
    rows.push_back({option, "--merge", "{} cannot be combined with --merge: sort the files"});
  }
  return rows;
}

std::vector<OptionRow> jsonl_options() {
  return table_options({by_option("PATH[:TYPE][:desc]",
                                  "sort key: the path to a value; its type (see below); `desc` for the largest first; "
                                  "repeatable, the first one decides first"),
                        {"--allow-missing", "", "", "sort even if no row has a PATH; otherwise that is an error", Concern::how,
                         sets("rows.allow_missing", flag<true>)}},
                       "where values go that are missing, null or unparsable");
}

CommandTable csv_table() {
  return {.name = "csv",
          .synopsis = "--by NAME[:TYPE][:desc] [options] INPUT... -o OUTPUT",
          .summary = "sorts CSV by columns, with quotes, headers and typed keys",
          .description =
              "Sorts rows of CSV (RFC 4180), however large: values in quotes may hold delimiters and newlines. Rows go out byte "
              "for byte as they came in, and rows with equal keys stay in input order. The headers of all inputs must be alike; "
              "one goes out. A row with more or fewer fields than the header, or with a quote where none may be, is an error "
              "that names file, line and byte. A first line `sep=;`, as spreadsheets write it, names the delimiter, and stays on "
              "top. A row that equals the header, as where files were joined, is sorted like others and reported at the end; "
              "with --strict it is an error.",
          .examples = {"ecosort csv --by price:number:desc --by name shop.csv -o sorted.csv",
                       "ecosort csv --by when:date --memory 1GiB --temp /ssd part*.csv -o all.csv    several files, one header",
                       "ecosort csv --no-header --delimiter tab --by 3:version - -o - < in > out     a stream without a header",
                       "ecosort csv --by user a.csv.gz b.csv.zst -o all.csv.zst                      compressed files",
                       "ecosort csv --resumable --by user big.csv -o sorted.csv                      after a crash: ecosort "
                       "resume sorted.csv",
                       "ecosort csv --by id --by when:date:desc --unique-by id in.csv -o newest.csv  the newest row of each id",
                       "ecosort csv --check --by id:integer sorted.csv                               is it in order?"},
          .options = with_groups(csv_options(),
                                 {"NAME[:TYPE][:desc]",
                                  "write one of several equal rows, with their number in front, in a column of its own", true}),
          .operands = {{"INPUT", "CSV; `-` is standard input. It is never changed, unless it is the output"}},
          .ending = csv_ending,
          .exit_status = table_codes(),
          .habits = habits_of_sort,
          .conflicts = csv_conflicts(),
          .format = "csv",
          .fixed = decoding(),
          .key_types = table_types};
}

CommandTable jsonl_table() {
  return {
      .name = "jsonl",
      .synopsis = "--by PATH[:TYPE][:desc] [options] INPUT... -o OUTPUT",
      .summary = "sorts JSON lines by values within them, with typed keys",
      .description =
          "Sorts lines of JSON, one value of JSON (RFC 8259) in each, however large the file. Lines go out byte for byte as "
          "they came in, and lines with equal keys stay in input order. A line that is no valid JSON is an error that names "
          "file, line, byte and what is wrong.",
      .examples = {"ecosort jsonl --by time:date --by user.name log.jsonl -o sorted.jsonl",
                   "ecosort jsonl --by 'items[0].price:number:desc' --memory 1GiB part*.jsonl -o all.jsonl",
                   "ecosort jsonl --unique --by id - -o - < in > out        the first line of each id",
                   "ecosort jsonl --check --by id:integer sorted.jsonl      is it in order?"},
      .options = with_groups(jsonl_options(), {"PATH[:TYPE][:desc]",
                                               "write one of several equal lines, with their number as its first member", true}),
      .operands = {{"INPUT", "JSON lines; `-` is standard input. It is never changed, unless it is the output"}},
      .ending = jsonl_ending,
      .exit_status = table_codes(),
      .habits = std::span(habits_of_sort).first(std::size(habits_of_sort) - habits_of_csv_only),
      .conflicts = table_conflicts(),
      .format = "jsonl",
      .fixed = decoding(),
      .key_types = table_types};
}

constexpr CommandRow commands[] = {
    {"csv", csv_table},
    {"jsonl", jsonl_table},
};

}  // namespace

std::span<const CommandRow> value_commands() { return commands; }

}  // namespace ecosort::cli
