// `ecosort csv` and `ecosort jsonl`: rows by columns, lines of JSON by paths; and their plans.
#include <fmt/format.h>

#include "base/errors.h"
#include "base/open_files.h"
#include "cli/jobs.h"
#include "cli/rows_command.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/sorts.h"
#include "job/first_row.h"
#include "job/session.h"

namespace ecosort::cli {
namespace {

[[noreturn]] void refuse(const CommandLine& line, std::string_view why) {
  throw UsageError(fmt::format("{}: {}", name_of(line.request.format()), why));
}

void check_keys(const CommandLine& line) {
  if (!line.request.values()->keys.empty()) return;
  refuse(line, line.request.format() == Format::csv ? "no key; name a column with --by NAME[:TYPE][:desc]"
                                                    : "no key; name a value with --by PATH[:TYPE][:desc]");
}

void check_sorted_table(const CommandLine& line) {
  const Request& request = line.request;
  if (request.inputs.empty()) refuse(line, "no input; name one or more files, or - for standard input");
  if (line.has("--check")) {
    if (request.input_order != InputOrder::any) refuse(line, "--check sorts nothing, and cannot be combined with --merge");
    if (!request.place.output.empty()) refuse(line, "--check writes nothing, and cannot be combined with -o");
    if (request.inputs.size() > 1) refuse(line, "--check takes one input");
    return;
  }
  if (request.place.output.empty()) refuse(line, "no output; name it with -o FILE, or -o - for standard output");
}

void check_plan(const CommandLine& line) {
  if (line.has("--check")) refuse(line, "--check sorts nothing, so there is nothing to plan");
  if (line.has("--json") && !line.is_resumable()) refuse(line, "--json is for --resumable; the bounds are printed as text");
  if (!plans_assumed_rows(line, name_of(line.request.format()))) check_sorted_table(line);
}

int check_order(const CommandLine& line) {
  const auto disorder = job::check_rows(line.request, {.unique = line.request.has_groups()}).first;
  if (!disorder) return 0;
  say_line(fmt::format("ecosort: {}: line {} is out of order: {}", formats::shown_name(line.request.inputs.front()),
                       disorder->line_number, disorder->line));
  return 1;
}

}  // namespace

CommandLine read_table_words(std::string_view command, const Words& words) {
  CommandLine line = read_command_line(command, words);
  if (line.asks_for_help()) return line;
  check_keys(line);
  command.starts_with("plan ") ? check_plan(line) : check_sorted_table(line);
  take_profile(line);
  return line;
}

int sort_table(const CommandLine& line, double started_s) {
  if (line.has("--check")) return check_order(line);
  if (line.is_resumable()) {
    check_job(line);
    if (const std::optional<int> code = run_rows_job({line.request, line.reports}, started_s)) return *code;
  }
  return run_rows(line, "csv", "the sorted output is complete", started_s);
}

}  // namespace ecosort::cli
