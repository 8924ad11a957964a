// The options of `sort` and `plan sort`, as text, and what they mean as a job.
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
#include "job/spec.h"

namespace ecosort::cli {

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
  std::string assume_size;  // of an input that is not there, which can only be planned; empty: there are inputs
  std::string io = "auto";
  std::string verify = "always";
  std::string stats, events, trace, progress = "auto", expected_hash;
  bool unique = false, reverse = false, stable = false, resumable = false, checksum = false, quiet = false, json = false,
       help = false, lines = false, runs = false;  // of merge: not where they should stand
  RunWords run_words;
  CompressionTerms compression;
  ProfileWords profile_words;
  ProfileChoice profile;             // what it sets is above already
  std::set<std::string_view> given;  // options on the command line
};

// UsageError naming the option for anything it cannot read. `command`: whose options they are, "sort", "merge" or "plan sort";
// `teller`: the command that the user typed, where that is another one. Reads the profile, if there is one.
[[nodiscard]] SortOptions parse_sort_options(const std::string& command, const Words& words, std::string_view teller = {});

// The format of the records is no one's choice: neither --record-size nor --key is among the options given.
[[nodiscard]] bool is_format_assumed(const std::set<std::string_view>& given);

// What the options say as a job. UsageError for a size that cannot be.
[[nodiscard]] SortSpec spec_of(const SortOptions& options);
[[nodiscard]] job::Tuning tuning_of(const SortOptions& options);

// The names under which a process finds its own standard output. A file cannot take their place.
[[nodiscard]] bool is_standard_output(const std::string& path);

// UsageError for any other word than those of --verify.
void check_verify(const std::string& verify);

// 0 if it was not given; UsageError for a number that cannot be.
[[nodiscard]] unsigned checked_threads(const ParsedWords& parsed, std::uint64_t threads, std::string_view option = "--threads");

}  // namespace ecosort::cli
