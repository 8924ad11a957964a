#include "job/prepare_rows.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <span>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "base/text.h"
#include "formats/lines/key_words.h"
#include "formats/lines/line_order.h"
#include "formats/lines/quoted.h"
#include "io/open_error.h"
#include "io/plain_file.h"
#include "job/claim.h"
#include "job/groups.h"
#include "job/lines_bounds.h"
#include "job/places.h"
#include "job/plan_codecs.h"
#include "job/plan_rows.h"
#include "job/row_formats.h"
#include "job/set_aside.h"
#include "job/space.h"
#include "job/split_request.h"
#include "planner/machine.h"

namespace ecosort::job {

void cannot(const char* what, const std::string& name, int error) {
  throw UsageError(
      fmt::format("{}: {}: {}{}", what, lines::quoted_name(name), std::strerror(error), io::denied_on_the_way(name, error)));
}

namespace {

bool is_merge(const Request& request) noexcept { return request.input_order != InputOrder::any; }
// Its messages are those of sort.
bool is_sort(const Request& request) noexcept { return request.format() == Format::lines && !request.shuffle; }

std::vector<engine::rows::LineInput> open_inputs(const Request& request, io::Storage& storage, char terminator) {
  std::vector<engine::rows::LineInput> inputs;
  bool names_stream = false;
  for (const std::string& name : request.inputs) {
    struct stat info{};
    if (name == "-" && std::exchange(names_stream, true)) {
      if (is_sort(request)) continue;  // nothing is left of it, as in sort
      throw UsageError("standard input (-) is named more than once");
    }
    if (name != "-") {
      if (::stat(name.c_str(), &info) != 0 || ::access(name.c_str(), R_OK) != 0) cannot("cannot read", name, errno);
      if (S_ISDIR(info.st_mode) && is_sort(request)) cannot("read failed", name, EISDIR);
      if (S_ISDIR(info.st_mode))
        throw UsageError(fmt::format("read failed: {}: Is a directory; name the files in it", lines::quoted_name(name)));
    }
    engine::rows::LineInput input;
    input.name = name;
    input.decompresses = request.compression.decompress;
    input.open(storage);
    input.look_at_beginning(terminator);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

bool are_smaller(const std::vector<engine::rows::LineInput>& inputs, std::uint64_t than) {
  std::uint64_t bytes = 0;
  for (const engine::rows::LineInput& input : inputs) {
    if (!input.file || input.is_stream()) return false;
    bytes += input.file->facts().size_bytes;
  }
  return bytes < than;
}

// The output gets its name when it is complete, so that its directory has to be writable: not the file that it replaces.
void check_directory_of(const std::string& output, bool speaks_as_sort) {
  const std::string directory = directory_of(output);
  if (::access(directory.c_str(), W_OK | X_OK) == 0) return;
  if (errno == ENOENT && !speaks_as_sort)
    throw UsageError(fmt::format("open failed: {}: there is no directory {}; create it first", lines::quoted_name(output),
                                 lines::quoted_word(directory)));
  if (errno == ENOENT || errno == ENOTDIR) cannot("open failed", output, errno);
  throw UsageError(fmt::format("open failed: {}: {} (in the directory {})", lines::quoted_name(output), std::strerror(errno),
                               lines::quoted_word(directory)));
}

// Returns where the output goes. Any output that is no regular file, such as /dev/null or a FIFO, becomes standard output, or
// stands for it where nothing is written.
std::string resolve_output(const Request& request, SpecialOutput special) {
  const std::string& output = request.place.output;
  if (output.empty() || output == "-") return "-";
  struct stat info{};
  const int error = ::stat(output.c_str(), &info) == 0 ? 0 : errno;
  if (error != 0 && error != ENOENT) cannot("open failed", output, error);
  if (error != 0 || S_ISREG(info.st_mode)) {
    check_directory_of(output, is_sort(request));
    return request.place.kind == PlaceKind::file ? job::resolve_output(output) : io::resolve_output(output).path;
  }
  if (S_ISDIR(info.st_mode)) cannot("open failed", output, EISDIR);
  if (special == SpecialOutput::unopened) return "-";
  if (special == SpecialOutput::refused) throw UsageError(fmt::format("output '{}' is not a regular file", output));
  const int fd = ::open(output.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0 || ::dup2(fd, STDOUT_FILENO) < 0) cannot("open failed", output, errno);
  ::close(fd);
  return "-";
}

std::vector<std::string> run_directories(const Request& request, const std::string& output) {
  std::vector<std::string> directories = request.means.temp_directories;
  if (directories.empty()) {
    const char* const named = std::getenv("TMPDIR");
    directories.push_back(named != nullptr && *named != '\0' ? named : output == "-" ? "/tmp" : directory_of(output));
  }
  return directories;
}

// Only where they are needed: sort does not look at them before.
void check_directories(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories)
    if (::access(directory.c_str(), W_OK | X_OK) != 0) cannot("cannot create temporary file in", directory, errno);
}

// More than a run buffer holds makes runs of all lines, whose space the merge gives back to the output where both are on one
// drive.
bool makes_runs(const engine::rows::LinesJob& job, std::uint64_t bytes) {
  return !job.merge && bytes > job.plan.run_buffer_bytes;
}

}  // namespace

void choose_salt(Request& request) {
  Lines& lines = std::get<Lines>(request.rows);
  if (!lines.random_salt.empty() || !lines::uses_chance(lines::order_terms(lines, keys_make_groups(request)))) return;
  lines::Digest salt{};
  if (lines.random_source.empty()) {
    if (::getrandom(salt.data(), salt.size(), 0) != static_cast<ssize_t>(salt.size())) cannot("getrandom", "random bytes", errno);
  } else {
    try {
      io::PlainFile file = io::PlainFile::open_for_reading(lines.random_source);
      if (file.read(std::as_writable_bytes(std::span(salt))) < salt.size())
        throw UsageError(fmt::format("{}: end of file", lines::quoted_word(lines.random_source)));
    } catch (const IoError& error) {
      cannot("open failed", lines.random_source, error.error_number());
    }
  }
  lines.random_salt = lines::salt_text(salt);
}

engine::OrderCheck check_rows(const Request& request, const engine::CheckTerms& terms, const engine::rows::FirstLook& look) {
  const auto format = row_format_of(request);
  const engine::rows::CheckedFile file{request.inputs.front(), row_memory_of(request.means), request.compression.decompress};
  return engine::rows::check_order(file, *format, terms, look);
}

std::uint64_t known_bytes(const std::vector<engine::rows::LineInput>& inputs) {
  std::uint64_t bytes = 0;
  for (const engine::rows::LineInput& input : inputs)
    if (input.file && !input.is_stream()) bytes += input.file->facts().bytes_to_read();
  return bytes;
}

bool are_known(const std::vector<engine::rows::LineInput>& inputs) {
  return std::ranges::all_of(inputs, [](const engine::rows::LineInput& input) { return input.file && !input.is_stream(); });
}

std::vector<SpaceNeed> space_needs(const engine::rows::LinesJob& job, io::Storage& storage) {
  std::uint64_t bytes = known_bytes(job.inputs);
  for (const engine::rows::RowsRest& rest : job.rest) bytes += rest.bytes();
  if (job.groups.kept_in_runs().most > 0 || job.limit || bytes == 0) return {};
  using For = NotEnoughSpace::For;
  std::vector<SpaceNeed> needs;
  // The compressed size of the output shows when it is made, and so does that of groups.
  if (job.output != "-" && !job.codecs.packing && !job.groups.is_on && job.skip == 0)
    needs.push_back({For::output, {io::resolve_output(job.output).directory}, bytes, 0});
  // The size of the runs behind a compress program shows when they are made.
  if (makes_runs(job, bytes)) {
    check_directories(job.directories);
    if (job.compress_program.empty() && !job.codecs.runs.reserves_nothing)
      needs.push_back(
          {For::runs, job.directories, job.codecs.runs.space_of(std::max(bytes, lines_bounds(job, bytes).usual_temp_bytes)), 0});
  }
  for (SpaceNeed& need : needs) {
    std::set<std::uint64_t> drives;  // whose space counts once, however many directories lie there
    for (const std::string& directory : need.directories)
      if (drives.insert(drive_of(directory)).second) need.free_bytes += storage.settled_free_bytes(directory, need.bytes);
  }
  return needs;
}

void check_space(const engine::rows::LinesJob& job, const std::vector<SpaceNeed>& needs) {
  const bool is_alone = job.inputs.size() == 1 && are_known(job.inputs) && !job.merge && job.header_bytes == 0 &&
                        lines::as_line_order(*job.format) != nullptr && job.format->record_marks() == nullptr &&
                        !job.inputs.front().is_decoded();
  check_space(needs, [&] {
    return is_alone ? if_fit_in_place(*job.inputs.front().file, job.inputs.front().opened.device) : std::string();
  });
}

namespace {

// Refuses at once what cannot fit. An output whose size is known and whose drive has no runs, which would give it their space,
// gets its space at once, too.
void take_space(engine::rows::LinesJob& job, io::Storage& storage) {
  const std::vector<SpaceNeed> needs = space_needs(job, storage);
  check_space(job, needs);
  const auto is_of_output = [](const SpaceNeed& need) { return need.purpose == NotEnoughSpace::For::output; };
  const auto output = std::ranges::find_if(needs, is_of_output);
  if (output == needs.end() || job.split || output->bytes < planner::least_threaded_bytes) return;
  const std::uint64_t drive = drive_of(output->directories.front());
  const bool shared = makes_runs(job, output->bytes) &&
                      std::ranges::any_of(job.directories, [&](const auto& runs) { return drive_of(runs) == drive; });
  if (!shared) job.reserved_bytes = output->bytes;
}

}  // namespace

namespace {

// Merges ask always: the memory says how many files can be merged at a time, however small they are.
planner::Machine machine_for(const Request& request, const std::vector<engine::rows::LineInput>& inputs) {
  const bool is_tiny = !inputs.empty() && are_smaller(inputs, planner::tiny_input_bytes);
  return is_tiny && request.means.memory_bytes == 0 && !is_merge(request) ? planner::least_machine() : planner::read_machine();
}

engine::rows::LinesJob make_job(const Request& request, std::unique_ptr<formats::RowFormat> format, bool has_top,
                                io::Storage& storage, SpecialOutput special, std::uint64_t assumed_bytes) {
  engine::rows::LinesJob job;
  job.format = std::move(format);
  if (assumed_bytes == 0) job.inputs = open_inputs(request, storage, job.format->terminator());
  const planner::Machine machine = machine_for(request, job.inputs);
  const unsigned threads = request.means.threads == 0 ? machine.cpus : std::min(request.means.threads, planner::most_threads);
  const RowMeans means{row_memory_of(request.means, machine), threads, assumed_bytes};
  job.header_bytes = has_top ? means.memory_bytes / header_share : 0;
  job.set_aside = set_aside_of(request, means.memory_bytes);
  job.split = split_of(request, means.memory_bytes);
  if (job.split) check_writable_directory("output directory", job.split->names.directory);
  job.groups = group_policy_of(request);
  if (!job.groups.is_limit && request.limit != UINT64_MAX) job.limit = request.limit;  // no inputs have more rows than that
  job.skip = request.shuffle ? request.shuffle->skip : 0;
  job.merge = is_merge(request);
  job.checks_order = request.input_order == InputOrder::sorted;
  job.reread = request.verification.reread;
  if (job.merge) check_claims_of_inputs(request);
  plan_memory(request, means, job);
  if (std::ranges::any_of(job.inputs, &engine::rows::LineInput::may_be_compressed))
    job.plan_again = [request, means](engine::rows::LinesJob& planned) { plan_memory_again(request, means, planned); };
  job.output = resolve_output(request, special);
  job.claim = claim_text_of(request, job.output, job.format.get());
  job.directories = run_directories(request, job.output);
  if (job.reread && job.codecs.packing)
    throw UsageError("a compressed output cannot be verified by reading it again; verify it as usual");
  return job;
}

// A header, or a byte order mark of CSV and JSON lines.
bool has_top(const Request& request) {
  const Lines* const lines = std::get_if<Lines>(&request.rows);
  if (request.values() != nullptr) return true;
  return lines != nullptr && (lines->header_lines > 0 || !lines->header_mark.empty());
}

}  // namespace

engine::rows::LinesJob make_rows_job(const Request& request, io::Storage& storage, SpecialOutput special,
                                     std::uint64_t assumed_bytes) {
  return make_job(request, row_format_of(request), has_top(request), storage, special, assumed_bytes);
}

PreparedLines prepare_rows(const Request& request, io::Storage& storage, SpecialOutput special) {
  PreparedLines prepared{make_rows_job(request, storage, special)};
  // Too small for a thread of computing besides the coordinator.
  prepared.is_small = are_smaller(prepared.job.inputs, planner::least_threaded_bytes);
  if (prepared.is_small) prepared.job.plan = planner::plan_for_small_input(prepared.job.plan, known_bytes(prepared.job.inputs));
  take_space(prepared.job, storage);
  return prepared;
}

namespace {

// Blocks of the runs are read as they are, and unpacked where they are packed.
void fit_run_blocks(engine::rows::LinesJob& job) {
  std::uint64_t block = job.plan.block_bytes;
  std::vector<const run::Description*> runs;
  for (const engine::rows::LineInput& input : job.inputs) {
    block = std::max(block, input.run->block_bytes);
    runs.push_back(&*input.run);
  }
  job.codecs.runs = plan_unpacking({job.plan.memory_bytes, job.plan.threads, true}, runs, block);
  job.plan.memory_bytes -= job.codecs.runs.bytes();
  planner::LinePlan plan = job.plan;
  while (!planner::plan_for_kept_runs(plan, block)) plan.memory_bytes += plan.memory_bytes / 4;
  if (plan.memory_bytes > job.plan.memory_bytes)
    throw NotEnoughMemory(fmt::format("{} of memory is too little for runs with blocks of {}",
                                      format_bytes(job.plan.memory_bytes), format_bytes(block)),
                          job.plan.memory_bytes + job.codecs.runs.bytes() + job.header_bytes,
                          plan.memory_bytes + job.codecs.runs.bytes() + job.header_bytes);
  job.plan = *planner::plan_for_kept_runs(plan, block);
}

}  // namespace

PreparedLines prepare_kept_rows(const Request& request, std::unique_ptr<formats::RowFormat> format,
                                std::vector<run::Description> descriptions, engine::rows::RunContents kept,
                                std::vector<engine::rows::RowsRest> rest, io::Storage& storage) {
  PreparedLines prepared{make_job(request, std::move(format), !kept.top.empty(), storage, SpecialOutput::redirected, 0)};
  engine::rows::LinesJob& job = prepared.job;
  for (std::size_t i = 0; i < job.inputs.size(); ++i) job.inputs[i].run = std::move(descriptions[i]);
  job.kept = std::move(kept);
  job.rest = std::move(rest);
  fit_run_blocks(job);
  take_space(job, storage);
  return prepared;
}

void add_named_inputs(const std::string& from, std::vector<std::string>& inputs) {
  if (from.empty()) return;
  std::vector<std::byte> content;
  try {
    content = io::read_whole_file(from == "-" ? "/dev/stdin" : from);
  } catch (const IoError& error) {
    if (error.error_number() == EISDIR) throw UsageError(fmt::format("cannot read file names from {}", lines::quoted_word(from)));
    cannot("open failed", from, error.error_number());
  }
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    inputs.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
    if (inputs.back().empty())
      throw UsageError(fmt::format("{}:{}: invalid zero-length file name", lines::quoted_name(from), inputs.size()));
    if (inputs.back() == "-")  // as sort does, wherever the names come from
      throw UsageError("when reading file names from stdin, no file name of '-' allowed");
  }
  if (inputs.empty()) throw UsageError(fmt::format("no input from {}", lines::quoted_word(from)));
}

io::Backend make_row_queue(const std::string& name, const PreparedLines& prepared) {
  const io::BackendChoice choice = io::parse_backend(name);
  const unsigned depth = prepared.job.plan.read_depth + prepared.job.plan.write_depth + 2;
  return prepared.is_small && choice == io::BackendChoice::auto_ ? io::make_queue_for_small_input(depth)
                                                                 : io::make_queue(choice, depth);
}

}  // namespace ecosort::job
