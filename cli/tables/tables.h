// The tables of all commands, and the rows that several of them have (cli/option_table.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option_table.h"

namespace ecosort::cli {

// Records.
[[nodiscard]] CommandTable sort_table();
[[nodiscard]] CommandTable inplace_table();
[[nodiscard]] CommandTable merge_table();
[[nodiscard]] CommandTable resume_table();
[[nodiscard]] CommandTable run_table();
[[nodiscard]] CommandTable request_table();
[[nodiscard]] std::vector<OptionRow> sort_options();
// Returns those of `names` from the options of sort, in their order there.
[[nodiscard]] std::vector<OptionRow> chosen(const std::vector<std::string_view>& names);
[[nodiscard]] OptionRow progress_option();
[[nodiscard]] OptionRow space_option();
[[nodiscard]] OptionRow claim_option();
[[nodiscard]] OptionRow limit_option();
[[nodiscard]] OptionRow by_group_option();
[[nodiscard]] OptionRow as_is_option();

// Rows.
[[nodiscard]] CommandTable lines_table();
[[nodiscard]] std::vector<OptionRow> lines_options();
// Commands of rows that have values, such as `csv`: read_table_words() reads the words of all.
[[nodiscard]] std::span<const CommandRow> value_commands();
[[nodiscard]] CommandTable parquet_table();
[[nodiscard]] CommandTable shuffle_table();

struct GroupWords {
  std::string_view key;      // the argument of --unique-by
  std::string_view counted;  // what --count writes
  bool has_count_name = false;
};
// Adds what is said of groups of equal rows, besides --unique.
[[nodiscard]] std::vector<OptionRow> with_groups(std::vector<OptionRow> options, GroupWords words);
// Adds what these cannot be combined with, of the options that the table has.
[[nodiscard]] CommandTable with_group_conflicts(CommandTable table);

// Compresses: --compress, --assume-ratio and --goal of a command that sorts `rows` and does `usual`ly so, and what becomes of
// compressed inputs
[[nodiscard]] std::vector<OptionRow> run_compression_rows(std::string_view usual, std::string_view rows);
[[nodiscard]] std::vector<OptionRow> compression_rows(std::string_view decompress, std::string_view output);

// Adds to codes of its own those that every sort has.
[[nodiscard]] std::vector<OperandRow> exit_codes(std::vector<OperandRow> own);

// Every sort that can be resumed.
constexpr std::string_view temp_conflict =
    "--resumable keeps its runs beside the output, in OUTPUT.ecosort; leave --temp out, or name an output there";
constexpr std::string_view limit_conflict =
    "--limit cannot be combined with --resumable: a sort that drops rows as they come is over sooner; leave --resumable out";
[[nodiscard]] ConflictRow goal_conflict();

// Ranges of a file, plans (those of `ecosort plan WHAT` are plan_tables()), the Sort Benchmark.
[[nodiscard]] CommandTable sample_table();
[[nodiscard]] CommandTable partition_table();
[[nodiscard]] CommandTable plan_partition_table();
[[nodiscard]] CommandTable plan_table();
[[nodiscard]] CommandTable gen_table();
[[nodiscard]] CommandTable check_table();

// Commands that another program does, and `manual`.
[[nodiscard]] CommandTable power_table();
[[nodiscard]] CommandTable tune_table();
[[nodiscard]] CommandTable joulesort_table();
[[nodiscard]] CommandTable cluster_table();
[[nodiscard]] CommandTable queue_table();
[[nodiscard]] CommandTable serve_table();
[[nodiscard]] CommandTable manual_table();

}  // namespace ecosort::cli
