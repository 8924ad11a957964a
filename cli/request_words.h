// From the words of a command to its request: each option sets the member that its row names, in the JSON that the one reader of
// requests reads.
#pragma once

#include "base/json.h"
#include "cli/commands.h"
#include "cli/given_words.h"
#include "cli/option_table.h"
#include "ecosort/request.hpp"

namespace ecosort::cli {

struct RequestWords {
  const CommandTable* table = nullptr;
  GivenWords given{};
  Json document{};  // the request
  Request request{};
};

// Throws UsageError with the option for what cannot be read, and for options that conflict.
[[nodiscard]] RequestWords read_request_words(const CommandTable& table, const Words& words, const lines::PosixRules& rules);

// For those that add to the document: an option sets its member.
void put(Json& document, const CommandTable& table, const GivenOption& given);
// Returns whether the document says something of a member, such as "means.threads".
[[nodiscard]] bool has_member(const Json& document, std::string_view path);

}  // namespace ecosort::cli
