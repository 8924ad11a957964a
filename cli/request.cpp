// `ecosort request`: the request that the words of a command make, for programs that keep it, or change it, before `ecosort run`
// does it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/closest_word.h"
#include "base/errors.h"
#include "base/text_json.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/rows_command.h"
#include "cli/say.h"
#include "cli/sorts.h"
#include "demsort_inplace/prepare/rows.h"
#include "job/claim.h"
#include "job/output_codec.h"
#include "job/prepare_records.h"
#include "job/prepare_rows.h"
#include "job/request_json.h"
#include "job/shuffle_request.h"
#include "job/split_request.h"
#include "library/jobs.h"

namespace ecosort::cli {

namespace {

constexpr std::uint64_t some_bytes = 1000;  // where it does not matter how many there are

struct Made {
  Request request;  // without what a profile says, which is asked when it is done
  CommandLine line;
  Json run_options;
};

// Returns those that `ecosort run` takes, too. The others are in the request; UsageError for one that has no place there.
Json options_of_run(const CommandLine& line) {
  Json options = Json::array();
  for (const GivenOption& given : line.given.options) {
    const std::string name(last_spelling(given.row->name));
    const bool changes_nothing = name == "--stable" || given.row->sets.value != nullptr;
    if (find_row(command_table("run"), name) != nullptr)
      options.push_back(text_json(given.word ? fmt::format("{}={}", name, *given.word) : name));
    else if (!changes_nothing)
      throw UsageError(fmt::format("request: {} is no part of a request; leave it out", name));
  }
  return options;
}

Made read_words(const CommandRow& command, const Words& words) {
  Made made{.request = {}, .line = command.read(command.name, words), .run_options = {}};
  const CommandLine& line = made.line;
  if (line.asks_for_help() || line.given.asks_for_version) throw UsageError("request: help and version make no request");
  made.run_options = options_of_run(line);
  made.request = job::request_of(line.document);
  made.request.inputs = line.request.inputs;  // also those that a file names
  if (made.request.place.kind == PlaceKind::in_place) made.request.place.output.clear();
  library::check_request(made.request);
  if (line.is_resumable()) check_job(line);
  return made;
}

// Throws UsageError for what no file makes right.
void check_without_files(Request request) {
  if (request.format() == Format::records && !request.shuffle) return void(job::wanted_of(request, {}, planner::read_machine()));
  request.compression.output = job::output_codec_word(request);  // also what the name of the output says
  (void)job::split_of(request, some_bytes);
  (void)job::claim_text_of(request, request.place.output.empty() ? "-" : request.place.output);
  request.place = {.output = "-"};
  request.inputs.clear();
  request.means = {};
  job::choose_seed(request);
  io::PosixStorage storage;
  (void)job::make_rows_job(request, storage, job::SpecialOutput::unopened, some_bytes);
}

// Compressed files are no resumable job's. What the inputs are shows when they are there; some names say it.
bool is_compressed(const Request& request) {
  if (request.format() == Format::records) return false;
  io::PosixStorage storage;
  if (demsort_inplace::prepare::make_kept_job(request, some_bytes, storage).codecs.packing) return true;
  return request.compression.decompress &&
         std::ranges::any_of(request.inputs, [](const std::string& name) { return codec::codec_of_file_name(name).has_value(); });
}

// Returns whether the same words can have --resumable, too.
bool may_be_resumable(const CommandRow& command, const Words& words, const Request& request) {
  if (request.place.kind != PlaceKind::file) return true;
  if (command.name == "merge" || find_row(command_table(command.name), "--resumable") == nullptr) return false;
  Words more{"--resumable"};
  more.insert(more.end(), words.begin(), words.end());
  try {
    return !is_compressed(read_words(command, more).request);
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

CommandLine read_merge_words(std::string_view command, const Words& words) {
  if (words.empty() || words.front() != "--lines") return read_sort_words(command, words);
  Words all = words;
  all.front() = "--merge";
  CommandLine line = read_lines_words("lines", all);
  line.document["input_order"] = "sorted";
  return line;
}

CommandLine read_typed(std::string_view command, const Words& words) {
  return std::ranges::find(command_rows(), command.substr(command.rfind(' ') + 1), &CommandRow::name)->read(command, words);
}

int print_request(const Words& words) {
  if (!words.empty() && (words.front() == "--help" || words.front() == "-h")) return print_help(command_table("request"));
  if (words.empty())
    throw UsageError(fmt::format("request: name the command, {}, with its options and files", names_of_requests("|")));
  const auto command = std::ranges::find(command_rows(), std::string_view(words.front()), &CommandRow::name);
  if (command == command_rows().end() || command->read == nullptr) {
    const std::string names = names_of_requests(", "), meant = did_you_mean(words.front(), split(names_of_requests("|"), '|'));
    throw UsageError(fmt::format("'{}' cannot be queued{}", words.front(),
                                 meant.empty() ? fmt::format("; a job is one of {}", names) : meant));
  }
  const Words rest(words.begin() + 1, words.end());
  const Made made = read_words(*command, rest);
  if (!made.line.has("--runs")) check_without_files(made.request);
  const Json json{{"schema", typed_schema},
                  {"request", *Json::parse(to_json(made.request))},
                  {"options", made.run_options},
                  {"resumable", may_be_resumable(*command, rest, made.request)}};
  print_out(json.text() + "\n");
  return 0;
}

}  // namespace ecosort::cli
