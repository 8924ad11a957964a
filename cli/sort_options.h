// The options of `sort`, `merge` and `plan sort`, as a request.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/compression_options.h"
#include "cli/option_binding.h"
#include "cli/profile_choice.h"
#include "cli/progress_line.h"
#include "cli/watched_run.h"
#include "job/prepare_records.h"

namespace ecosort::cli {

// What the user wrote, checked for form only.
struct SortOptions {
  Request request;  // of records
  RunReports reports;
  std::uint64_t assumed_bytes = 0;  // of an input that is not there, which can only be planned; 0: there are inputs
  bool json = false, help = false, lines = false, runs = false;  // the last two: of merge, not where they should stand
  bool append_rest = false;                                      // of merge --runs
  RunWords run_words;
  ProfileWords profile_words;
  ProfileChoice profile;             // what it sets is above already
  std::set<std::string_view> given;  // options on the command line

  [[nodiscard]] Records& records() { return std::get<Records>(request.rows); }
  [[nodiscard]] const Records& records() const { return std::get<Records>(request.rows); }
};

// UsageError naming the option for anything it cannot read. `command`: whose options they are, "sort", "merge" or "plan sort";
// `teller`: the command that the user typed, where that is another one. Reads the profile, if there is one.
[[nodiscard]] SortOptions parse_sort_options(const std::string& command, const Words& words, std::string_view teller = {});

// The runs that a search found best are for the memory that it had; for other memory the planner chooses.
[[nodiscard]] Request request_of(const SortOptions& options);
[[nodiscard]] job::Leeway leeway_of(const SortOptions& options);

// The names under which a process finds its own standard output. A file cannot take their place.
[[nodiscard]] bool is_standard_output(const std::string& path);

// What every sort is told besides what is to be sorted.
void bind_surroundings(RunReports& reports, ProfileWords& profile, OptionTargets& targets);

// UsageError for a size that was given and cannot be: a request takes 0 for one that no one gave.
void check_record_size(const ParsedWords& parsed, const Records& records);

// UsageError.
[[nodiscard]] std::uint64_t memory_of(const std::string& text);

// 0 if it was not given; UsageError for a number that cannot be.
[[nodiscard]] unsigned checked_threads(const ParsedWords& parsed, std::uint64_t threads, std::string_view option = "--threads");

}  // namespace ecosort::cli
