// The options of `csv` and `jsonl`, and what they mean as a job.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/profile_choice.h"
#include "cli/watched_run.h"
#include "ecosort/request.hpp"
#include "job/prepare_rows.h"

namespace ecosort::cli {

struct TableOptions {
  Request request;  // of CSV or JSON lines; resolved, but for what depends on files
  RunReports reports;
  std::uint64_t assumed_bytes = 0;  // of a plan
  bool json = false;                // likewise
  bool check = false, help = false;
  std::string goal;  // of --compress=auto; energy is in the request already
  ProfileWords profile_words;
  ProfileChoice profile;             // what it sets is above already
  std::set<std::string_view> given;  // options on the command line

  [[nodiscard]] bool is_csv() const noexcept { return request.format() == Format::csv; }
  [[nodiscard]] const Values& values() const { return job::values_of(request); }
  [[nodiscard]] Values& values() { return const_cast<Values&>(job::values_of(request)); }
};

// `command`: whose table of options holds, "csv" or "plan csv". UsageError naming the option for anything it cannot read.
[[nodiscard]] TableOptions parse_table_options(Format format, std::string_view command, const Words& words);

}  // namespace ecosort::cli
