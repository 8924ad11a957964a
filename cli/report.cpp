#include "cli/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "base/errors.h"
#include "base/size_text.h"
#include "cli/compression_options.h"
#include "job/order_sample.h"

namespace ecosort::cli {

namespace {

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; }

std::string ledger_text(const char* title, const planner::RecordPlan::Ledger& ledger) {
  std::string text = fmt::format("  memory, {}\n", title);
  std::uint64_t total = 0;
  for (const auto& [purpose, bytes] : ledger) {
    if (bytes == 0) continue;
    text += fmt::format("    {:<36}{:>14}\n", purpose, format_bytes(bytes));
    total += bytes;
  }
  return text + fmt::format("    {:<36}{:>14}\n", "total", format_bytes(total));
}

std::string runs_text(const planner::RecordPlan& plan) {
  const planner::Merge& m = plan.merge;
  if (plan.shape == planner::Shape::unknown)
    return fmt::format("  runs of {} records; how many shows when the input ends\n", plan.formation.run_records);
  if (plan.shape == planner::Shape::gathered)
    return fmt::format(
        "  runs                none: keys are sorted, then each record is read where it lies, up to {} at a time\n",
        plan.gathering.reads);
  std::string text = fmt::format("  runs                {} of up to {} records: {} stored, the last {} stay in memory\n",
                                 m.stored_runs + m.resident_runs, plan.formation.run_records, m.stored_runs, m.resident_runs);
  for (std::size_t i = 0; i + 1 < m.steps.size(); ++i)
    text += fmt::format("  intermediate merge  {} runs from number {} on\n", m.steps[i].fan_in, m.steps[i].first_run);
  text += fmt::format("  merge               {} runs, blocks of {}\n", m.steps.back().fan_in, format_bytes(m.final.block_bytes));
  return text;
}

// ru_maxrss survives exec and then has the size of the process that started this program.
std::optional<std::uint64_t> own_peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  return std::nullopt;
}

}  // namespace

std::string packing_line(const planner::RecordPlan& plan) {
  if (plan.packing.coders > 0) return fmt::format("  compressed runs     {}\n", packing_text(plan.packing));
  if (plan.wanted.compression.is_none() || plan.stored_records == 0) return "";
  return "  compressed runs     none: in so little memory it would cost more than it saves\n";
}

std::string keys_text(const records::RecordFormat& format) {
  std::string text;
  for (const RecordKey& field : format.keys)
    text += fmt::format("  {:<20}{}\n", text.empty() ? "key" : "then", records::explain(field));
  return text;
}

ProcessUsage process_usage(double started_monotonic_s) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {engine::monotonic_seconds() - started_monotonic_s, seconds(usage.ru_utime), seconds(usage.ru_stime),
          own_peak_bytes().value_or(static_cast<std::uint64_t>(usage.ru_maxrss) * 1024)};
}

namespace {

// The plan of a tiny input did not ask for it.
planner::Machine machine_of(const job::PreparedRecords& resolved) {
  return resolved.machine.limited_by.empty() ? planner::read_machine() : resolved.machine;
}

}  // namespace

Json resolved_plan_json(const job::PreparedRecords& resolved, const std::string& backend) {
  Json space = Json::array();
  for (const job::SpaceNeed& need : resolved.space)
    space.push_back(
        {{"for", need.what()}, {"directories", need.directories}, {"needed_bytes", need.bytes}, {"free_bytes", need.free_bytes}});
  Json json = job::plan_json(resolved.job.plan);
  const planner::Machine machine = machine_of(resolved);
  json["here"] = {{"available_memory_bytes", machine.available_bytes},
                  {"memory_limited_by", machine.limited_by},
                  {"io_backend", backend},
                  {"output", resolved.job.output},
                  {"temp_directories", resolved.job.directories},
                  {"space", space},
                  {"fits", job::fits(resolved.space)}};
  return json;
}

std::string plan_text(const job::PreparedRecords& resolved, const std::string& backend) {
  const planner::RecordPlan& plan = resolved.job.plan;
  const std::uint64_t bytes = plan.wanted.input_records * plan.wanted.format.record_size;
  std::string text = fmt::format("Plan: {}\n", planner::to_string(plan.shape));
  if (plan.shape == planner::Shape::empty) return text + "  nothing to sort; the output will be empty\n";
  if (plan.shape != planner::Shape::unknown)
    text += fmt::format("  input               {} records of {} bytes, {}\n", plan.wanted.input_records,
                        plan.wanted.format.record_size, format_bytes(bytes));
  text += keys_text(plan.wanted.format);
  const planner::Machine machine = machine_of(resolved);
  text += fmt::format("  memory              {} (+ at most {} of fixed overhead); {} available by {}\n",
                      format_bytes(plan.wanted.memory_bytes), format_bytes(planner::fixed_overhead_bytes),
                      format_bytes(machine.available_bytes), machine.limited_by);
  text += runs_text(plan);
  if (!resolved.way.empty()) text += fmt::format("  way                 {}\n", resolved.way);
  text += packing_line(plan);
  if (plan.shape != planner::Shape::unknown) {
    const double share = static_cast<double>(plan.bytes_read + plan.bytes_written) / static_cast<double>(bytes);
    text += fmt::format("  drives              {} read, {} written: {:.3f} bytes moved per input byte{}\n",
                        format_bytes(plan.bytes_read), format_bytes(plan.bytes_written), share,
                        plan.packing.coders > 0 ? " at most" : "");
    if (job::samples_ascend(plan, resolved.job.inputs))
      text += fmt::format("  order               samples of the input are in order: if all of it is, {} are not written\n",
                          format_bytes(plan.run_bytes));
    text +=
        fmt::format("  temporary space     {} in {}\n", format_bytes(plan.temp_bytes), fmt::join(resolved.job.directories, ", "));
    for (const job::SpaceNeed& need : resolved.space)
      text += fmt::format("  free space needed   {} ({} bytes) in {}, where {} are free\n", format_bytes(need.bytes), need.bytes,
                          need.where(), format_bytes(need.free_bytes));
  }
  text += fmt::format("  output              {}\n",
                      resolved.job.output == "-" ? "standard output"
                      : resolved.output_has_no_temporary_name
                          ? "an unnamed file until it is complete"
                          : "a temporary name (.ecosort-*.tmp) until it is complete: the file system has no unnamed files");
  const std::string merging = plan.wanted.threads_of_merge() == plan.wanted.threads
                                  ? ""
                                  : fmt::format(" ({} in the merge)", plan.wanted.threads_of_merge());
  text += fmt::format("  threads             1 coordinator, {} compute{}; I/O by {}, up to {} reads and {} writes in flight\n",
                      plan.wanted.threads, merging, backend, plan.read_depth, plan.write_depth);
  text += ledger_text("run formation", plan.formation_ledger());
  if (plan.shape != planner::Shape::unknown) text += ledger_text("merge", plan.merge_ledger());
  return text;
}

