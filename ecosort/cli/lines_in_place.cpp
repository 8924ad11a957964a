#include "cli/lines_in_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/json_text.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "base/threads.h"
#include "cli/report_files.h"
#include "cli/resumable_ground.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "demsort_inplace/describe_run.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/job_directory.h"
#include "demsort_inplace/preflight.h"
#include "demsort_inplace/resumable_lines.h"
#include "io/backends.h"
#include "plan/plan.h"
#include "run/run_block.h"

namespace ecosort::cli {

namespace {

using inplace::LinesInPlace;

// Everything checked and opened; nothing created.
struct Resolved {
  lines::LinesJob job;  // with its input
  inplace::LinesInPlaceChoice choice;
  std::uint64_t input_bytes = 0, free_bytes = 0;

  [[nodiscard]] const LinesInPlace& plan() const { return *choice.best; }
};

lines::LineInput open_file(const std::string& file, io::PosixStorage& storage) {
  if (storage.exists(inplace::JobPaths(file).directory))
    throw UsageError(fmt::format("'{0}.ecosort' holds a job that was interrupted; continue with: ecosort resume {0}", file));
  lines::LineInput input;
  input.name = file;
  input.file = inplace::open_fit_file(file, storage, "ecosort lines -o");
  input.opened = storage.state(*input.file);
  return input;
}

void check_plain(lines::LineInput& input, bool decompresses) {
  input.decompresses = decompresses;
  input.look_at_beginning();
  if (input.is_decoded())
    throw UsageError(
        fmt::format("{} is compressed, and cannot be sorted in place: decompress it first", rows::shown_name(input.name)));
  input.decompresses = false;
}

inplace::JobHeader header_of(const RowsCommand& command, const Resolved& resolved, std::uint64_t unit) {
  const lines::LineInput& input = resolved.job.inputs.front();
  inplace::JobHeader header{
      .job = run::random_job(),
      .threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(command.threads, planner::most_threads)),
      .kind = inplace::JobHeader::Kind::lines_in_place,
      .inputs = {inplace::identity_of(*input.file, input.opened)},
      .reread = resolved.job.reread};
  header.layout.unit = unit;
  header.lines =
      inplace::LineTerms{.command = command.name, .words = command.words, .rules = command.rules, .salt = command.salt};
  header.layout.head_bytes = inplace::head_bytes(*header.lines, *resolved.job.format, unit);
  return header;
}

[[noreturn]] void refuse_memory(const Resolved& resolved, const inplace::JobHeader& header) {
  const std::uint64_t least = inplace::least_lines_memory_bytes(header, resolved.job.plan);
  throw NotEnoughMemory(
      fmt::format("{} of memory are too little for this file, whose runs are merged at once: at least {} are needed",
                  format_bytes(resolved.job.plan.memory_bytes), format_bytes(least)),
      resolved.job.plan.memory_bytes, least);
}

void require_space(const Resolved& resolved, const std::string& file) {
  if (resolved.input_bytes == 0) return;
  const std::string directory = inplace::JobPaths(file).parent;
  if (!resolved.choice.best) {
    const std::uint64_t need = resolved.choice.least->need_bytes();
    throw NotEnoughSpace(
        fmt::format("not enough free space in '{}' to sort '{}' in place: {} ({} bytes) needed, {} ({} bytes) free; make room "
                    "there, or use ecosort lines with -T and -o on another drive",
                    directory, file, format_bytes(need), need, format_bytes(resolved.free_bytes), resolved.free_bytes),
        NotEnoughSpace::For::job, resolved.free_bytes, need, {directory});
  }
  const LinesInPlace& plan = resolved.plan();
  const std::uint64_t in_runs = plan.header.lines->total_bytes;
  inplace::check_quota(*resolved.job.inputs.front().file, file, plan.need_bytes(), in_runs);
  check_file_size_limit(std::max(resolved.input_bytes + 1, plan.extra_bytes()));
}

Resolved resolve(const RowsCommand& command, const std::string& file, io::PosixStorage& storage) {
  raise_open_files();
  lines::LineInput input = open_file(file, storage);
  const std::uint64_t bytes = input.opened.size_bytes;
  Resolved resolved{command.make_job(storage, std::max<std::uint64_t>(bytes, 1)), {}, bytes};
  check_plain(input, command.decompresses);
  resolved.job.inputs.clear();
  resolved.job.inputs.push_back(std::move(input));
  if (bytes == 0) return resolved;
  const std::string directory = inplace::JobPaths(file).parent;
  const std::uint64_t unit =
      std::max<std::uint64_t>({page_bytes, resolved.job.inputs.front().file->alignment(), inplace::block_bytes(directory)});
  const inplace::JobHeader header = header_of(command, resolved, unit);
  const auto choose = [&](std::uint64_t wanted_bytes) {
    resolved.free_bytes = storage.settled_free_bytes(directory, wanted_bytes);
    resolved.choice =
        inplace::choose_lines_in_place(header, resolved.job.plan, resolved.free_bytes, inplace::held_bytes(directory));
  };
  choose(0);
  if (!resolved.choice.best && resolved.choice.least) choose(resolved.choice.least->need_bytes());
  if (!resolved.choice.least) refuse_memory(resolved, header);
  if (resolved.choice.best) resolved.job.plan = resolved.plan().plan;
  return resolved;
}

std::string exact(std::uint64_t bytes) { return fmt::format("{} ({} bytes)", format_bytes(bytes), bytes); }

nlohmann::ordered_json space_json(const std::optional<LinesInPlace>& found) {
  if (!found) return nullptr;
  const LinesInPlace& plan = *found;
  return {{"need_bytes", plan.need_bytes()},
          {"memory_limit_bytes", plan.header.memory_bytes},
          {"runs", plan.runs},
          {"run_buffer_bytes", plan.plan.run_buffer_bytes},
          {"block_bytes", plan.plan.block_bytes},
          {"longest_line_bytes", inplace::longest_line_in_place(plan.plan)},
          {"interval_bytes", plan.header.layout.interval_bytes},
          {"checkpoints", plan.checkpoints},
          {"journal_bytes", plan.journal_bytes},
          {"metadata_bytes", plan.metadata_bytes},
          {"held_bytes", plan.held_bytes}};
}

std::string plan_json(const Resolved& resolved, const std::string& file) {
  nlohmann::ordered_json json{{"schema", "ecosort.lines-inplace-plan/1"},
                              {"input_bytes", resolved.input_bytes},
                              {"fixed_overhead_bytes", planner::fixed_overhead_bytes},
                              {"compute_threads", resolved.job.plan.threads},
                              {"job_directory", inplace::JobPaths(file).directory},
                              {"free_bytes", resolved.free_bytes}};
  if (resolved.choice.least) {
    json["needed_bytes"] = resolved.choice.least->need_bytes();
    json["fits"] = resolved.choice.best.has_value();
    json["plan"] = space_json(resolved.choice.best);
    json["least"] = space_json(resolved.choice.least);
  }
  return json_text(json, 2) + "\n";
}

std::string plan_text(const Resolved& resolved, const std::string& file) {
  if (!resolved.choice.best) return "Plan: lines in place\n  nothing to sort\n";
  const LinesInPlace& plan = resolved.plan();
  const auto row = [](const char* name, const std::string& value) { return fmt::format("  {:<22}{}\n", name, value); };
  return "Plan: lines in place\n" + row("input", exact(resolved.input_bytes)) + row("memory", exact(plan.header.memory_bytes)) +
         row("job directory", fmt::format("{}; the input gives its space to the runs, and these to the output",
                                          inplace::JobPaths(file).directory)) +
         row("runs", fmt::format("at most {}, if all lines are empty, in blocks of {}; all are merged at once", plan.runs,
                                 format_bytes(plan.plan.block_bytes))) +
         row("longest line", exact(inplace::longest_line_in_place(plan.plan)) + "; a longer one needs more memory") +
         row("checkpoints", fmt::format("after {} of output at least, about {}", format_bytes(plan.header.layout.interval_bytes),
                                        plan.checkpoints)) +
         row("space taken", fmt::format("{}: run being written, padding and interval {}, journal {}, allowance for metadata {}",
                                        exact(plan.need_bytes()), format_bytes(plan.extra_bytes()),
                                        format_bytes(plan.journal_bytes), format_bytes(plan.metadata_bytes + plan.held_bytes))) +
         row("free space needed", exact(resolved.choice.least->need_bytes()) + ", then with less memory") +
         row("free space", exact(resolved.free_bytes));
}

// For the figures at the end; the job itself is used up by then.
lines::LinesJob figures_of(const lines::LinesJob& job) {
  lines::LinesJob figures;
  figures.plan = job.plan;
  return figures;
}

}  // namespace

