#include "cli/addresses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/errors.h"
#include "cli/command_line.h"
#include "cli/given_words.h"
#include "cli/option_table.h"
#include "cli/request_words.h"
#include "job/output_codec.h"

namespace ecosort::cli {

namespace {

constexpr std::array<std::string_view, 3> schemes{"s3://", "http://", "https://"};

std::string word_of(const GivenOption& option) {
  const std::string_view name = last_spelling(option.row->name);
  if (option.is_obsolescent) throw UsageError("a key written as +N cannot be combined with an address: write it with -k");
  if (!option.word) return std::string(name);
  return fmt::format("{}{}{}", name, name.starts_with("--") ? "=" : "", *option.word);
}

void check_output(const Request& request) {
  if (request.place.output.starts_with("http"))
    throw UsageError(fmt::format("'{}': nothing can be written over http; name a file or s3://BUCKET/KEY", request.place.output));
  if (request.place.kind != PlaceKind::file)
    throw UsageError("--resumable and --inplace are for files of this machine: leave them out, or fetch the input first");
  if (request.place.claim)
    throw UsageError(
        "--claim cannot be combined with an address, whose rows are streamed: leave it out, or fetch the input first");
}

// Words that say what the command does come first, and `table` reads the others.
struct Streaming {
  Words leading;
  std::string_view table;  // empty: the command does not stream
  bool has_output = true;
};

Streaming streaming_of(std::string_view command, const Words& words) {
  const std::string_view first = words.front();
  if (command == "merge" && first == "--lines") return {{"merge", "--lines"}, "lines"};
  if (command == "check" && names_format(words) && !first.starts_with("--"))
    return {{"check", std::string(first)}, command_of_format(first), false};
  const auto row = std::ranges::find(command_rows(), command, &CommandRow::name);
  if (row == command_rows().end() || row->read == nullptr || command == "inplace") return {};
  return {{std::string(command)}, command};
}

bool has_address(const Request& request) {
  return is_address(request.place.output) || std::ranges::any_of(request.inputs, is_address);
}

// A plan reads no input that it would have to fetch, and looks at the drive of the output.
void refuse_plan(const Words& words) {
  const std::string name = "plan " + words.front();
  const auto table = std::ranges::find(plan_tables(), std::string_view(name), &CommandTable::name);
  if (table == plan_tables().end()) return;
  const RequestWords line = read_request_words(*table, {words.begin() + 1, words.end()}, posix_rules_of_environment());
  for (const std::string& input : line.request.inputs)
    if (is_address(input))
      throw UsageError(fmt::format("plan: '{}' is not fetched for a plan; give its size with --assume-size instead", input));
  if (is_address(line.request.place.output))
    throw UsageError(fmt::format("plan: '{}' is on no drive of this machine; name a file with -o", line.request.place.output));
}

// The claim of a file lies beside it.
void refuse_claim(const Words& words) {
  if (is_address(words.back()))
    throw UsageError("check --claim: fetch the file and its claim first, or name its format and keys");
}

}  // namespace

bool is_address(std::string_view name) noexcept {
  return std::ranges::any_of(schemes, [&](std::string_view scheme) { return name.starts_with(scheme); });
}

bool mention_addresses(const Words& words) noexcept {
  return std::ranges::any_of(words, [](const std::string& word) {
    return std::ranges::any_of(schemes, [&](std::string_view scheme) { return word.find(scheme) != std::string::npos; });
  });
}

Words words_of_remote(std::string_view command, const Words& words) {
  if (command == "plan") refuse_plan(words);
  if (command == "check" && words.front() == "--claim") refuse_claim(words);
  const Streaming streaming = streaming_of(command, words);
  if (streaming.table.empty()) return {};
  const Words rest(words.begin() + static_cast<std::ptrdiff_t>(streaming.leading.size() - 1), words.end());
  const RequestWords line = read_request_words(command_table(streaming.table), rest, posix_rules_of_environment());
  if (line.given.asks_for_help || line.given.asks_for_version || !has_address(line.request)) return {};
  if (line.given.has("--runs")) throw UsageError("merge: runs of jobs are files of this machine; fetch them first");
  check_output(line.request);
  Words all = streaming.leading;
  for (const GivenOption& option : line.given.options)
    if (last_spelling(option.row->name) != "--compress-output") all.push_back(word_of(option));
  if (streaming.has_output && find_row(*line.table, "--compress-output") != nullptr)  // a stream has no name that would say it
    all.push_back(fmt::format("--compress-output={}", job::output_codec_word(line.request)));
  all.emplace_back("--");
  all.insert(all.end(), line.request.inputs.begin(), line.request.inputs.end());
  return all;
}

}  // namespace ecosort::cli
