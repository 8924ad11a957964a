// `ecosort inplace`, `resume` and `plan inplace`: what the user wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/profile_choice.h"
#include "cli/run_job.h"
#include "demsort_inplace/prepare/records.h"

namespace ecosort::cli {

struct InPlaceOptions {
  JobRun run;                       // the file, and what is told about the work
  Request request;                  // of records; its input is the file. `resume` takes its means
  std::uint64_t assumed_bytes = 0;  // of a file that is not there, which can only be planned; 0: there is one
  std::string trust_owner;          // empty: no one else
  bool json = false, help = false, status = false, abandon = false, trust_drive = false;
  ProfileWords profile_words;
  ProfileChoice profile;             // what it sets is above already
  std::set<std::string_view> given;  // options on the command line

  [[nodiscard]] Records& records() { return std::get<Records>(request.rows); }
};

// `command` is "inplace", "resume" or "plan inplace". UsageError naming the option for anything that cannot be.
[[nodiscard]] InPlaceOptions parse_inplace_options(const std::string& command, const Words& words);

// As people read it, and as a program does.
[[nodiscard]] std::string inplace_plan_text(const InPlaceOptions& options, const inplace::PreparedRecords& prepared);
[[nodiscard]] std::string inplace_plan_json(const InPlaceOptions& options, const inplace::PreparedRecords& prepared);

// The reports can be written, and are neither each other nor the file.
void check_job_reports(const JobRun& run);

int plan_inplace(const Words& words);

}  // namespace ecosort::cli
