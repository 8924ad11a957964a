// `ecosort check FORMAT`: whether a file is in the order that the words of the command for its format say, with count and hash.
#include "job/check_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/reference_words.h"
#include "cli/report.h"
#include "cli/say.h"
#include "job/format_names.h"

namespace ecosort::cli {

namespace {

// Refuses options that say nothing of the rows and their order.
void refuse_meaningless(const CommandLine& line) {
  constexpr std::array<std::string_view, 6> others{"--unique",     "--skip-bytes", "--allow-missing",
                                                   "--decompress", "--stats",      "--quiet"};
  for (const GivenOption& given : line.given.options) {
    const std::string_view name = last_spelling(given.row->name);
    const bool is_of_rows = given.row->concern == Concern::rows || given.row->concern == Concern::memory;
    if (!is_of_rows && std::ranges::find(others, name) == others.end())
      throw UsageError(fmt::format("check: {} means nothing here: nothing is sorted", name));
  }
}

std::string report_of(const Request& request, const engine::OrderCheck& check) {
  const char* const rows = request.format() == Format::records ? "records" : request.format() == Format::lines ? "lines" : "rows";
  const std::string first = check.first ? fmt::format("First {} out of order is {}\n",
                                                      std::string_view(rows).substr(0, std::string_view(rows).size() - 1),
                                                      job::place_of(request, *check.first))
                                        : "";
  const std::uint64_t wrong = check.unordered + (request.unique ? check.equal : 0);
  return fmt::format("{}Rows: {}\nHash: {}\nEqual keys: {}\n{}\n", first, check.rows, check.hash.to_hex(), check.equal,
                     wrong == 0 ? fmt::format("SUCCESS - all {} are in order", rows)
                                : fmt::format("ERROR - there are {} {} out of order", wrong, rows));
}

Json json_of(const engine::OrderCheck& check) {
  Json json{{"schema", "ecosort.check/1"},          {"rows", check.rows},          {"equal_keys", check.equal},
            {"rows_out_of_order", check.unordered}, {"hash", check.hash.to_hex()}, {"is_in_order", !check.first.has_value()},
            {"first_out_of_order", nullptr}};
  if (check.first) json["first_out_of_order"] = check.first->line_number;
  return json;
}

}  // namespace

bool names_format(const Words& words) {
  return words.size() > 1 && std::ranges::find(job::format_names, words.front()) != job::format_names.end();
}

int check_order(const Words& words) {
  const std::string_view command = words.front() == job::name_of(Format::records) ? "sort" : std::string_view(words.front());
  const CommandLine line = read_command_line(command, {words.begin() + 1, words.end()});
  if (line.asks_for_help()) {
    print_out(help_text(command_table("check")));
    return 0;
  }
  refuse_meaningless(line);
  const engine::OrderCheck check = job::check_order(line.request);
  if (!line.reports.quiet) report(report_of(line.request, check));
  if (!line.reports.stats.empty()) write_text_file(line.reports.stats, json_of(check).text(2) + "\n");
  return check.first ? 1 : 0;
}

}  // namespace ecosort::cli
