// `ecosort inplace`, `resume` and `plan inplace`: what the user wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/profile_choice.h"
#include "cli/run_job.h"
#include "demsort_inplace/prepare/in_place.h"

namespace ecosort::cli {

struct InPlaceOptions {
  JobRun run;  // the file, and what is told about the work
  std::uint64_t record_size = 100;
  std::vector<std::string> keys;
  std::string memory;       // empty: default
  unsigned threads = 0;     // 0: default
  std::string trust_owner;  // empty: no one else
  std::string io = "auto", assume_size, space, verify = "always";
  bool reverse = false, json = false, help = false, status = false, abandon = false, trust_drive = false, as_is = false;
  ProfileWords profile_words;
  ProfileChoice profile;             // what it sets is above already
  std::set<std::string_view> given;  // options on the command line
};

// `command` is "inplace", "resume" or "plan inplace". UsageError naming the option for anything that cannot be.
[[nodiscard]] InPlaceOptions parse_inplace_options(const std::string& command, const Words& words);

// The same as a job. UsageError for a size that cannot be.
[[nodiscard]] inplace::InPlaceSpec spec_of(const InPlaceOptions& options);

// As people read it, and as a program does.
[[nodiscard]] std::string inplace_plan_text(const InPlaceOptions& options, const inplace::PreparedInPlace& prepared);
[[nodiscard]] std::string inplace_plan_json(const InPlaceOptions& options, const inplace::PreparedInPlace& prepared);

// The reports can be written, and are neither each other nor the file.
void check_job_reports(const JobRun& run);

int plan_inplace(const Words& words);

}  // namespace ecosort::cli
