// `ecosort run`: does what a request says (schema ecosort.request/1), with the reports of the command that would be typed for it.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "base/descriptor.h"
#include "base/errors.h"
#include "base/system_file.h"
#include "cli/commands.h"
#include "cli/sorts.h"
#include "library/jobs.h"

namespace ecosort::cli {

namespace {

std::string read_request(const std::string& name) {
  const bool is_standard = name == "-";
  const Descriptor file(is_standard ? -1 : ::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!is_standard && !file.is_open()) throw UsageError(fmt::format("cannot open '{}'", name));
  std::string text;
  if (!read_to_end(is_standard ? STDIN_FILENO : file.get(), text)) throw IoError(fmt::format("cannot read '{}'", name));
  return text;
}

int sort(const CommandLine& line, double started_s) {
  const Request& request = line.request;
  if (request.shuffle) return shuffle_rows(line, started_s);
  if (request.format() == Format::lines) return sort_lines(line, started_s);
  if (request.format() != Format::records) return sort_table(line, started_s);
  if (request.place.kind == PlaceKind::in_place) return sort_in_place(line, started_s);
  return request.input_order == InputOrder::any ? sort_records(line, started_s) : merge_sorted_records(line, started_s);
}

}  // namespace

int run_request(const Words& words) {
  const double started_s = engine::monotonic_seconds();
  CommandLine line = read_command_line("run", words);
  if (line.asks_for_help()) return print_help(line);
  if (line.given.operands.size() != 1) throw UsageError("run: name one request, or - for standard input");
  const std::string& name = line.given.operands.front();
  const std::string text = read_request(name);
  line.request = request_from_json(text);
  line.document = *Json::parse(text);
  const bool reads_input = std::ranges::find(line.request.inputs, "-") != line.request.inputs.end();
  if (name == "-" && reads_input) throw UsageError("run: standard input is the request already; name the input");
  library::check_request(line.request);
  take_profile(line);
  line.reports.output = line.request.place.output;
  begin(line);
  return sort(line, started_s);
}

}  // namespace ecosort::cli
