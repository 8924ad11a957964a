// The machine-readable report of a run (--stats) and the human-readable plan.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "cli/progress_text.h"
#include "job/plan_json.h"
#include "job/prepare_records.h"

namespace ecosort::cli {

// Process-wide figures of the whole run.
struct ProcessUsage {
  double wall_s = 0, cpu_user_s = 0, cpu_system_s = 0;
  std::uint64_t peak_rss_bytes = 0;
};
[[nodiscard]] ProcessUsage process_usage(double started_monotonic_s);

// The key fields as they were understood, as lines of a plan.
[[nodiscard]] std::string keys_text(const records::RecordFormat& format);

// Says how runs are compressed, or why they are not although that was asked for, as a line of a plan; empty: no one asked.
[[nodiscard]] std::string packing_line(const planner::RecordPlan& plan);

// The plan with what this machine has for it ("here"): memory, directories, free space, I/O backend.
[[nodiscard]] Json resolved_plan_json(const job::PreparedRecords& resolved, const std::string& backend);
[[nodiscard]] std::string plan_text(const job::PreparedRecords& resolved, const std::string& backend);

// Reports the phases of every command.
[[nodiscard]] Json phases_json(const engine::PhaseLog& log);

// Null: the job began in this run.
[[nodiscard]] Json resumed_json(const std::optional<engine::Resumed>& resumed);

// The half of --stats that every command has which sorts or merges.
[[nodiscard]] Json work_json(const engine::WorkReport& report, const engine::PhaseLog& log, const ProcessUsage& usage,
                             const std::string& backend);

// schema "ecosort.stats/1"; units are in the names.
[[nodiscard]] Json stats_json(const engine::fixed::SortReport& report, const engine::PhaseLog& log, const ProcessUsage& usage,
                              const std::string& backend);

// "sorted ... records".
// Says what groups of equal rows left out, and counted.
[[nodiscard]] std::string groups_text(const engine::WorkReport& report);
[[nodiscard]] JobSummary summary_of(const engine::fixed::SortReport& report);

// Creates or replaces a small file. IoError.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace ecosort::cli
