// The options of `csv`, and what they mean as a job.
#pragma once

#include <string>

#include "cli/commands.h"
#include "ecosort/ecosort.hpp"

namespace ecosort::cli {

struct CsvOptions {
  SortSpec spec;  // resolved, but for what depends on files
  std::string stats, events, progress = "auto";
  bool check = false, quiet = false, help = false;
};

// UsageError naming the option for anything it cannot read.
[[nodiscard]] CsvOptions parse_csv_options(const Words& words);

}  // namespace ecosort::cli
