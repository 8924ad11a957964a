// Shell completion from the option tables: commands, options, and the values of those that take a file, a directory or one of a
// few words.
#pragma once

#include <string>

namespace ecosort::cli {

[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string fish_completion();

}  // namespace ecosort::cli
