// The commands that sort and merge share their words, and the work once it is known what is asked for. Each piece of work returns
// the exit code.
#pragma once

#include <string_view>

#include "cli/command_line.h"
#include "job/check_order.h"
#include "job/prepare_merge.h"
#include "job/prepare_records.h"
#include "job/session.h"

namespace ecosort::cli {

// Read the words, and the profile. `command` is the table: "sort", "merge", "plan sort"; "csv", "plan jsonl" and the like.
// `teller` is the command that the user typed, where that is another one. Throw UsageError with the option for what cannot be,
// and for what is missing.
[[nodiscard]] CommandLine read_sort_words(std::string_view command, const Words& words, std::string_view teller = {});
[[nodiscard]] CommandLine read_table_words(std::string_view command, const Words& words);
[[nodiscard]] CommandLine read_lines_words(std::string_view command, const Words& words);
[[nodiscard]] CommandLine read_inplace_words(std::string_view command, const Words& words);
[[nodiscard]] CommandLine read_shuffle_words(std::string_view command, const Words& words);
[[nodiscard]] CommandLine read_merge_words(std::string_view command, const Words& words);
// By the name of the table, such as "sort" or "plan csv": one of these.
[[nodiscard]] CommandLine read_typed(std::string_view command, const Words& words);

inline constexpr std::string_view typed_schema = "ecosort.typed/1";  // of what `ecosort request` prints

// Reads the request that is the only operand of the line, also as `ecosort request` prints it: then the options of `ecosort run`
// that were typed with it are returned. Throws UsageError for what is none.
[[nodiscard]] Words take_request(CommandLine& line);

// The request to prepare. The runs that a search found best are for the memory that it had; for other memory the planner chooses.
[[nodiscard]] Request request_of(const CommandLine& line);
[[nodiscard]] job::Leeway leeway_of(const CommandLine& line);

// Sorts records: to an output, also one that can be resumed.
int sort_records(const CommandLine& line, double started_s);
int merge_sorted_records(const CommandLine& line, double started_s);
int merge_records(const CommandLine& line, engine::fixed::MergeFilesJob job, job::Session& session, double started_s);
// The runs that jobs left, into one output.
int merge_runs(const CommandLine& line, double started_s);
// Sorts records in the space of their file.
int sort_in_place(const CommandLine& line, double started_s);
// Sorts lines, in all places; with the notices of `ecosort lines`.
int sort_lines(CommandLine line, double started_s);
// Says once each what the contents of the inputs of `ecosort lines` suggest; nothing where the line is quiet.
[[nodiscard]] engine::rows::FirstLook look_at_contents(const CommandLine& line);
// Sorts CSV and JSON lines.
int sort_table(const CommandLine& line, double started_s);
// Puts rows of any kind into a random order.
int shuffle_rows(CommandLine line, double started_s);

// Print what the work would be, and do nothing.
int plan_records(const CommandLine& line);
int plan_merge(const CommandLine& line);
int plan_in_place(const CommandLine& line);
int plan_rows(const CommandLine& line);

}  // namespace ecosort::cli
