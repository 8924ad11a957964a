// Checks before hours of work (promise P9): every file is opened or asked for, nothing is created.
#include "job/prepare_records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/errors.h"
#include "base/size_text.h"
#include "engine/fixed/limit_records.h"
#include "engine/open_output.h"
#include "io/direct_io.h"
#include "io/read_at.h"
#include "io/temporary_name.h"
#include "job/benchmark_records.h"
#include "job/claim.h"
#include "job/gather_choice.h"
#include "job/groups.h"
#include "job/places.h"
#include "job/plan_codecs.h"

namespace ecosort::job {

namespace {

// Files below /proc claim to be empty and are not; to sort nothing then would lose their records.
void check_really_empty(const io::File& file) {
  char byte = 0;
  if (file.facts().size_bytes == 0 && ::pread(file.fd(), &byte, 1, 0) > 0)
    throw UsageError(fmt::format("'{}' has contents but no size; pipe them into standard input instead", file.path()));
}

// Looks at what an interrupted run left in the output's directory (only where files cannot be unnamed), and how this one will
// write.
void look_at_output_directory(PreparedRecords& resolved, io::PosixStorage& storage) {
  if (resolved.job.output == "-") return;
  const std::string directory = io::resolve_output(resolved.job.output).directory;
  resolved.output_has_no_temporary_name = storage.has_unnamed_files(directory);
  const planner::Wanted& wanted = resolved.job.plan.wanted;
  const bool is_tiny =
      !wanted.size_unknown && wanted.input_records * wanted.format.record_size <= engine::most_cached_output_bytes;
  if (is_tiny && resolved.output_has_no_temporary_name) return;  // a look takes longer than the sort
  for (const std::string& path : io::abandoned_temporaries(directory))
    resolved.notices.push_back(fmt::format("'{}' was left behind by an interrupted run; remove it to free its space", path));
}

// Runs are striped over drives; a second directory of the same drive would gain nothing.
void tell_unused_directories(PreparedRecords& prepared, const Request& request) {
  const std::vector<std::string>& used = prepared.job.directories;
  for (const std::string& directory : request.means.temp_directories)
    if (std::ranges::find(used, directory) == used.end())
      prepared.notices.push_back(
          fmt::format("temporary directory '{}' is not used: it is on the same drive as one named before", directory));
}

// The runs that a search found best may be for other inputs than this one.
planner::RecordPlan make_plan(planner::Wanted wanted, Leeway leeway, PreparedRecords& prepared) {
  try {
    return planner::make_plan(wanted);
  } catch (const UsageError& error) {
    if (wanted.run_records == 0 || !leeway.runs_are_a_hint) throw;
    wanted.run_records = 0;
    planner::RecordPlan plan = planner::make_plan(wanted);
    prepared.tuning_notice = fmt::format("{}; as many as the memory holds are taken", error.what());
    return plan;
  }
}

// Requests to the output are whole units of this. Nothing but an unnamed file is created, and it is gone at once.
std::uint64_t output_unit(const PreparedRecords& resolved, bool reread, io::Storage& storage) {
  if (resolved.job.output == "-" || !resolved.output_has_no_temporary_name) return 1;
  const planner::Wanted& wanted = resolved.job.plan.wanted;
  const std::uint64_t bytes = wanted.size_unknown ? UINT64_MAX : wanted.input_records * wanted.output_record_size();
  if (engine::caching_of_output(bytes, reread) == io::Caching::buffered) return 1;
  const std::string directory = io::resolve_output(resolved.job.output).directory;
  return storage.create_unnamed(directory, io::Role::output, io::Caching::direct_if_possible)->write_unit();
}

std::vector<planner::InputExtent> extents_of(const std::vector<engine::fixed::Input>& inputs) {
  std::vector<planner::InputExtent> extents;
  extents.reserve(inputs.size());
  for (const engine::fixed::Input& input : inputs) extents.push_back({input.begin(), input.records, input.file->alignment()});
  return extents;
}

}  // namespace

const Records& records_of(const Request& request) {
  if (const Records* const records = std::get_if<Records>(&request.rows)) return *records;
  throw InternalError("the request has no records");
}

std::uint64_t whole_records(const io::File& file, std::uint64_t record_size, std::uint64_t skipped) {
  if (file.facts().bytes_to_read() < skipped)
    throw UsageError(fmt::format("'{}' is shorter than the {} bytes to skip", file.path(), skipped));
  const std::uint64_t bytes = file.facts().bytes_to_read() - skipped;
  if (const std::uint64_t rest = bytes % record_size; rest != 0)
    throw UsageError(fmt::format("'{}' has {} bytes, which is no multiple of the record size {}: {}", file.path(), bytes,
                                 record_size, left_over_text(rest)));
  return bytes / record_size;
}

std::vector<engine::fixed::Input> open_records(const Request& request, io::PosixStorage& storage, bool mixes_streams) {
  const int flags =
      std::ranges::find(request.inputs, "-") == request.inputs.end() ? O_RDONLY : ::fcntl(storage.streams().input, F_GETFL);
  if ((flags & O_ACCMODE) == O_WRONLY) throw UsageError("standard input is not open for reading; redirect it, or name a file");
  if (std::ranges::count(request.inputs, "-") > 1) throw UsageError("standard input (-) is named more than once");
  const Records& records = records_of(request);
  const bool is_assumed = records::is_assumed(records);
  std::vector<engine::fixed::Input> inputs;
  for (const std::string& path : request.inputs) {
    engine::fixed::Input input;
    try {
      input.file = storage.open_input(path, io::Caching::direct_if_possible);
    } catch (const IoError& error) {
      throw UsageError(error.what());  // nothing was begun: a bad argument, not a failing drive
    }
    if (input.file->facts().is_stream && request.inputs.size() > 1 && !mixes_streams)
      throw UsageError(
          fmt::format("'{}' is a pipe or a device and cannot be combined with other inputs; pipe all of them into standard "
                      "input, one after the other",
                      input.file->path()));
    if (!input.file->facts().is_stream) {
      check_really_empty(*input.file);
      input.opened = storage.state(*input.file);
      if (is_assumed) require_benchmark_records(*input.file);
      input.skipped = records.skip_bytes;
      input.records = whole_records(*input.file, records::size_of(records), input.skipped);
    } else if (records.skip_bytes > 0) {
      throw UsageError(fmt::format("'{}' is a pipe or a device, whose first bytes cannot be kept for the output: name a file",
                                   input.file->path()));
    } else if (is_assumed) {
      input.look = look_at_stream(input.file->path());
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

namespace {

void set_compression(const Compression& terms, planner::Wanted& wanted) {
  wanted.compression = codec::run_compression_of_word(terms.runs.empty() ? "none" : terms.runs);
  if (wanted.compression.terms.codec == codec::BlockCodec::prefix)
    throw UsageError("prefix truncation is for runs of rows; compress runs of records with auto, lz4 or zstd");
  wanted.assumed_ratio = terms.assumed_ratio;
  wanted.power = power_of(terms);
  check_assumed_ratio(wanted.assumed_ratio, !wanted.compression.is_none());
}

}  // namespace

namespace {

// Returns the limit, where the inputs may have more records.
std::optional<std::uint64_t> limit_of(const Request& request, const std::vector<engine::fixed::Input>& inputs) {
  std::uint64_t records = 0;
  for (const engine::fixed::Input& input : inputs)
    records = input.file->facts().is_stream ? UINT64_MAX : records + std::min(input.records, UINT64_MAX - records);
  return request.limit && (!request.by_group || request.limit == 0) && *request.limit < records ? request.limit : std::nullopt;
}

}  // namespace

planner::Wanted wanted_of(const Request& request, const std::vector<engine::fixed::Input>& inputs,
                          const planner::Machine& machine) {
  planner::Wanted wanted;
  wanted.format = record_format_of(request);
  if (request.groups.count) wanted.count_bytes = engine::fixed::count_bytes;
  const Means& means = request.means;
  wanted.memory_bytes = means.memory_bytes == 0 ? planner::default_memory_bytes(machine) : means.memory_bytes;
  wanted.threads = means.threads != 0 ? means.threads : machine.cpus;
  wanted.merge_threads = means.merge_threads;
  wanted.run_records = means.run_records;
  if (means.request_bytes != 0) wanted.requests.bytes = wanted.requests.output_bytes = means.request_bytes;
  if (means.request_depth != 0) wanted.requests.depth = means.request_depth;
  wanted.checksum = request.verification.checksum;
  set_compression(request.compression, wanted);
  wanted.several_inputs = inputs.size() > 1;
  wanted.input_alignment = 1;
  for (const engine::fixed::Input& input : inputs) {
    wanted.size_unknown |= input.file->facts().is_stream;
    wanted.input_records += input.records;
    wanted.input_alignment = std::max<std::uint64_t>(wanted.input_alignment, input.file->alignment());
  }
  if (limit_of(request, inputs)) {  // how many records may be among the first ones shows when they are read, as of a stream
    wanted.size_unknown = true;
    wanted.input_records = 0;
  }
  return wanted;
}

// Better said now than killed in an hour. A process that exceeds a control group is killed without a word, so that there the
// overhead counts; an eighth is in use already.
void check_memory_exists(std::uint64_t memory_bytes, std::uint64_t need_bytes, const planner::Machine& machine) {
  const std::uint64_t overhead = machine.limited_by.starts_with("cgroup") ? planner::fixed_overhead_bytes / 8 * 7 : 0;
  const std::uint64_t need = need_bytes + overhead;
  if (need <= machine.available_bytes) return;
  throw MemoryNotThere(
      fmt::format("a sort with {} of memory would take {}, but {} are available ({}); give it less", format_bytes(memory_bytes),
                  format_bytes(need), format_bytes(machine.available_bytes), machine.limited_by),
      machine.available_bytes, need);
}

namespace {

void check_kept_free(const PreparedRecords& prepared, std::uint64_t kept_bytes) {
  if (kept_bytes == 0) return;
  if (prepared.job.plan.wanted.size_unknown)
    throw UsageError("how much a pipe brings shows only at its end, so that no space can be kept free: name a file");
  for (const SpaceNeed& need : prepared.space) {
    const std::uint64_t spare = need.free_bytes - std::min(need.bytes, need.free_bytes);
    if (spare >= kept_bytes) continue;
    throw NoRoom(fmt::format("only {} ({} bytes) would stay free in {}, not {} ({} bytes): the {} takes {} of {}",
                             format_bytes(spare), spare, need.where(), format_bytes(kept_bytes), kept_bytes, need.what(),
                             format_bytes(need.bytes), format_bytes(need.free_bytes)),
                 need.purpose, need.free_bytes, need.bytes + kept_bytes, need.directories);
  }
}

}  // namespace

void check_space(const Request& request, const PreparedRecords& prepared) {
  const std::vector<engine::fixed::Input>& inputs = prepared.job.inputs;
  const bool is_alone = inputs.size() == 1 && !request.has_groups();
  try {
    check_space(prepared.space,
                [&] { return is_alone ? if_fit_in_place(*inputs.front().file, inputs.front().opened.device) : std::string(); });
  } catch (NoRoom& error) {
    error.format = prepared.job.plan.wanted.format;
    throw;
  }
  check_kept_free(prepared, request.means.keep_free_bytes);
}

namespace {

// Reads whole pages, as direct I/O wants it.
std::vector<std::byte> head_of(const engine::fixed::Input& input) {
  const std::uint64_t unit = std::max<std::uint64_t>(input.file->alignment(), page_bytes),
                      begin = input.file->facts().start_offset, from = round_down(begin, unit), lead = begin - from;
  MemoryBudget memory(round_up(lead + input.skipped, unit));
  const Buffer buffer = memory.allocate(memory.limit_bytes(), "bytes in front of records", Pages::small);
  const std::size_t got = io::read_at(*input.file, from, buffer.data(), memory.limit_bytes());
  const std::byte* const head = buffer.data() + lead;
  return {head, head + std::min<std::uint64_t>(input.skipped, got - std::min<std::uint64_t>(got, lead))};
}

// A reader of the output would believe it.
void check_says_no_size(const std::vector<std::byte>& head, const engine::fixed::Input& first) {
  constexpr std::string_view numpy = "\x93NUMPY";
  if (std::string_view(reinterpret_cast<const char*>(head.data()), head.size()).starts_with(numpy))
    throw UsageError(
        fmt::format("'{}' is a NumPy array, whose first bytes say how many records it has: the output has another number; do "
                    "that in NumPy",
                    first.file->path()));
}

}  // namespace

std::vector<std::byte> common_head(const Request& request, const std::vector<engine::fixed::Input>& inputs) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20U;
  std::vector<std::byte> head;
  for (const engine::fixed::Input& input : inputs) {
    if (input.skipped == 0) break;
    if (input.skipped > most) throw UsageError(fmt::format("{} bytes to skip are more than {}", input.skipped, most));
    const std::vector<std::byte> bytes = head_of(input);
    if (&input == &inputs.front()) head = bytes;
    if (bytes != head)
      throw UsageError(fmt::format("the first {} bytes of '{}' are not those of '{}'; all files must begin alike", input.skipped,
                                   input.file->path(), inputs.front().file->path()));
  }
  if (inputs.size() > 1 || request.has_groups() || request.limit) check_says_no_size(head, inputs.front());
  return head;
}

void add_head(std::vector<SpaceNeed>& needs, std::uint64_t bytes) {
  for (SpaceNeed& need : needs)
    if (need.purpose != NotEnoughSpace::For::runs && bytes > 0) need.bytes += round_up(bytes, page_bytes) + page_bytes;
}

namespace {

planner::Machine machine_for(const Means& means, const std::vector<engine::fixed::Input>& inputs) {
  std::uint64_t bytes = 0;
  for (const engine::fixed::Input& input : inputs)
    bytes += input.file->facts().is_stream ? planner::tiny_input_bytes : input.file->facts().size_bytes;
  return means.memory_bytes == 0 && bytes < planner::tiny_input_bytes ? planner::least_machine() : planner::read_machine();
}

}  // namespace

PreparedRecords prepare_records(const Request& request, io::PosixStorage& storage, Leeway leeway) {
  (void)records::make_record_format(records_of(request));  // a bad key is reported before a missing file
  check_groups(request);
  PreparedRecords prepared;
  engine::fixed::SortJob& job = prepared.job;
  job.inputs = open_records(request, storage);
  prepared.machine = machine_for(request.means, job.inputs);
  check_output(request.place.output, job.inputs, storage);
  job.plan = make_plan(wanted_of(request, job.inputs, prepared.machine), leeway, prepared);
  if (!request.has_groups()) prepared.way = choose_gather(job.plan, job.inputs, request.means.gather);
  // A pipe may bring anything, so that all of the memory may be used.
  const planner::Wanted& wanted = job.plan.wanted;
  job.plan.is_small = !wanted.size_unknown && job.plan.shape != planner::Shape::gathered && job.plan.stored_records == 0 &&
                      wanted.input_records * wanted.format.record_size < planner::least_threaded_bytes;
  check_memory_exists(wanted.memory_bytes, wanted.size_unknown ? wanted.memory_bytes : job.plan.peak_memory_bytes,
                      prepared.machine);
  job.directories = run_directories(request.means.temp_directories, request.place.output);
  tell_unused_directories(prepared, request);
  job.limit = limit_of(request, job.inputs);
  const bool stores_nothing = job.limit && engine::fixed::LimitRecords::fits(*job.limit, job.plan.formation.run_records);
  const bool may_store = job.plan.temp_bytes > 0 || (wanted.size_unknown && !stores_nothing);
  if (request.means.temp_directories.empty() && may_store) check_not_tmpfs(job.directories.front());
  for (const std::string& directory : job.directories) job.runs_give_back &= io::reuses_released_space(directory);
  prepared.space = space_needs(job.plan, job.directories, job.runs_give_back, request.place.output, storage);
  job.head = common_head(request, job.inputs);
  add_head(prepared.space, job.head.size());
  if (!leeway.space_is_only_told) check_space(request, prepared);
  job.output = resolve_output(request.place.output);
  look_at_output_directory(prepared, storage);
  planner::account_edges(job.plan, extents_of(job.inputs), output_unit(prepared, request.verification.reread, storage));
  job.groups = {group_policy_of(request), group_format_of(request)};
  job.claim = claim_text_of(request, job.output);
  job.reread = request.verification.reread;
  return prepared;
}

namespace {

// In which a file beside the output would be read. Nothing but an unnamed file is created, and it is gone at once.
std::uint64_t unit_beside(const std::string& output, io::PosixStorage& storage) {
  const std::string directory = output == "-" ? "." : io::resolve_output(output).directory;
  if (!storage.has_unnamed_files(directory)) return 1;
  return storage.create_unnamed(directory, io::Role::output, io::Caching::direct_if_possible)->alignment();
}

}  // namespace

PreparedRecords prepare_assumed(const Request& request, std::uint64_t assumed_records, io::PosixStorage& storage, Leeway leeway) {
  PreparedRecords prepared;
  engine::fixed::SortJob& job = prepared.job;
  prepared.machine = planner::read_machine();
  job.output = request.place.output.empty() ? "sorted" : request.place.output;
  job.directories = run_directories(request.means.temp_directories, job.output);
  look_at_output_directory(prepared, storage);
  planner::Wanted wanted = wanted_of(request, {}, prepared.machine);
  wanted.input_alignment = unit_beside(job.output, storage);
  wanted.input_records = assumed_records;
  job.plan = make_plan(wanted, leeway, prepared);
  for (const std::string& directory : job.directories) job.runs_give_back &= io::reuses_released_space(directory);
  prepared.space = space_needs(job.plan, job.directories, job.runs_give_back, job.output, storage);
  planner::account_edges(job.plan, {{0, assumed_records, wanted.input_alignment}},
                         output_unit(prepared, request.verification.reread, storage));
  return prepared;
}

}  // namespace ecosort::job
