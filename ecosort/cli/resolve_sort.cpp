// Checks before hours of work (promise P9): every file is opened or asked for, nothing is created.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <numeric>
#include <set>

#include "base/errors.h"
#include "base/size_text.h"
#include "cli/sort_options.h"
#include "io/direct_io.h"
#include "io/posix_storage.h"
#include "io/temporary_name.h"

namespace ecosort::cli {

namespace {

std::uint64_t device_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) throw UsageError(fmt::format("'{}': {}", path, std::strerror(errno)));
  return info.st_dev;
}

void check_writable_directory(const std::string& directory, const char* what) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) throw UsageError(fmt::format("{} '{}': {}", what, directory, std::strerror(errno)));
  if (!S_ISDIR(info.st_mode)) throw UsageError(fmt::format("{} '{}' is not a directory", what, directory));
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    throw UsageError(fmt::format("{} '{}' is not writable: {}", what, directory, std::strerror(errno)));
}

std::uint64_t whole_records(const io::File& file, std::uint64_t record_size) {
  const std::uint64_t bytes = file.facts().size_bytes - std::min(file.facts().size_bytes, file.facts().start_offset);
  if (const std::uint64_t rest = bytes % record_size; rest != 0)
    throw UsageError(fmt::format("'{}' has {} bytes, which is no multiple of the record size {}: {} bytes are left over",
                                 file.path(), bytes, record_size, rest));
  return bytes / record_size;
}

