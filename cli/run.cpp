// `ecosort run`: does what a request says (schema ecosort.request/1), with the reports of the command that would be typed for it;
// and its plan.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/errors.h"
#include "base/json.h"
#include "base/system_file.h"
#include "base/text_json.h"
#include "cli/commands.h"
#include "cli/sorts.h"
#include "job/shuffle_request.h"
#include "library/jobs.h"

namespace ecosort::cli {

namespace {

std::string read_request(const std::string& name) {
  const bool is_standard = name == "-";
  const Descriptor file(is_standard ? -1 : ::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!is_standard && !file.is_open()) throw UsageError(IoError::from_call("open", name, errno).what());
  std::string text;
  if (!read_to_end(is_standard ? STDIN_FILENO : file.get(), text)) throw IoError(fmt::format("cannot read '{}'", name));
  return text;
}

int sort(const CommandLine& line, double started_s) {
  const Request& request = line.request;
  if (line.has("--runs")) return merge_runs(line, started_s);
  if (request.shuffle) return shuffle_rows(line, started_s);
  if (request.format() == Format::lines) return sort_lines(line, started_s);
  if (request.format() != Format::records) return sort_table(line, started_s);
  if (request.place.kind == PlaceKind::in_place) return sort_in_place(line, started_s);
  return request.input_order == InputOrder::any ? sort_records(line, started_s) : merge_sorted_records(line, started_s);
}

int plan(CommandLine line) {
  job::choose_seed(line.request);
  if (line.has("--runs")) throw UsageError("plan run: the runs of jobs are merged without a plan; leave --runs out");
  if (line.request.format() != Format::records || line.request.shuffle) return plan_rows(line);
  if (line.request.place.kind == PlaceKind::in_place) return plan_in_place(line);
  return line.request.input_order == InputOrder::any ? plan_records(line) : plan_merge(line);
}

// Leaves the request of what `ecosort request` printed, and returns the options that were typed with it.
Words take_options(std::string& text) {
  Words options;
  const auto typed = Json::parse(text);
  if (!typed || !typed->is_object()) return options;
  const std::string* const schema = typed->find_text("schema");
  const Json *const request = typed->find("request"), *const told = typed->find("options");
  if (schema == nullptr || *schema != typed_schema || request == nullptr) return options;
  if (told != nullptr && told->list() != nullptr)
    for (const Json& option : *told->list()) options.push_back(text_of(option, "request: options"));
  text = request->text();
  return options;
}

// Puts what is typed now last, so that it counts.
CommandLine with_options(std::string_view command, const Words& options, const Words& words, CommandLine line) {
  Words all = options;
  all.insert(all.end(), words.begin(), words.end());
  CommandLine whole = read_command_line(command, all);
  whole.request = std::move(line.request);
  whole.document = std::move(line.document);
  return whole;
}

CommandLine read_words(std::string_view command, const Words& words) {
  CommandLine line = read_command_line(command, words);
  if (line.asks_for_help()) return line;
  if (const Words options = take_request(line); !options.empty()) line = with_options(command, options, words, std::move(line));
  library::check_request(line.request);
  take_profile(line);
  line.reports.output = line.request.place.output;
  return line;
}

}  // namespace

Words take_request(CommandLine& line) {
  const std::string_view command = line.table->name;
  if (line.given.operands.size() != 1) throw UsageError(fmt::format("{}: name one request, or - for standard input", command));
  const std::string& name = line.given.operands.front();
  std::string text = read_request(name);
  Words options = take_options(text);
  line.request = request_from_json(text);
  line.document = *Json::parse(text);
  const bool reads_input = std::ranges::find(line.request.inputs, "-") != line.request.inputs.end();
  if (name == "-" && reads_input)
    throw UsageError(fmt::format("{}: standard input is the request already; name the input", command));
  return options;
}

int run_request(const Words& words) {
  const double started_s = engine::monotonic_seconds();
  const CommandLine line = read_words("run", words);
  if (line.asks_for_help()) return print_help(*line.table);
  begin(line);
  return sort(line, started_s);
}

int run_typed(std::string_view command, const Words& words) {
  const double started_s = engine::monotonic_seconds();
  const CommandLine line = read_typed(command, words);
  if (line.asks_for_help()) return print_help(*line.table);
  begin(line);
  return sort(line, started_s);
}

int run_plan(const Words& words) {
  const std::string_view what = words.empty() ? "" : std::string_view(words.front());
  if (what == "--help" || what == "-h") return print_help(command_table("plan"));
  const std::vector<OperandRow>& known = command_table("plan").operands;
  if (std::ranges::find(known, what, &OperandRow::name) == known.end())
    throw UsageError(
        fmt::format("plan: {}say what to plan, sort, lines, csv, jsonl, shuffle, inplace or partition, such as: ecosort plan "
                    "sort INPUT -o OUTPUT",
                    words.empty() ? "" : fmt::format("'{}' cannot be planned; ", what)));
  const std::string command = fmt::format("plan {}", what);
  const Words rest(words.begin() + 1, words.end());
  if (what == "partition") return plan_partition(rest);
  CommandLine line = what == "run" ? read_words(command, rest) : read_typed(command, rest);
  return line.asks_for_help() ? print_help(*line.table) : plan(std::move(line));
}

}  // namespace ecosort::cli
