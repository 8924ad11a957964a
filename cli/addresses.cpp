#include "cli/addresses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/errors.h"
#include "cli/given_words.h"
#include "cli/option_table.h"
#include "cli/request_words.h"
#include "job/output_codec.h"

namespace ecosort::cli {

namespace {

constexpr std::array<std::string_view, 3> schemes{"s3://", "http://", "https://"};
constexpr std::array<std::string_view, 4> streaming{"sort", "lines", "csv", "jsonl"};

bool is_address(std::string_view name) noexcept {
  return std::ranges::any_of(schemes, [&](std::string_view scheme) { return name.starts_with(scheme); });
}

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
}

}  // namespace

bool mention_addresses(const Words& words) noexcept {
  return std::ranges::any_of(words, [](const std::string& word) {
    return std::ranges::any_of(schemes, [&](std::string_view scheme) { return word.find(scheme) != std::string::npos; });
  });
}

Words words_of_remote(std::string_view command, const Words& words) {
  if (std::ranges::find(streaming, command) == streaming.end()) return {};
  const RequestWords line = read_request_words(command_table(command), words, posix_rules_of_environment());
  if (line.given.asks_for_help || line.given.asks_for_version) return {};
  if (!is_address(line.request.place.output) && std::ranges::none_of(line.request.inputs, is_address)) return {};
  check_output(line.request);
  Words all{std::string(command)};
  for (const GivenOption& option : line.given.options)
    if (last_spelling(option.row->name) != "--compress-output") all.push_back(word_of(option));
  if (find_row(*line.table, "--compress-output") != nullptr)  // a stream has no name that would say it
    all.push_back(fmt::format("--compress-output={}", job::output_codec_word(line.request)));
  all.emplace_back("--");
  all.insert(all.end(), line.request.inputs.begin(), line.request.inputs.end());
  return all;
}

}  // namespace ecosort::cli
