// The options of `sort` and `plan sort`, as text, and what they mean as a job.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/option_binding.h"
#include "cli/profile_choice.h"
#include "io/backends.h"
#include "job/spec.h"

namespace ecosort::cli {

enum class ProgressMode : std::uint8_t { automatic, none, json };

// What the user wrote, checked for form only.
struct SortOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::uint64_t record_size = 100;
  std::vector<std::string> keys;
  std::string memory;    // empty: default
  unsigned threads = 0;  // 0: default
  unsigned merge_threads = 0;
  std::uint64_t run_records = 0;
  planner::Requests requests;
  std::vector<std::string> temp;
  std::string io = "auto";
  std::string verify = "always";
  std::string stats, events, trace, progress = "auto";
  bool unique = false, reverse = false, stable = false, resumable = false, quiet = false, json = false, help = false;
  ProfileWords profile_words;
  ProfileChoice profile;             // what it sets is above already
  std::set<std::string_view> given;  // options on the command line
};

// UsageError naming the option for anything it cannot read. `command` is "sort" or "plan". Reads the profile, if there is one.
[[nodiscard]] SortOptions parse_sort_options(const std::string& command, const Words& words);

// What the options say as a job. UsageError for a size that cannot be.
[[nodiscard]] SortSpec spec_of(const SortOptions& options);
[[nodiscard]] job::Tuning tuning_of(const SortOptions& options);

// UsageError for a word that is none of --progress. --quiet shows nothing that was not asked for.
[[nodiscard]] ProgressMode progress_mode(const std::string& text, bool quiet = false);

// UsageError for any other word than those of --verify.
void check_verify(const std::string& verify);

// 0 if it was not given; UsageError for a number that cannot be.
[[nodiscard]] unsigned checked_threads(const ParsedWords& parsed, std::uint64_t threads, std::string_view option = "--threads");

}  // namespace ecosort::cli
