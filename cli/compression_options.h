// The options of every command that reads and writes compressed files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/option_binding.h"
#include "cli/option_table.h"
#include "cli/profile_choice.h"
#include "ecosort/ecosort.hpp"
#include "job/plan_codecs.h"

namespace ecosort::cli {

// What is said of temporary runs, as it was given; until then, as the command does without.
struct RunWords {
  std::string runs, assumed_ratio, goal;

  void bind(OptionTargets& targets);
  // UsageError. Energy comes later, from a profile.
  void set(Compression& terms) const;
};

// The same of all that is compressed.
struct CompressionWords {
  std::string decompress, output, level;
  RunWords runs = {};

  void bind(OptionTargets& targets);
  [[nodiscard]] Compression terms() const;  // UsageError
};

constexpr std::string_view energy_goes_without_resumable =
    "--goal energy goes without --resumable: who resumes the job may have another profile; leave it out";

// Of --goal, for runs that are compressed as `terms` say, or `usual`ly. UsageError for energy without a profile that knows watts.
[[nodiscard]] std::optional<EnergyTerms> energy_of_goal(const std::string& goal, const Compression& terms, std::string_view usual,
                                                        bool is_resumable, const ProfileChoice& profile);

// Of --compress, --assume-ratio and --goal, for a command that sorts `rows` and does `usual`ly so.
[[nodiscard]] std::vector<OptionRow> run_compression_rows(std::string_view usual, std::string_view rows);

// Their rows in the table of a command, for which these words are the defaults.
[[nodiscard]] std::vector<OptionRow> compression_rows(std::string_view decompress, std::string_view output);

// For --stats: what was decompressed, and how runs and the output were compressed.
[[nodiscard]] Json compression_json(const lines::LinesJob& job, const lines::LinesReport& report);
// The same of runs alone; null: they were not.
[[nodiscard]] Json run_compression_json(const planner::PackingPlan& plan, const std::optional<run::PackingReport>& report);

// For a plan: "lz4; 2 coders and their index take 1 MiB (1048576 bytes)". Empty: runs are not compressed.
[[nodiscard]] std::string packing_text(const planner::PackingPlan& plan);
// For a summary: ", runs 3.4 x smaller by lz4". Empty: they are not.
[[nodiscard]] std::string packed_text(const std::optional<run::PackingReport>& report);

}  // namespace ecosort::cli
