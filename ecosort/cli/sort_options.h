// The options of `sort` and `plan sort`, as text and then resolved against the machine and the files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/option_binding.h"
#include "cli/profile_choice.h"
#include "cli/progress_line.h"
#include "cli/sort_space.h"
#include "io/backends.h"
#include "io/posix_storage.h"
#include "pipeline/sort.h"
#include "plan/machine.h"

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
  plan::Requests requests;
  std::vector<std::string> temp;
  std::string assume_size;  // of an input that is not there, which can only be planned; empty: there are inputs
  std::string io = "auto";
  std::string verify = "always";
  std::string stats, events, trace, progress = "auto";
  bool unique = false, reverse = false, stable = false, resumable = false, checksum = false, quiet = false, json = false, help = false;
  ProfileWords profile_words;
  ProfileChoice profile;             // what it sets is above already
  std::set<std::string_view> given;  // options on the command line
};

// UsageError naming the option for anything it cannot read. `command` is "sort" or "plan sort". Reads the profile, if there is
// one.
[[nodiscard]] SortOptions parse_sort_options(const std::string& command, const Words& words);

// Opens and checks everything (promise P9) and makes the plan; creates nothing.
struct ResolvedSort {
  pipeline::SortJob job;
  plan::Machine machine;
  std::vector<SpaceNeed> space;
  std::vector<std::string> notices;          // for the user, unless --quiet
  std::string profile_notice;                // the same, about a setting of the profile that this sort cannot have
  bool output_has_no_temporary_name = true;  // P2: which way the output will be written
};
[[nodiscard]] ResolvedSort resolve_sort(const SortOptions& options, io::PosixStorage& storage);

// Steps of it. UsageError for what cannot be.
[[nodiscard]] std::vector<pipeline::Input> open_inputs(const SortOptions& options, io::Storage& storage);
[[nodiscard]] plan::Wanted wanted_from(const SortOptions& options, const std::vector<pipeline::Input>& inputs,
                                       const plan::Machine& machine, std::uint64_t assumed_alignment = page_bytes);
void check_memory_exists(std::uint64_t memory_bytes, std::uint64_t need_bytes, const plan::Machine& machine);

// UsageError for any other word than those of --verify.
void check_verify(const std::string& verify);

// 0 if it was not given; UsageError for a number that cannot be.
[[nodiscard]] unsigned checked_threads(const ParsedWords& parsed, std::uint64_t threads, std::string_view option = "--threads");

}  // namespace ecosort::cli
