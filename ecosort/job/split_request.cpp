#include "job/split_request.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "base/text.h"
#include "io/plain_file.h"
#include "job/prepare_rows.h"

namespace ecosort::job {

namespace {

using engine::rows::SplitKind;
using engine::rows::SplitNames;
using engine::rows::SplitTerms;

[[noreturn]] void refuse_split(const std::string& word, std::string_view why) {
  throw UsageError(fmt::format("split '{}': {}", word, why));
}

std::optional<std::uint64_t> split_number_in(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number == 0) return std::nullopt;
  return number;
}

// "KEY", or "KEY:N": the first N bytes of its values.
SplitTerms split_terms_of_key(const Request& request, std::string_view key) {
  const std::string& word = request.place.split;
  if (request.values() == nullptr)
    refuse_split(word,
                 "lines have no names of values: split them by rows=N, size=S or files=N, or sort them as CSV, by a column");
  const std::string& first = request.values()->keys.front().name;
  if (key == first) return {.kind = SplitKind::key};
  const std::size_t colon = key.rfind(':');
  if (colon != std::string_view::npos && key.substr(0, colon) == first) {
    const std::string_view number = key.substr(colon + 1);
    if (const auto bytes = split_number_in(number)) return {.kind = SplitKind::key, .beginning = *bytes};
    if (number == "0") refuse_split(word, fmt::format("N of by={}:N is a whole number, at least 1", first));
  }
  refuse_split(
      word, fmt::format("the rows are ordered by '{}' first; split by that, as by={} or by={}:N for its first N bytes, or make "
                        "another key the first one",
                        first, first, first));
}

SplitTerms split_terms_of(const Request& request) {
  const std::string& word = request.place.split;
  const std::size_t sign = word.find('=');
  const std::string_view kind = std::string_view(word).substr(0, sign),
                         value = sign == std::string::npos ? "" : std::string_view(word).substr(sign + 1);
  if (kind == "by") return split_terms_of_key(request, value);
  if (kind == "size") {
    const std::uint64_t bytes = parse_bytes(std::string(value), "split size=");
    if (bytes == 0) refuse_split(word, "give at least one byte");
    return {.kind = SplitKind::size, .count = bytes};
  }
  if (kind != "rows" && kind != "files") refuse_split(word, "give rows=N, size=S, files=N or by=KEY");
  const auto number = split_number_in(value);
  if (!number) refuse_split(word, "give a whole number, at least 1");
  if (kind == "rows") return {.kind = SplitKind::rows, .count = *number};
  if (request.has_groups() || request.limit || request.input_order != InputOrder::any)
    refuse_split(word, "how long the output is shows too late: split by rows=N or size=S");
  return {.kind = SplitKind::files, .count = *number};
}

}  // namespace

SplitNames split_names_of(const std::string& word, const std::string& output) {
  constexpr std::size_t most_bytes = 80;  // besides what stands for {}
  if (output.empty() || output == "-") refuse_split(word, "the files need names; give them with -o, such as 'out-{}.csv'");
  const std::string directory = directory_of(output), base = std::filesystem::path(output).filename().string();
  const std::size_t place = base.find("{}");
  if (directory.find("{}") != std::string::npos || place == std::string::npos || base.find("{}", place + 2) != std::string::npos)
    refuse_split(
        word, fmt::format(
                  "put {{}} into the name of the output ('{}') once, behind the last slash, where the names of the files differ",
                  output));
  if (base.size() > most_bytes) refuse_split(word, fmt::format("the name of the output is longer than {} bytes", most_bytes));
  return {directory, base.substr(0, place), base.substr(place + 2)};
}

std::optional<engine::rows::SplitJob> split_of(const Request& request, std::uint64_t memory_bytes) {
  constexpr std::uint64_t share = 8;
  const std::string& word = request.place.split;
  if (word.empty()) return std::nullopt;
  if (request.place.kind != PlaceKind::file) refuse_split(word, "a sort that can be resumed, or in place, has one output");
  if (request.shuffle) refuse_split(word, "a shuffle has one output; leave the split out");
  if (request.groups.count) refuse_split(word, "counted rows have one output; leave the counts or the split out");
  if (request.verification.reread)
    refuse_split(word, "several files cannot be verified by reading them again; verify them as usual");
  engine::rows::SplitJob job{word, split_terms_of(request), split_names_of(word, request.place.output),
                             io::numbers_of(request.inputs), 0};
  job.memory_bytes = round_down(memory_bytes / share, page_bytes);
  return job;
}

}  // namespace ecosort::job
