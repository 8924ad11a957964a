// `ecosort check FORMAT`: whether a file is in the order that the words of the command for its format say, with count and hash;
// `ecosort check --claim`: whether it is what its claim says; `ecosort check --request`: the same as with a FORMAT, for programs.
#include "job/check_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/errors.h"
#include "base/json.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/reference_words.h"
#include "cli/report.h"
#include "cli/report_files.h"
#include "cli/say.h"
#include "cli/sorts.h"
#include "formats/lines/quoted.h"
#include "job/claim.h"
#include "job/collation_version.h"

namespace ecosort::cli {

namespace {

// These are given besides those that say the rows and their order.
constexpr std::array<std::string_view, 13> also_of_rows{
    "--unique",      "--skip-bytes",   "--allow-missing", "--decompress",   "--stats",   "--quiet", "--header",
    "--header-mark", "--record-lines", "--paragraphs",    "--record-start", "--comment", "--skip"};
constexpr std::array<std::string_view, 3> of_report{"--stats", "--quiet", "--progress"};

// Refuses options that say nothing of the rows and their order; where a claim or a request says both, all but those of the check.
void refuse_meaningless(const CommandLine& line, std::string_view who_says = "") {
  for (const GivenOption& given : line.given.options) {
    const std::string_view name = last_spelling(given.row->name);
    const bool is_of_rows =
        who_says.empty() && (given.row->concern == Concern::rows || std::ranges::find(also_of_rows, name) != also_of_rows.end());
    const bool is_of_check = given.row->concern == Concern::memory || std::ranges::find(of_report, name) != of_report.end();
    if (!is_of_rows && !is_of_check)
      throw UsageError(fmt::format(
          "check: {} means nothing here: {}", name,
          who_says.empty() ? "nothing is sorted" : fmt::format("the {} says what the rows are, and their order", who_says)));
  }
}

std::string report_of(const Request& request, const engine::OrderCheck& check) {
  const char* const rows = request.format() == Format::records ? "records" : request.format() == Format::lines ? "lines" : "rows";
  const std::string first = check.first ? fmt::format("First {} out of order is {}\n",
                                                      std::string_view(rows).substr(0, std::string_view(rows).size() - 1),
                                                      job::place_of(request, *check.first))
                                        : "";
  const std::uint64_t wrong = check.unordered + check.doubled;
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

engine::OrderCheck check_order(const CommandLine& line, const engine::rows::FirstLook& look = {}) {
  check_report_files({line.reports.stats, "", ""}, line.request.inputs, {"-"});
  return job::check_order(line.request, look);
}

void write_stats(const CommandLine& line, const engine::OrderCheck& check) {
  if (!line.reports.stats.empty()) write_text_file(line.reports.stats, json_of(check).text(2) + "\n");
}

constexpr std::string_view claim_word = "--claim", request_word = "--request";

// Returns in what the file is not what it claims; empty: in nothing.
std::string difference(const job::Claim& claim, const engine::OrderCheck& check, const Request& request) {
  std::vector<std::string> wrong;
  if (!job::has_claimed_size(claim, request.inputs.front())) wrong.push_back(fmt::format("it has not {} bytes", claim.bytes));
  if (check.first) wrong.emplace_back("its rows are in another order");
  if (check.rows != claim.count) wrong.push_back(fmt::format("it has {} rows instead of {}", check.rows, claim.count));
  if (check.rows == claim.count && check.hash.to_hex() != claim.hash)
    wrong.push_back(fmt::format("its rows have the hash {} instead of {}", check.hash.to_hex(), claim.hash));
  if (const std::string here = job::collation_version_of(request); here != claim.collation)
    wrong.push_back(fmt::format("its order is that of {}, and here is {}", claim.collation, here));
  return fmt::format("{}", fmt::join(wrong, "; "));
}

// The claim says what the rows of the file are, which comes last.
int check_claim(const Words& words) {
  if (words.empty() || words.back().starts_with('-')) throw UsageError("check --claim: name the file last, behind the options");
  const std::string& file = words.back();
  if (::access(file.c_str(), F_OK) != 0)
    throw UsageError(fmt::format("check --claim: {}: {}", lines::quoted_name(file), std::strerror(errno)));
  const std::optional<job::Claim> claim = job::read_claim(file);
  if (!claim)
    throw UsageError(fmt::format("check --claim: {} has no claim ({}); --claim of a sort writes it", lines::quoted_name(file),
                                 lines::quoted_name(job::claim_path(file))));
  CommandLine line = read_command_line("sort", words);
  refuse_meaningless(line, "claim");
  line.request.rows = claim->rows;
  line.request.compression.decompress = line.request.format() != Format::records;
  check_report_files({line.reports.stats, "", ""}, std::vector<std::string>{job::claim_path(file)}, {"-"});
  const engine::OrderCheck check = check_order(line);
  const std::string wrong = difference(*claim, check, line.request);
  if (!line.reports.quiet)
    report(report_of(line.request, check) +
           (wrong.empty() ? "The file is what its claim says\n" : fmt::format("ERROR - not as claimed: {}\n", wrong)));
  write_stats(line, check);
  return wrong.empty() ? 0 : 1;
}

int check_rows(const CommandLine& line) {
  const bool are_lines = line.request.format() == Format::lines;
  const engine::OrderCheck check = check_order(line, are_lines ? look_at_contents(line) : engine::rows::FirstLook{});
  if (!line.reports.quiet) report(report_of(line.request, check));
  write_stats(line, check);
  return check.first ? 1 : 0;
}

int check_request(const Words& words) {
  static const CommandTable table = [] {
    CommandTable run = command_table("run");
    run.name = "check --request";  // messages name what was typed
    return run;
  }();
  CommandLine line = read_command_line(table, words, posix_rules_of_environment());
  if (line.asks_for_help()) return print_help(command_table("check"));
  refuse_meaningless(line, "request");
  if (!take_request(line).empty()) throw UsageError("check --request: give the request without options of a run");
  return check_rows(line);
}

}  // namespace

bool names_format(const Words& words) {
  return (!words.empty() && (words.front() == claim_word || words.front() == request_word)) ||
         (words.size() > 1 && std::ranges::find(format_names, words.front()) != format_names.end());
}

int check_order(const Words& words) {
  if (words.front() == claim_word) return check_claim({words.begin() + 1, words.end()});
  if (words.front() == request_word) return check_request({words.begin() + 1, words.end()});
  const CommandLine line = read_command_line(command_of_format(words.front()), {words.begin() + 1, words.end()});
  if (line.asks_for_help()) return print_help(command_table("check"));
  refuse_meaningless(line);
  if (line.request.values() != nullptr && line.request.values()->keys.empty())
    throw UsageError(fmt::format("check {}: no key; name {} with --by NAME[:TYPE][:desc]", words.front(),
                                 line.request.format() == Format::csv ? "a column" : "a value"));
  return check_rows(line);
}

}  // namespace ecosort::cli
