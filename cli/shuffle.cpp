// `ecosort shuffle`: rows of any kind in a random order.
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/errors.h"
#include "cli/rows_command.h"
#include "cli/run_job.h"
#include "cli/sorts.h"
#include "formats/lines/quoted.h"
#include "job/row_formats.h"
#include "job/shuffle_request.h"

namespace ecosort::cli {

namespace {

void check_rows(const CommandLine& line) {
  for (const char* const option : {"--delimiter", "--quote", "--no-header"})
    if (line.has(option) && !line.has("--csv")) throw UsageError(std::string("shuffle: ") + option + " is for CSV; add --csv");
}

void check_complete(const CommandLine& line) {
  if (line.request.inputs.empty()) throw UsageError("shuffle: no input; name one or more files, or - for standard input");
  if (line.request.place.output.empty())
    throw UsageError("shuffle: no output; name it with -o FILE, or -o - for standard output");
}

// A header among shuffled rows shows late: where they are learned from.
void say_where_headers_go(const CommandLine& line) {
  const Lines* const lines = std::get_if<Lines>(&line.request.rows);
  if (lines == nullptr || lines->header_lines > 0 || !lines->header_mark.empty()) return;
  if (lines->paragraphs || lines->record_lines > 0 || !lines->record_start.empty()) return;
  const auto table = std::ranges::find_if(line.request.inputs, job::is_named_table);
  if (table == line.request.inputs.end()) return;
  line.reports.print(fmt::format("{} is shuffled as lines, a header with the others; --csv keeps the header on top",
                                 lines::quoted_name(*table)));
}

}  // namespace

int shuffle_rows(CommandLine line, double started_s) {
  const bool is_by_chance = !line.request.shuffle->seed;
  job::choose_seed(line.request);
  say_where_headers_go(line);
  const int code = run_rows(line, "shuffle", "the shuffled output is complete", started_s);
  if (is_by_chance) line.reports.print(fmt::format("--seed {} gives this order again", *line.request.shuffle->seed));
  return code;
}

CommandLine read_shuffle_words(std::string_view command, const Words& words) {
  CommandLine line = read_command_line(command, words);
  if (line.asks_for_help()) return line;
  check_rows(line);
  if (!command.starts_with("plan ") || !plans_assumed_rows(line, "shuffle")) check_complete(line);
  // Any bytes may be a record, also those that look like a compressed file.
  if (line.request.format() == Format::records && !line.has("--decompress")) {
    line.document["compression"]["decompress"] = false;
    line.request.compression.decompress = false;
  }
  take_profile(line);
  return line;
}

}  // namespace ecosort::cli
