// The command line of the Sort Benchmark's tools, gensort and valsort, without its traps.
//
// Flags are one letter, come first, and carry a number right behind the letter (-b100) or the next word as value (-o FILE).
// The reference tools read the first letter of a flag only (`-as` is just `-a`) and a number up to its first non-digit (`1e6`
// is 1); here both are errors that say what to type. All functions throw UsageError.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/uint128.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/progress_line.h"
#include "sortbenchmark/block_files.h"

namespace ecosort::cli {

struct ReferenceWords {
  std::map<char, std::string> flags;  // letter -> value; the last one counts
  std::vector<std::string> positionals;
  bool wants_help = false;
  ProgressMode progress = ProgressMode::automatic;  // of --progress and --quiet, which the reference tools do not have
  bool teragen = false;                             // nor this one, of gen

  [[nodiscard]] bool has(char letter) const { return flags.contains(letter); }
};

[[nodiscard]] ReferenceWords parse_reference_words(const Words& words, const CommandTable& table);

// A whole number below 2^bits; `what` names it in the error line.
[[nodiscard]] uint128 parse_number(const std::string& what, const std::string& text, unsigned bits);

// -tN; without it, the CPUs that this process may use.
[[nodiscard]] unsigned thread_count(const ReferenceWords& words);

// FILE[,buf][,dir]: a name, and how to go about it. If a file exists under the whole word, the commas belong to its name.
struct FileWord {
  std::string name;
  io::FileCaching caching = io::FileCaching::automatic;
};
[[nodiscard]] FileWord parse_file_word(const std::string& word);

// Runs the body of such a tool with the reference tools' exit codes: every error is a line on stderr and 1, but for Interrupted.
int with_reference_exit_codes(std::string_view command, const std::function<int()>& body);

}  // namespace ecosort::cli