int run_lines_in_place(const RowsCommand& command, const std::string& file, double started_s) {
  const bool quiet = command.reports.quiet;
  io::PosixStorage storage;
  tell_waits(storage, quiet);
  Resolved resolved = resolve(command, file, storage);
  require_space(resolved, file);
  check_report_files({command.reports.stats, command.reports.events, ""}, resolved.job.inputs, file);
  if (resolved.input_bytes == 0) return 0;
  resolved.job.look = command.look;
  const io::Backend backend = io::make_queue(io::parse_backend(command.io), job_queue_depth);
  print_notice(quiet, backend.notice);
  check_threads_can_start(resolved.job.plan.threads + 1, "--parallel");
  print_notice(quiet, fmt::format("the lines are in '{}' until they are sorted; after an interruption: ecosort resume {}",
                                  inplace::JobPaths(file).directory, file));
  const JobRun run{file, command.reports};
  const lines::LinesJob figures = figures_of(resolved.job);
  return run_job(run, storage, *backend.queue, started_s, [&](const inplace::Environment& environment) {
    return command.result_of(inplace::start_resumable_lines(file, std::move(resolved.job), resolved.plan().header, environment),
                             figures);
  });
}

void plan_lines_in_place(const RowsCommand& command, const std::string& file, bool is_json, io::PosixStorage& storage) {
  const Resolved resolved = resolve(command, file, storage);
  if (is_json) print_out(plan_json(resolved, file));  // where it does not fit, too
  require_space(resolved, file);
  if (!is_json) print_out(plan_text(resolved, file));
}

}  // namespace ecosort::cli
