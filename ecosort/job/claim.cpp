#include "job/claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/errors.h"
#include "base/json.h"
#include "formats/csv/csv_format.h"
#include "formats/lines/key_words.h"
#include "formats/lines/quoted.h"
#include "io/plain_file.h"
#include "job/collation_version.h"
#include "job/prepare_rows.h"
#include "job/request_json.h"
#include "job/row_formats.h"

namespace ecosort::job {

namespace {

// Members of rows that say how a file is cut into them. Files that differ in these may be in the same order.
constexpr std::array<std::string_view, 14> of_framing{
    "record_size",  "skip_bytes", "terminator", "header_lines", "header_mark", "paragraphs", "record_lines",
    "record_start", "delimiter",  "quote",      "header",       "comment",     "skip_lines", "allow_missing"};
// Members that say nothing of a file that is sorted.
constexpr std::array<std::string_view, 4> of_sort{"random_source", "random_salt", "collation_version", "bad_rows"};

[[noreturn]] void refuse_claim(const std::string& path) {
  throw UsageError(fmt::format("{} is no claim ({}); move it away", lines::quoted_name(path), engine::claim_schema));
}

// Says what a request leaves to names of files or to defaults: a claim has all of it.
void complete_rows(Request& request) {
  if (auto* const records = std::get_if<Records>(&request.rows); records != nullptr && records->record_size == 0)
    records->record_size = 100;
  if (auto* const records = std::get_if<Records>(&request.rows); records != nullptr && records->keys.empty())
    records->keys = {RecordKey(0, static_cast<std::uint32_t>(std::min<std::uint64_t>(10, records->record_size)))};
  if (auto* const csv = std::get_if<Csv>(&request.rows)) csv->delimiter = std::string(delimiter_of(*csv, request.inputs).text());
}

// Returns the members of the rows of a request, as its JSON has them.
Json rows_json(Request request) {
  complete_rows(request);
  const auto whole = Json::parse(to_json(request));
  const Json* const rows = whole ? whole->find(name_of(request.format())) : nullptr;
  if (rows == nullptr) throw InternalError("a request without rows cannot be claimed");
  Json told = Json::object();
  for (const std::string_view name : rows->names())
    if (std::ranges::find(of_sort, name) == of_sort.end()) told[name] = *rows->find(name);
  return told;
}

Claim claim_in(const Json& json, const std::string& path) {
  const std::string *const schema = json.find_text("schema"), *const format = json.find_text("format"),
                           *const hash = json.find_text("hash"), *const collation = json.find_text("collation");
  const Json* const order = json.find("order");
  const std::uint64_t *const rows = json.find_number("rows"), *const bytes = json.find_number("bytes");
  const bool is_known = schema != nullptr && *schema == engine::claim_schema && format != nullptr &&
                        std::ranges::find(format_names, *format) != format_names.end();
  if (!is_known || order == nullptr || hash == nullptr || rows == nullptr || bytes == nullptr) refuse_claim(path);
  Json request = Json::object();
  request[*format] = *order;
  return {request_of(request).rows, collation == nullptr ? "" : *collation, *rows, *bytes, *hash};
}

Request request_with(const decltype(Request::rows)& rows) {
  Request request;
  request.rows = rows;
  return request;
}

// Returns whether rows that are sorted by the keys `has` are sorted by `wanted`, too. Lines with equal keys are compared as a
// whole, other rows stay as they came.
bool are_keys_of(const Json& has, const Json& wanted, Format format) {
  const std::vector<Json>*const keys = has.list(), *const first = wanted.list();
  if (format == Format::lines || keys == nullptr || first == nullptr) return has.text() == wanted.text();
  return keys->size() >= first->size() && std::equal(first->begin(), first->end(), keys->begin(),
                                                     [](const Json& a, const Json& b) { return a.text() == b.text(); });
}

// Returns in which member of their orders two differ, or nothing. Members that are as by default are absent.
std::optional<std::string> difference_of(const Json& claimed, const Json& wanted, Format format) {
  std::vector<std::string_view> names = claimed.names();
  for (const std::string_view name : wanted.names())
    if (claimed.find(name) == nullptr) names.push_back(name);
  for (const std::string_view name : names) {
    if (std::ranges::find(of_framing, name) != of_framing.end()) continue;
    const Json *const has = claimed.find(name), *const needs = wanted.find(name);
    const auto text_of = [](const Json* member) { return member == nullptr ? "none" : member->text(); };
    const bool are_keys = name == "keys" && has != nullptr && needs != nullptr && are_keys_of(*has, *needs, format);
    const bool is_finer = name == "stable" && has == nullptr;  // rows with equal keys are ordered, too
    if (!are_keys && !is_finer && text_of(has) != text_of(needs))
      return fmt::format("\"{}\": {}, and the merge has {}", name, text_of(has), text_of(needs));
  }
  return std::nullopt;
}

void check_claim_of(const std::string& input, const Claim& claim, const Request& request) {
  const std::string name = lines::quoted_name(input);
  if (!has_claimed_size(claim, input))
    throw UsageError(fmt::format("{} has not the {} bytes of its claim: it was changed; remove {}", name, claim.bytes,
                                 lines::quoted_name(claim_path(input))));
  const Request claimed = request_with(claim.rows);
  if (claimed.format() != request.format())
    throw UsageError(fmt::format("{} claims an order of {}, and the merge is one of {}; merge it as such", name,
                                 name_of(claimed.format()), name_of(request.format())));
  if (const auto difference = difference_of(rows_json(claimed), rows_json(request), request.format()))
    throw UsageError(fmt::format("{} claims the order {}; merge it by its order, or sort it", name, *difference));
  if (const std::string here = collation_version_of(request); claim.collation != here)
    throw UsageError(fmt::format("{} claims the order of {}, and here is {}: sort it again", name, claim.collation, here));
}

void check_can_be_claimed(const Request& request) {
  if (request.place.kind != PlaceKind::file) throw UsageError("a job that can be resumed writes no claim; leave the claim out");
  if (!request.place.split.empty()) throw UsageError("a claim is of one file; leave the split or the claim out");
  if (request.shuffle) throw UsageError("a shuffle has no order that could be claimed; leave the claim out");
  if (request.groups.count) throw UsageError("rows with a count in front cannot be claimed; leave the count or the claim out");
  const Lines* const rows = std::get_if<Lines>(&request.rows);
  if (rows != nullptr && lines::uses_chance(lines::order_terms(*rows, false)))
    throw UsageError("an order of chance cannot be claimed; leave the claim out");
}

}  // namespace

std::string claim_path(const std::string& file) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(file, error);
  return (error ? file : target.string()) + std::string(engine::claim_ending);
}