Json phases_json(const engine::PhaseLog& log) {
  Json phases = Json::array();
  for (const engine::PhaseRecord& phase : log.phases())
    phases.push_back({{"name", phase.name},
                      {"begin_s", phase.begin_s},
                      {"end_s", phase.end_s},
                      {"bytes_read", phase.traffic.bytes_read},
                      {"bytes_written", phase.traffic.bytes_written},
                      {"wait_s", static_cast<double>(phase.traffic.idle.count()) * 1e-9}});
  return phases;
}

Json resumed_json(const std::optional<engine::Resumed>& resumed) {
  if (!resumed) return nullptr;
  return {{"output_records", resumed->records}, {"output_read_again", resumed->is_checked}};
}

Json work_json(const engine::WorkReport& report, const engine::PhaseLog& log, const ProcessUsage& usage,
               const std::string& backend) {
  utsname host{};
  uname(&host);
  return {{"input_bytes", report.input_bytes},
          {"output_bytes", report.output_bytes},
          {"bytes_read", report.traffic.bytes_read},
          {"bytes_written", report.traffic.bytes_written},
          {"requests", report.traffic.requests},
          {"runs", report.runs},
          {"runs_in_inputs", report.runs_in_inputs},
          {"bytes_in_inputs", report.bytes_in_inputs},
          {"intermediate_merges", report.merges},
          {"phases", phases_json(log)},
          {"wall_s", usage.wall_s},
          {"cpu_user_s", usage.cpu_user_s},
          {"cpu_system_s", usage.cpu_system_s},
          {"io_idle_s", static_cast<double>(report.traffic.idle.count()) * 1e-9},
          {"peak_rss_bytes", usage.peak_rss_bytes},
          {"peak_counted_memory_bytes", report.peak_memory_bytes},
          {"peak_temp_bytes", report.peak_temp_bytes},
          {"hash", report.hash.to_hex()},
          {"resumed", resumed_json(report.resumed)},
          {"io_backend", backend},
          {"host", fmt::format("{} {} {}", host.nodename, host.release, host.machine)},
          {"version", ECOSORT_VERSION}};
}

Json stats_json(const engine::fixed::SortReport& report, const engine::PhaseLog& log, const ProcessUsage& usage,
                const std::string& backend) {
  const planner::Wanted& wanted = report.plan.wanted;
  Json json{{"schema", "ecosort.stats/1"},       {"records", report.records},
            {"records_dropped", report.dropped}, {"records_beyond_limit", report.beyond},
            {"records_counted", report.counted}, {"record_size_bytes", wanted.format.record_size}};
  json.update(work_json(report, log, usage, backend));
  json.update({{"merge_passes", report.plan.merge.passes},
               {"demand_reads", report.demand_reads},
               {"compression", {{"runs", run_compression_json(report.plan.packing, report.run_packing)}}},
               {"duplicate_keys", report.equal_pairs ? Json(*report.equal_pairs) : Json(nullptr)},
               {"checksum", wanted.checksum ? Json(report.checksum.to_hex()) : Json(nullptr)},
               {"threads", wanted.threads},
               {"memory_limit_bytes", wanted.memory_bytes},
               {"plan", job::plan_json(report.plan)}});
  return json;
}

std::string groups_text(const engine::WorkReport& report) {
  return (report.dropped == 0 ? "" : fmt::format(", {} of them dropped", report.dropped)) +
         (report.beyond == 0 ? "" : fmt::format(", {} of them beyond the limit", report.beyond)) +
         (report.counted == 0 ? "" : fmt::format(", {} of them in the counts", report.counted));
}

JobSummary summary_of(const engine::fixed::SortReport& report) {
  return {"sorted", report.records * report.plan.wanted.format.record_size,
          records_text(report.records) + groups_text(report) + packed_text(report.run_packing)};
}

void write_text_file(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) throw IoError::from_call("create", path, errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  if (std::fclose(file) == 0 && written) return;
  const int failure = written ? errno : error;
  std::error_code unknown;
  // Half a report misleads programs. Behind a link, such as /proc/self/fd/7, the file stays, empty.
  if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path, unknown)))
    std::filesystem::remove(path, unknown);
  else if (std::filesystem::is_regular_file(path, unknown))
    std::filesystem::resize_file(path, 0, unknown);
  throw IoError::from_call("write", path, failure);
}

}  // namespace ecosort::cli
