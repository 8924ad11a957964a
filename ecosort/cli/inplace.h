// `ecosort inplace`, `resume` and `plan inplace`: what the user wrote, and the plan for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/profile_choice.h"
#include "cli/run_job.h"
#include "demsort_inplace/journal.h"
#include "demsort_inplace/space_plan.h"
#include "io/file.h"
#include "io/posix_storage.h"
#include "plan/machine.h"

namespace ecosort::cli {

struct InPlaceOptions {
  JobRun run;  // the file, and what is told about the work
  std::uint64_t record_size = 100;
  std::vector<std::string> keys;
  std::string memory;       // empty: default
  unsigned threads = 0;     // 0: default
  std::string trust_owner;  // empty: no one else
  std::string io = "auto", assume_size, space, verify = "always";
  bool reverse = false, json = false, help = false, status = false, abandon = false, trust_drive = false;
  ProfileWords profile_words;
  ProfileChoice profile;             // what it sets is above already
  std::set<std::string_view> given;  // options on the command line
};

// `command` is "inplace", "resume" or "plan inplace". UsageError naming the option for anything that cannot be.
[[nodiscard]] InPlaceOptions parse_inplace_options(const std::string& command, const Words& words);

inline constexpr std::uint64_t no_space_limit = std::uint64_t{1} << 62U;

// A file that was found fit, and how it is to be sorted.
struct ResolvedInPlace {
  io::FilePtr input;  // null: the size was assumed
  planner::Machine machine;
  planner::Wanted wanted;
  std::uint64_t free_bytes = 0;  // on its file system, or as much of it as may be taken; no_space_limit for an assumed one
  std::uint64_t held_bytes = 0;  // of these, what the file system may keep
  inplace::SpaceChoice choice;   // `least` is set where there is a record to sort, `best` where it fits
};

// Checks everything, changes nothing. Whether the space suffices is left to require_space().
[[nodiscard]] ResolvedInPlace resolve_inplace(const InPlaceOptions& options, io::PosixStorage& storage);

// The plan to follow; UsageError that says how much is needed, how much there is, and what would help.
[[nodiscard]] const inplace::SpacePlan& require_space(const InPlaceOptions& options, const ResolvedInPlace& resolved);

// As people read it, and as a program does.
[[nodiscard]] std::string inplace_plan_text(const InPlaceOptions& options, const ResolvedInPlace& resolved);
[[nodiscard]] std::string inplace_plan_json(const InPlaceOptions& options, const ResolvedInPlace& resolved);

// The reports can be written, and are neither each other nor the file.
void check_job_reports(const JobRun& run);

// Every run is an open file: raises the limit as far as it goes. UsageError if that is not far enough, or if files may not get as
// large as they must.
void check_limits(const inplace::Layout& layout, bool is_in_place);

int plan_inplace(const Words& words);

}  // namespace ecosort::cli