std::optional<Claim> read_claim(const std::string& file) {
  const std::string path = claim_path(file);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  const std::vector<std::byte> bytes = io::read_whole_file(path);
  const auto json = Json::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!json || !json->is_object()) refuse_claim(path);
  return claim_in(*json, path);
}

bool has_claimed_size(const Claim& claim, const std::string& file) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  return error || bytes == claim.bytes;
}

engine::ClaimText claim_text_of(const Request& request, const std::string& output, const formats::RowFormat* format) {
  if (!request.place.claim) return {};
  if (output == "-") throw UsageError("a claim is a file beside the output, which has no name: name an output");
  check_can_be_claimed(request);
  const std::string path = output + std::string(engine::claim_ending);
  std::error_code error;
  if (std::filesystem::exists(path, error) && !engine::is_claim(path)) refuse_claim(path);
  const std::string collation = collation_version_of(request);
  const Json claim{{"schema", engine::claim_schema},
                   {"format", name_of(request.format())},
                   {"order", rows_json(request)},
                   {"collation", collation.empty() ? Json(nullptr) : Json(collation)},
                   {"file", std::filesystem::path(output).filename().string()}};
  const auto* const table = dynamic_cast<const csv::CsvFormat*>(format);
  return [claim, table](const engine::OutputContents& contents) {
    Json told = claim;
    if (table != nullptr) told["order"]["delimiter"] = std::string(table->dialect().delimiter.text());  // a line may name it
    told.update({{"rows", contents.rows}, {"bytes", contents.bytes}, {"hash", contents.hash.to_hex()}});
    return told.text(2) + "\n";
  };
}

void check_claims_of_inputs(const Request& request) {
  for (const std::string& input : request.inputs)
    if (const std::optional<Claim> claim = input == "-" ? std::nullopt : read_claim(input))
      check_claim_of(input, *claim, request);
}

}  // namespace ecosort::job
