// The options of `csv` and `jsonl`, and what they mean as a job.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/profile_choice.h"
#include "ecosort/ecosort.hpp"

namespace ecosort::cli {

struct TableOptions {
  SortSpec spec;  // resolved, but for what depends on files
  std::string stats, events, trace, progress = "auto";
  std::uint64_t assumed_bytes = 0;  // of a plan
  bool json = false;                // likewise
  bool resumable = false;
  bool check = false, quiet = false, help = false;
  std::string goal;  // of --compress=auto; energy is in the spec already
  ProfileWords profile_words;
  ProfileChoice profile;             // what it sets is above already
  std::set<std::string_view> given;  // options on the command line
};

// The word for the format: "csv", "jsonl".
[[nodiscard]] std::string_view word_of(Format format) noexcept;

// `command`: whose table of options holds, "csv" or "plan csv". UsageError naming the option for anything it cannot read.
[[nodiscard]] TableOptions parse_table_options(Format format, std::string_view command, const Words& words);

}  // namespace ecosort::cli