std::vector<pipeline::Input> open_inputs(const SortOptions& options, io::Storage& storage) {
  std::vector<pipeline::Input> inputs;
  for (const std::string& path : options.inputs) {
    pipeline::Input input;
    try {
      input.file = storage.open_input(path, io::Caching::direct_if_possible);
    } catch (const IoError& error) {
      throw UsageError(error.what());  // nothing was begun: a bad argument, not a failing drive
    }
    if (input.file->facts().is_stream && options.inputs.size() > 1)
      throw UsageError(
          "standard input is a pipe and cannot be combined with other inputs; write: cat FILES... | ecosort sort - ...");
    if (!input.file->facts().is_stream) {
      input.opened = storage.state(*input.file);
      input.records = whole_records(*input.file, options.record_size);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void check_output(const std::string& output, const std::vector<pipeline::Input>& inputs) {
  if (output == "-") return;
  const io::OutputPlace place = io::resolve_output(output);
  check_writable_directory(place.directory, "output directory");
  if (!place.exists) return;
  struct stat info {};
  if (::stat(place.path.c_str(), &info) != 0) return;
  for (const pipeline::Input& input : inputs)
    if (!input.file->facts().is_stream && input.opened.device == info.st_dev && input.opened.inode == info.st_ino)
      throw UsageError(
          fmt::format("output '{}' is the input; name another file (to sort a file in its own space: ecosort inplace)", output));
}

std::vector<std::string> run_directories(const SortOptions& options) {
  if (!options.temp.empty()) {
    for (const std::string& directory : options.temp) check_writable_directory(directory, "temporary directory");
    return options.temp;
  }
  const std::string directory = options.output == "-" ? "." : io::resolve_output(options.output).directory;
  check_writable_directory(directory, "temporary directory");
  return {directory};
}

void check_not_tmpfs(const SortOptions& options, const std::vector<std::string>& directories) {
  if (!options.temp.empty()) return;
  if (io::is_in_memory(directories.front()))
    throw UsageError(fmt::format(
        "temporary directory '{}' is a tmpfs, so that runs would take memory; name a directory on a drive with --temp, "
        "or this one if you mean it",
        directories.front()));
}

// The runs, and on the file system of the output what the output needs beyond the space that the merge gives back.
void check_space(const plan::Plan& plan, const std::vector<std::string>& directories, const std::string& output,
                 io::Storage& storage) {
  std::set<std::uint64_t> devices;
  std::uint64_t have = 0;
  std::string where;
  for (const std::string& directory : directories) {
    where += (where.empty() ? "'" : ", '") + directory + "'";
    if (devices.insert(device_of(directory)).second) have += storage.free_bytes(directory);
  }
  std::uint64_t need = plan.temp_bytes;
  const std::uint64_t output_bytes = plan.wanted.input_records * plan.wanted.format.record_size;
  if (output != "-") {
    const std::string directory = io::resolve_output(output).directory;
    if (devices.contains(device_of(directory))) {
      need = std::max(plan.temp_bytes, output_bytes) + (plan.temp_bytes > 0 ? output_bytes / 50 : 0);
    } else if (const std::uint64_t free = storage.free_bytes(directory); output_bytes > free) {
      throw UsageError(fmt::format("not enough space for the output in '{}': {} needed, {} free", directory,
                                   format_bytes(output_bytes), format_bytes(free)));
    }
  }
  if (need > have)
    throw UsageError(fmt::format("not enough temporary space in {}: {} needed, {} free; name another drive with --temp", where,
                                 format_bytes(need), format_bytes(have)));
}

// Every run is an open file in every directory.
void check_open_files(const plan::Plan& plan, std::size_t directories) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const std::uint64_t need = (std::uint64_t{plan.merge.stored_runs} + plan.merge.steps.size()) * directories + 64;
  if (need > limit.rlim_cur)
    throw UsageError(fmt::format("{} runs need {} open files, {} are allowed (ulimit -n); more memory makes fewer runs",
                                 plan.merge.stored_runs, need, limit.rlim_cur));
}

plan::Wanted wanted_from(const SortOptions& options, const std::vector<pipeline::Input>& inputs, const plan::Machine& machine) {
  plan::Wanted wanted;
  wanted.format = records::make_record_format(options.record_size, options.keys);
  wanted.memory_bytes = options.memory.empty() ? plan::default_memory_bytes(machine) : parse_bytes(options.memory, "--memory");
  wanted.threads = options.threads != 0 ? options.threads : machine.cpus;
  wanted.several_inputs = inputs.size() > 1;
  wanted.input_alignment = 1;
  for (const pipeline::Input& input : inputs) {
    wanted.size_unknown |= input.file->facts().is_stream;
    wanted.input_records += input.records;
    wanted.input_alignment = std::max<std::uint64_t>(wanted.input_alignment, input.file->alignment());
  }
  return wanted;
}

// What an interrupted run left in the output's directory (only where files cannot be unnamed), and how this one will write.
void look_at_output_directory(ResolvedSort& resolved, io::PosixStorage& storage) {
  if (resolved.job.output == "-") return;
  const std::string directory = io::resolve_output(resolved.job.output).directory;
  for (const std::string& path : io::abandoned_temporaries(directory))
    resolved.notices.push_back(fmt::format("'{}' was left behind by an interrupted run; remove it to free its space", path));
  resolved.output_has_no_temporary_name = storage.has_unnamed_files(directory);
}

}  // namespace

ResolvedSort resolve_sort(const SortOptions& options, io::PosixStorage& storage) {
  (void)records::make_record_format(options.record_size, options.keys);  // a bad key is reported before a missing file
  ResolvedSort resolved;
  resolved.machine = plan::read_machine();
  resolved.job.inputs = open_inputs(options, storage);
  check_output(options.output, resolved.job.inputs);
  resolved.job.plan = plan::make_plan(wanted_from(options, resolved.job.inputs, resolved.machine));
  resolved.job.directories = run_directories(options);
  if (resolved.job.plan.temp_bytes > 0 || resolved.job.plan.wanted.size_unknown)
    check_not_tmpfs(options, resolved.job.directories);
  check_space(resolved.job.plan, resolved.job.directories, options.output, storage);
  check_open_files(resolved.job.plan, resolved.job.directories.size());
  resolved.job.output = options.output == "-" ? "-" : io::resolve_output(options.output).path;
  look_at_output_directory(resolved, storage);
  resolved.job.unique = options.unique;
  resolved.job.reread = options.verify == "reread";
  return resolved;
}

}  // namespace ecosort::cli
