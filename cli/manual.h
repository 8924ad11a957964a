// `ecosort manual` prints this besides man pages, for shells and for programs that read a command line.
#pragma once

#include <string>

namespace ecosort::cli {

[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string fish_completion();

// The tables of options: a document of the schema "ecosort.manual/1".
[[nodiscard]] std::string manual_json();

}  // namespace ecosort::cli
