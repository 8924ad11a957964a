// Says what is compressed: what --goal energy means, and what reports and plans say.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "cli/profile_choice.h"
#include "ecosort/ecosort.hpp"
#include "job/plan_codecs.h"

namespace ecosort::cli {

constexpr std::string_view energy_goes_without_resumable =
    "--goal energy cannot be combined with --resumable: a later resume may use a different profile; leave it out";

// Returns what --goal energy means by the profile. UsageError where runs are not compressed as pays, or nothing is known of
// watts.
[[nodiscard]] EnergyTerms energy_of_goal(const Request& request, const ProfileChoice& choice);

// For --stats: what was decompressed, and how runs and the output were compressed.
[[nodiscard]] Json compression_json(const engine::rows::LinesJob& job, const engine::rows::LinesReport& report);
// Describes runs alone; null: they were not compressed.
[[nodiscard]] Json run_compression_json(const planner::PackingPlan& plan, const std::optional<run::PackingReport>& report);

// For a plan: "lz4; 2 coders and their index take 1 MiB (1048576 bytes)". Empty: runs are not compressed.
[[nodiscard]] std::string packing_text(const planner::PackingPlan& plan);
// For a summary: ", runs 3.4 x smaller by lz4". Empty: they are not.
[[nodiscard]] std::string packed_text(const std::optional<run::PackingReport>& report);

}  // namespace ecosort::cli
