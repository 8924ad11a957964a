// The order of lines that words of `ecosort lines` ask for.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "formats/lines/key_words.h"

namespace ecosort::lines {

inline Request request_of_words(const std::vector<std::string>& words) { return cli::read_command_line("lines", words).request; }

inline LineOrderTerms order_of_words(const std::vector<std::string>& words) {
  const Request request = request_of_words(words);
  return order_terms(std::get<Lines>(request.rows), request.unique);
}

}  // namespace ecosort::lines
