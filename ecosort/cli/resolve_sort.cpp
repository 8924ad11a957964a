// Checks before hours of work (promise P9): every file is opened or asked for, nothing is created.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/errors.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "cli/benchmark_records.h"
#include "cli/sort_options.h"
#include "cli/sort_places.h"
#include "io/direct_io.h"
#include "io/posix_storage.h"
#include "io/temporary_name.h"

namespace ecosort::cli {

namespace {

std::uint64_t whole_records(const io::File& file, std::uint64_t record_size) {
  const std::uint64_t bytes = file.facts().bytes_to_read();
  if (const std::uint64_t rest = bytes % record_size; rest != 0)
    throw UsageError(fmt::format("'{}' has {} bytes, which is no multiple of the record size {}: {}", file.path(), bytes,
                                 record_size, left_over_text(rest)));
  return bytes / record_size;
}

// Files below /proc claim to be empty and are not; to sort nothing then would lose their records.
void check_really_empty(const io::File& file) {
  char byte = 0;
  if (file.facts().size_bytes == 0 && ::pread(file.fd(), &byte, 1, 0) > 0)
    throw UsageError(fmt::format("'{}' has contents but no size; write: cat FILE | ecosort sort - ...", file.path()));
}

// What an interrupted run left in the output's directory (only where files cannot be unnamed), and how this one will write.
void look_at_output_directory(ResolvedSort& resolved, io::PosixStorage& storage) {
  if (resolved.job.output == "-") return;
  const std::string directory = io::resolve_output(resolved.job.output).directory;
  for (const std::string& path : io::abandoned_temporaries(directory))
    resolved.notices.push_back(fmt::format("'{}' was left behind by an interrupted run; remove it to free its space", path));
  resolved.output_has_no_temporary_name = storage.has_unnamed_files(directory);
}

// Every input is an open file, and every run one in every directory.
void check_open_files(std::size_t inputs, const plan::Plan& plan, std::size_t directories) {
  const std::uint64_t most = raise_open_files();
  const std::uint64_t runs = plan.merge.stored_runs;
  const std::uint64_t need = inputs + (runs + plan.merge.steps.size()) * directories + 64;
  if (need <= most) return;
  throw UsageError(fmt::format("{} inputs and {} runs need {} open files, {} are allowed: raise that with ulimit -n {}{}", inputs,
                               runs, need, most, need, runs > 0 ? "; more memory makes fewer runs" : ""));
}

// Runs are striped over drives; a second directory of the same drive would gain nothing.
void tell_unused_directories(ResolvedSort& resolved, const SortOptions& options) {
  const std::vector<std::string>& used = resolved.job.directories;
  for (const std::string& directory : options.temp)
    if (std::ranges::find(used, directory) == used.end())
      resolved.notices.push_back(fmt::format("--temp '{}' is not used: it is on the same drive as one named before", directory));
}

// The runs that a search found best are for the memory that it had; for other memory, and where they do not fit, the planner
// chooses.
plan::Plan make_plan(const SortOptions& options, ResolvedSort& resolved, std::uint64_t assumed_alignment = page_bytes) {
  plan::Wanted wanted = wanted_from(options, resolved.job.inputs, resolved.machine, assumed_alignment);
  const bool from_profile = options.profile.used.contains("--run-records");
  if (from_profile && !options.profile.is_for("--run-records", wanted.memory_bytes)) wanted.run_records = 0;
  try {
    return plan::make_plan(wanted);
  } catch (const UsageError& error) {
    if (wanted.run_records == 0 || !from_profile) throw;
    wanted.run_records = 0;
    plan::Plan plan = plan::make_plan(wanted);
    resolved.profile_notice =
        fmt::format("profile '{}': {}; as many as the memory holds are taken", options.profile.path, error.what());
    return plan;
  }
}

// Requests to the output are whole units of this. Nothing but an unnamed file is created, and it is gone at once.
std::uint64_t output_unit(const ResolvedSort& resolved, io::Storage& storage) {
  if (resolved.job.output == "-" || !resolved.output_has_no_temporary_name) return 1;
  const std::string directory = io::resolve_output(resolved.job.output).directory;
  return storage.create_unnamed(directory, io::Role::output, io::Caching::direct_if_possible)->write_unit();
}

std::vector<plan::InputExtent> extents_of(const std::vector<pipeline::Input>& inputs) {
  std::vector<plan::InputExtent> extents;
  extents.reserve(inputs.size());
  for (const pipeline::Input& input : inputs)
    extents.push_back({input.file->facts().start_offset, input.records, input.file->alignment()});
  return extents;
}

// In which a file beside the output would be read. Nothing but an unnamed file is created, and it is gone at once.
std::uint64_t unit_beside(const std::string& output, io::PosixStorage& storage) {
  const std::string directory = output == "-" ? "." : io::resolve_output(output).directory;
  if (!storage.has_unnamed_files(directory)) return 1;
  return storage.create_unnamed(directory, io::Role::output, io::Caching::direct_if_possible)->alignment();
}

// Nothing of it is there: what the machine would have for it is told and not judged.
ResolvedSort resolve_assumed(const SortOptions& options, io::PosixStorage& storage) {
  ResolvedSort resolved;
  resolved.machine = plan::read_machine();
  resolved.job.output = options.output.empty() ? "sorted" : options.output;
  SortOptions placed = options;
  placed.output = resolved.job.output;
  resolved.job.directories = run_directories(placed);
  look_at_output_directory(resolved, storage);
  const std::uint64_t unit = unit_beside(resolved.job.output, storage);
  resolved.job.plan = make_plan(options, resolved, unit);
  for (const std::string& directory : resolved.job.directories)
    resolved.job.runs_give_back &= io::reuses_released_space(directory);
  resolved.space =
      space_needs(resolved.job.plan, resolved.job.directories, resolved.job.runs_give_back, resolved.job.output, storage);
  plan::account_edges(resolved.job.plan, {{0, resolved.job.plan.wanted.input_records, unit}}, output_unit(resolved, storage));
  return resolved;
}

}  // namespace

std::vector<pipeline::Input> open_inputs(const SortOptions& options, io::Storage& storage) {
  const int flags = std::ranges::find(options.inputs, "-") == options.inputs.end() ? O_RDONLY : ::fcntl(STDIN_FILENO, F_GETFL);
  if ((flags & O_ACCMODE) == O_WRONLY) throw UsageError("standard input is not open for reading; redirect it, or name a file");
  if (std::ranges::count(options.inputs, "-") > 1) throw UsageError("standard input (-) is named more than once");
  std::vector<pipeline::Input> inputs;
  for (const std::string& path : options.inputs) {
    pipeline::Input input;
    try {
      input.file = storage.open_input(path, io::Caching::direct_if_possible);
    } catch (const IoError& error) {
      throw UsageError(error.what());  // nothing was begun: a bad argument, not a failing drive
    }
    if (input.file->facts().is_stream && options.inputs.size() > 1)
      throw UsageError(fmt::format(
          "'{}' is a pipe or a device and cannot be combined with other inputs; write: cat FILES... | ecosort sort - ...",
          input.file->path()));
    if (!input.file->facts().is_stream) {
      check_really_empty(*input.file);
      if (is_format_assumed(options.given)) require_benchmark_records(*input.file, "sort");
      input.opened = storage.state(*input.file);
      input.records = whole_records(*input.file, options.record_size);
    } else if (is_format_assumed(options.given)) {
      input.look = look_at_stream(input.file->path());
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

plan::Wanted wanted_from(const SortOptions& options, const std::vector<pipeline::Input>& inputs, const plan::Machine& machine,
                         std::uint64_t assumed_alignment) {
  plan::Wanted wanted;
  wanted.format = records::make_record_format(options.record_size, options.keys, options.reverse);
  wanted.memory_bytes = options.memory.empty() ? plan::default_memory_bytes(machine) : parse_bytes(options.memory, "--memory");
  wanted.threads = options.threads != 0 ? options.threads : machine.cpus;
  wanted.merge_threads = options.merge_threads;
  wanted.run_records = options.run_records;
  wanted.requests = options.requests;
  wanted.checksum = options.checksum;
  wanted.several_inputs = inputs.size() > 1;
  wanted.input_alignment = options.assume_size.empty() ? 1 : assumed_alignment;
  if (!options.assume_size.empty())
    wanted.input_records = parse_bytes(options.assume_size, "--assume-size") / options.record_size;
  for (const pipeline::Input& input : inputs) {
    wanted.size_unknown |= input.file->facts().is_stream;
    wanted.input_records += input.records;
    wanted.input_alignment = std::max<std::uint64_t>(wanted.input_alignment, input.file->alignment());
  }
  return wanted;
}

// Better said now than killed in an hour. Whoever exceeds a control group is killed without a word, so that there the overhead
// counts; an eighth is in use already.
void check_memory_exists(std::uint64_t memory_bytes, std::uint64_t need_bytes, const plan::Machine& machine) {
  const std::uint64_t overhead = machine.limited_by.starts_with("cgroup") ? plan::fixed_overhead_bytes / 8 * 7 : 0;
  const std::uint64_t need = need_bytes + overhead;
  if (need <= machine.available_bytes) return;
  throw UsageError(fmt::format("--memory {} would take {}, but {} are available ({}); give less", format_bytes(memory_bytes),
                               format_bytes(need), format_bytes(machine.available_bytes), machine.limited_by));
}

ResolvedSort resolve_sort(const SortOptions& options, io::PosixStorage& storage) {
  (void)records::make_record_format(options.record_size, options.keys);  // a bad key is reported before a missing file
  if (!options.assume_size.empty()) return resolve_assumed(options, storage);
  ResolvedSort resolved;
  resolved.machine = plan::read_machine();
  check_open_files(options.inputs.size(), {}, 0);
  resolved.job.inputs = open_inputs(options, storage);
  check_output(options.output, resolved.job.inputs);
  check_report_files(options, resolved.job.inputs);
  resolved.job.plan = make_plan(options, resolved);
  // A pipe may bring anything, so that all of --memory may be used.
  const plan::Plan& plan = resolved.job.plan;
  check_memory_exists(plan.wanted.memory_bytes, plan.wanted.size_unknown ? plan.wanted.memory_bytes : plan.peak_memory_bytes,
                      resolved.machine);
  resolved.job.directories = run_directories(options);
  tell_unused_directories(resolved, options);
  if (resolved.job.plan.temp_bytes > 0 || resolved.job.plan.wanted.size_unknown)
    check_not_tmpfs(options, resolved.job.directories);
  for (const std::string& directory : resolved.job.directories)
    resolved.job.runs_give_back &= io::reuses_released_space(directory);
  resolved.space = space_needs(resolved.job.plan, resolved.job.directories, resolved.job.runs_give_back, options.output, storage);
  check_space(resolved.space);
  check_open_files(options.inputs.size(), resolved.job.plan, resolved.job.directories.size());
  resolved.job.output = options.output == "-" ? "-" : io::resolve_output(options.output).path;
  look_at_output_directory(resolved, storage);
  plan::account_edges(resolved.job.plan, extents_of(resolved.job.inputs), output_unit(resolved, storage));
  resolved.job.unique = options.unique;
  resolved.job.reread = options.verify == "reread";
  return resolved;
}

}  // namespace ecosort::cli
