#include "cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "cli/compression_options.h"
#include "cli/report_files.h"
#include "cli/say.h"
#include "cli/write_signals.h"
#include "job/request_json.h"

namespace ecosort::cli {

namespace {

RunReports reports_of(const CommandLine& line) {
  RunReports reports;
  reports.stats = line.word("--stats");
  reports.events = line.word("--events");
  reports.trace = line.word("--trace");
  if (line.has("--progress")) reports.progress = line.word("--progress");
  reports.quiet = line.has("--quiet");
  reports.output = line.request.place.output;
  return reports;
}

// The row for a setting of a profile; null: the setting is not for this request, which may say something else.
// The runs and requests of a job that outlives a crash are laid out by the job itself. `--threads auto` takes what was found.
const OptionRow* row_for_setting(const CommandLine& line, std::string_view option) {
  const bool is_for_all = option == "--threads" || option == "--io";
  if (!is_for_all && (line.request.format() != Format::records || line.request.place.kind != PlaceKind::file)) return nullptr;
  const bool is_auto = option == "--threads" && (line.word(option) == "auto" || line.word("--parallel") == "auto");
  const OptionRow* const row = find_row(command_table("sort"), option);
  return row == nullptr || (has_member(line.document, row->sets.member) && !is_auto) ? nullptr : row;
}

void apply_settings(CommandLine& line) {
  ProfileChoice& choice = line.profile;
  Json document = line.document;
  try {
    for (const planner::Setting& setting : choice.profile->settings) {
      const OptionRow* const row = row_for_setting(line, setting.option);
      if (row == nullptr) continue;
      put(document, *line.table, {row, setting.value});
      choice.used.insert(setting.option);
    }
    if (!choice.used.empty()) line.request = job::request_of(document);
  } catch (const UsageError& error) {
    reject(choice, "profile '" + choice.path + "' is damaged: " + error.what());
  }
}

}  // namespace

std::uint64_t CommandLine::assumed_bytes() const {
  constexpr std::string_view option = "--assume-size";
  if (!has(option)) return 0;
  const std::uint64_t bytes = parse_assumed_bytes(word(option), option);
  if (bytes == 0 && request.format() != Format::records) throw UsageError("--assume-size: give at least one byte");
  return std::max<std::uint64_t>(bytes, 1);  // of records: there is none
}

CommandLine read_command_line(const CommandTable& table, const Words& words, const lines::PosixRules& rules) {
  CommandLine line{read_request_words(table, words, rules)};
  if (line.asks_for_help()) return line;
  check_named_reports(line.given);
  line.reports = reports_of(line);
  return line;
}

CommandLine read_command_line(std::string_view command, const Words& words) {
  return read_command_line(command_table(command), words, posix_rules_of_environment());
}

void take_profile(CommandLine& line) {
  line.profile = choose_profile({std::string(line.word("--profile")), line.has("--no-profile")});
  if (line.profile.profile) apply_settings(line);
  if (line.word("--goal") == "energy") line.request.compression.energy = energy_of_goal(line.request, line.profile);
}

int print_help(const CommandTable& table) {
  print_out(help_text(table));
  return 0;
}

void begin(const CommandLine& line) {
  ignore_write_signals();
  line.reports.print(notice_of(line.profile));
}

std::string_view command_of_format(std::string_view format) noexcept {
  return format == name_of(Format::records) ? std::string_view("sort") : format;
}

}  // namespace ecosort::cli
