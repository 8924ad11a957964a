// `ecosort sort --resumable` and `ecosort plan sort --resumable`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/sort_options.h"
#include "demsort_inplace/space_plan.h"
#include "engine/fixed/read_ahead.h"
#include "io/posix_storage.h"

namespace ecosort::cli {

// Everything checked and opened; nothing created.
struct ResolvedResumable {
  std::vector<engine::Input> inputs;
  std::string output;  // links followed
  planner::Machine machine;
  planner::Wanted wanted;
  inplace::Ground ground{inplace::Mode::beside_input};
  std::uint64_t free_bytes = 0;  // on the output's file system
  inplace::SpaceChoice choice;   // `least` is set where there is a record to sort, `best` where it fits
};

// Nothing to sort leaves `choice` empty. UsageError for what cannot be resumed. Whether the space suffices is left
// to require_space().
[[nodiscard]] ResolvedResumable resolve_resumable(const SortOptions& options, io::PosixStorage& storage);

// The plan to follow; NotEnoughSpace.
[[nodiscard]] const inplace::SpacePlan& require_space(const ResolvedResumable& resolved);

// Nothing, or false: there is no record to sort, so that there is nothing to resume either; an ordinary sort does it.
[[nodiscard]] std::optional<int> run_resumable(const SortOptions& options, io::PosixStorage& storage, double started_s);
[[nodiscard]] bool plan_resumable(const SortOptions& options, io::PosixStorage& storage);

// As people read it, and as a program does.
[[nodiscard]] std::string resumable_plan_text(const SortOptions& options, const ResolvedResumable& resolved);
[[nodiscard]] std::string resumable_plan_json(const SortOptions& options, const ResolvedResumable& resolved);

}  // namespace ecosort::cli
