#include "cli/request_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "formats/lines/key_words.h"
#include "formats/lines/option_words.h"
#include "formats/lines/quoted.h"
#include "job/groups.h"
#include "job/request_json.h"

namespace ecosort::cli {

namespace {

// "means.threads"; of the rows "rows.keys", and others at the top: "unique".
Json& member_of(Json& document, const CommandTable& table, std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return document[path];
  const std::string_view first = path.substr(0, dot);
  return document[first == "rows" ? table.format : first][path.substr(dot + 1)];
}

}  // namespace

bool has_member(const Json& document, std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return document.find(path) != nullptr;
  const Json* const part = document.find(path.substr(0, dot));
  return part != nullptr && part->find(path.substr(dot + 1)) != nullptr;
}

void put(Json& document, const CommandTable& table, const GivenOption& given) {
  const Sets& sets = given.row->sets;
  if (sets.value == nullptr) return;
  if (sets.member.empty()) return void(sets.value(given, nullptr));
  Json& member = member_of(document, table, sets.member);
  Json value = sets.value(given, member.is_null() ? nullptr : &member);
  if (sets.adds)
    member.push_back(std::move(value));
  else
    member = std::move(value);
  if (!sets.also.empty()) member_of(document, table, sets.also) = true;
}

namespace {

// Adds to the document what the command says by itself, and its inputs.
Request completed(Json& document, const CommandTable& table, const GivenWords& given) {
  const bool has_rows = std::ranges::any_of(format_names, [&](std::string_view name) { return document.find(name) != nullptr; });
  if (!has_rows) document[table.format] = Json::object();  // else an option says what the rows are
  for (const FixedMember& fixed : table.fixed)
    if (Json& member = member_of(document, table, fixed.member); member.is_null()) member = fixed.value;
  document["inputs"] = given.operands;
  return job::request_of(document);
}

// Reads standard input where no file is named, as sort does.
void complete_inputs_of_lines(GivenWords& given) {
  const bool are_named_elsewhere = given.has("--files0-from");
  if (are_named_elsewhere && !given.operands.empty())
    throw lines::WrongOption(fmt::format("extra operand {}", lines::quoted_word(given.operands.front())),
                             fmt::format("file operands cannot be combined with --files0-from\n{}", lines::see_help));
  if (!are_named_elsewhere && given.operands.empty()) given.operands.emplace_back("-");
}

void check_lines(const RequestWords& line) {
  (void)lines::order_terms(std::get<Lines>(line.request.rows), job::keys_make_groups(line.request));  // its keys are what can be
  check_conflicts(*line.table, line.given.options);
  const bool is_check = line.given.has("--check"), is_quiet_check = line.given.has("-C");
  if ((is_check || is_quiet_check) && line.given.operands.size() > 1)
    throw UsageError(
        fmt::format("extra operand {} not allowed with -{}", lines::quoted_word(line.given.operands[1]), is_check ? 'c' : 'C'));
}

RequestWords read_lines(const CommandTable& table, const Words& words, const lines::PosixRules& rules) {
  RequestWords line{.table = &table, .document = Json::object()};
  line.given = split_gnu_words(table, words, rules, [&](const GivenOption& given) { put(line.document, table, given); });
  if (line.given.asks_for_help || line.given.asks_for_version) return line;
  complete_inputs_of_lines(line.given);
  line.request = completed(line.document, table, line.given);
  check_lines(line);
  return line;
}

RequestWords read_house_words(const CommandTable& table, const Words& words) {
  RequestWords line{.table = &table, .given = split_words(table, words), .document = Json::object()};
  if (line.given.asks_for_help) return line;
  check_conflicts(table, line.given.options);
  for (const GivenOption& given : line.given.options) put(line.document, table, given);
  if (!table.format.empty()) line.request = completed(line.document, table, line.given);
  return line;
}

}  // namespace

RequestWords read_request_words(const CommandTable& table, const Words& words, const lines::PosixRules& rules) {
  return table.is_gnu ? read_lines(table, words, rules) : read_house_words(table, words);
}

}  // namespace ecosort::cli
