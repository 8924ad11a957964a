// `ecosort plan partition` prints what a partition of a range takes, for programs that cut inputs into ranges.
#include "job/plan_partition.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/closest_word.h"
#include "base/errors.h"
#include "base/json.h"
#include "base/size_text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/say.h"

namespace ecosort::cli {
namespace {

struct Asked {
  std::string format;
  job::PartitionSize size;
};

Asked asked_by(const CommandLine& line) {
  const auto& known = format_names;
  if (line.given.operands.size() != 1)
    throw UsageError(fmt::format("plan partition: say what the rows are: {}; no file is read", names_of_formats()));
  const std::string& format = line.given.operands.front();
  if (std::ranges::find(known, format) == known.end())
    throw UsageError(fmt::format("plan partition: '{}' is no format{}; say what the rows are: {}", format,
                                 did_you_mean(format, {known.begin(), known.end()}), names_of_formats()));
  for (const std::string_view option : {"--parts", "--assume-size"})
    if (!line.has(option))
      throw UsageError(fmt::format("plan partition: {} is missing; see: ecosort plan partition --help", option));
  if (format != "records" && line.has("--record-size"))
    throw UsageError(fmt::format("plan partition: --record-size is for records; leave it out for {}", format));
  return {format,
          {parse_assumed_bytes(line.word("--assume-size"), "--assume-size"), line.given.number("--parts"), line.has("--sort")}};
}

Json plan_json_of(const Asked& asked, const job::PartitionForecast& plan) {
  return {{"schema", "ecosort.partition-plan/1"},
          {"format", asked.format},
          {"parts", asked.size.parts},
          {"range_bytes", asked.size.range_bytes},
          {"sorted", asked.size.is_sorted},
          {"memory_limit_bytes", plan.memory_bytes},
          {"least_memory_bytes", plan.least_memory_bytes},
          {"threads", plan.threads},
          {"slice_block_bytes", plan.block_bytes},
          {"run_bytes", plan.run_bytes},
          {"runs", plan.runs},
          {"files", plan.runs * asked.size.parts}};
}

std::string plan_text_of(const Asked& asked, const job::PartitionForecast& plan) {
  const std::string about = asked.format == "records" ? "" : "about ";
  std::string text =
      fmt::format("memory    {}; {} at least\n", exact_bytes(plan.memory_bytes), exact_bytes(plan.least_memory_bytes));
  text += fmt::format("slices    {} parts of a range of {}, a write block of {} for each\n", asked.size.parts,
                      exact_bytes(asked.size.range_bytes), format_bytes(plan.block_bytes));
  if (!asked.size.is_sorted)
    return text + fmt::format("cut       {}{} at a time; {} files\n", about, exact_bytes(plan.run_bytes), asked.size.parts);
  return text + fmt::format("sorted    {}{} at a time, in {}{} run{}; {} files\n", about, exact_bytes(plan.run_bytes), about,
                            plan.runs, plan.runs == 1 ? "" : "s", plan.runs * asked.size.parts);
}

}  // namespace

int plan_partition(const Words& words) {
  const CommandLine line = read_command_line("plan partition", words);
  if (line.asks_for_help()) return print_help(*line.table);
  Request rows = line.request;
  const Asked asked = asked_by(line);
  if (asked.format != "records") rows.rows = Lines{};
  const job::PartitionForecast plan = job::plan_partition(rows, asked.size);
  print_out(line.has("--json") ? plan_json_of(asked, plan).text(2) + "\n" : plan_text_of(asked, plan));
  return 0;
}

}  // namespace ecosort::cli
