#include "job/prepare_merge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "base/errors.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "job/claim.h"
#include "job/groups.h"
#include "job/places.h"
#include "job/plan_codecs.h"
#include "job/prepare_records.h"
#include "job/space.h"

namespace ecosort::job {
namespace {

std::size_t read_stream(const io::File& stream, std::span<std::byte> to) {
  ssize_t got = -1;
  do got = ::read(stream.fd(), to.data(), to.size());
  while (got < 0 && errno == EINTR);
  if (got < 0) throw IoError::from_call("read", stream.path(), errno);
  return static_cast<std::size_t>(got);
}

void write_all(const io::File& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.fd(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw IoError::from_call("write", file.path(), errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

// All that a pipe brings, in a file without a name that messages call by that of the pipe.
io::FilePtr stored_stream(engine::fixed::Input& input, const std::string& directory, io::PosixStorage& storage) {
  constexpr std::size_t at_a_time = std::size_t{256} << 10U;
  const io::FilePtr file = storage.create_unnamed(directory, io::Role::run, io::Caching::buffered);
  std::vector<std::byte> bytes(at_a_time);
  io::File::Facts facts = file->facts();
  facts.role = io::Role::input;
  facts.path = input.file->path();
  while (const std::size_t got = read_stream(*input.file, bytes)) {
    if (const auto look = std::exchange(input.look, nullptr)) look(std::span(bytes).first(got));
    write_all(*file, std::span(bytes).first(got));
    facts.size_bytes += got;
  }
  return std::make_unique<io::File>(file->release_descriptor(), std::move(facts));
}

// A merge reads several places of its inputs at a time, and knows how long they are: what pipes bring is stored first.
void store_streams(const Request& request, std::vector<engine::fixed::Input>& inputs, io::PosixStorage& storage) {
  for (engine::fixed::Input& input : inputs) {
    if (!input.file->facts().is_stream) continue;
    input.file =
        stored_stream(input, job::run_directories(request.means.temp_directories, request.place.output).front(), storage);
    input.opened = storage.state(*input.file);
    input.records = input.opened.size_bytes / records::size_of(records_of(request));
    if (const std::uint64_t rest = input.opened.size_bytes % records::size_of(records_of(request)); rest != 0)
      throw InputRefused(fmt::format("'{}' ends in the middle of a record: {} after {}-byte records", input.file->path(),
                                     left_over_text(rest), records::size_of(records_of(request))));
  }
}

// Blocks of such records begin at no pages of the file. `names`: of the inputs.
void read_through_page_cache(const std::vector<std::string>& names, std::vector<engine::fixed::Input>& inputs,
                             io::PosixStorage& storage) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].run) continue;  // its blocks do
    if (!inputs[i].file->is_direct()) continue;
    storage.close(std::move(inputs[i].file));
    inputs[i].file = storage.open_input(names[i], io::Caching::buffered);
  }
}

std::uint64_t largest_run_block(const std::vector<engine::fixed::Input>& inputs) {
  std::uint64_t largest = 0;
  for (const engine::fixed::Input& input : inputs)
    if (input.run) largest = std::max(largest, input.run->block_bytes);
  return largest;
}

planner::PackingPlan unpacking_of(const engine::fixed::MergeFilesJob& job) {
  std::vector<const run::Description*> runs;
  for (const engine::fixed::Input& input : job.inputs)
    if (input.run) runs.push_back(&*input.run);
  return plan_unpacking({job.memory_bytes, job.threads, true}, runs, job.most_block_bytes);
}

std::vector<std::uint64_t> sizes_of(const std::vector<engine::fixed::Input>& inputs, std::uint64_t record_size) {
  std::vector<std::uint64_t> sizes;
  sizes.reserve(inputs.size());
  for (const engine::fixed::Input& input : inputs) sizes.push_back(input.records * record_size);
  return sizes;
}

// Returns what the output and the files between passes take, drive by drive.
std::vector<SpaceNeed> needs_of(const engine::fixed::MergeFilesJob& job, const planner::FilePasses& passes, std::uint64_t bytes,
                                io::Storage& storage) {
  using For = NotEnoughSpace::For;
  std::vector<SpaceNeed> needs;
  const std::string place = job.output == "-" ? "" : io::resolve_output(job.output).directory;
  const bool has_temp = passes.peak_temp_bytes > 0;
  const bool is_shared = has_temp && !place.empty() && drive_of(place) == drive_of(job.directory);
  const std::uint64_t output = round_up(bytes, page_bytes) + files_metadata_bytes(1 + passes.merges);
  if (is_shared) {
    const std::uint64_t at_end = passes.final_temp_bytes + output;
    needs.push_back(
        {For::runs_and_output, {place}, std::max(passes.peak_temp_bytes + files_metadata_bytes(passes.merges), at_end)});
  } else {
    if (!place.empty()) needs.push_back({For::output, {place}, output});
    if (has_temp) needs.push_back({For::runs, {job.directory}, passes.peak_temp_bytes + files_metadata_bytes(passes.merges)});
  }
  for (SpaceNeed& need : needs) need.free_bytes = storage.settled_free_bytes(need.directories.front(), need.bytes);
  return needs;
}

}  // namespace

engine::fixed::MergeFilesJob prepare_merge(const Request& request, io::PosixStorage& storage) {
  std::vector<engine::fixed::Input> inputs = open_records(request, storage, true);
  store_streams(request, inputs, storage);
  return prepare_merge(request, std::move(inputs), {}, storage);
}

engine::fixed::MergeFilesJob prepare_merge(const Request& request, std::vector<engine::fixed::Input> inputs,
                                           std::vector<engine::fixed::Input> rest, io::PosixStorage& storage) {
  check_groups(request);
  check_claims_of_inputs(request);
  if (request.limit) throw UsageError("a merge of records has no limit: sort the files with it, or cut the output");
  engine::fixed::MergeFilesJob job;
  const planner::Machine machine = planner::read_machine();
  job.inputs = std::move(inputs);
  job.rest = std::move(rest);
  check_output(request.place.output, job.inputs, storage);
  const planner::Wanted wanted = wanted_of(request, job.inputs, machine);
  job.format = wanted.format;
  job.memory_bytes = wanted.memory_bytes;
  job.threads = wanted.threads;
  job.groups = {group_policy_of(request), group_format_of(request)};
  job.checksum = request.verification.checksum;
  if (!request.verification.expected_hash.empty())
    job.expected = hash::MultisetHash::from_hex(request.verification.expected_hash, wanted.input_records);
  job.most_block_bytes = largest_run_block(job.inputs);
  job.unpacking = unpacking_of(job);
  const std::vector<std::uint64_t> sizes = sizes_of(job.inputs, wanted.format.record_size);
  job.plan = planner::plan_files({.record_size = wanted.format.record_size,
                                  .file_bytes = sizes,
                                  .most_between = open_files_share() - 1,  // besides the one that is written
                                  .memory_bytes = wanted.memory_bytes,
                                  .threads = wanted.threads,
                                  .least_block_bytes = job.most_block_bytes,
                                  .alignment = wanted.input_alignment,
                                  .taken_bytes = job.unpacking.bytes(),
                                  .compression = wanted.compression,
                                  .assumed_ratio = wanted.assumed_ratio,
                                  .power = wanted.power});
  check_memory_exists(wanted.memory_bytes, wanted.memory_bytes, machine);
  job.head = common_head(request, job.inputs);
  if (!job.plan.is_direct || !job.head.empty()) read_through_page_cache(request.inputs, job.inputs, storage);
  job.output = resolve_output(request.place.output);
  job.claim = claim_text_of(request, job.output);
  const auto temp_bytes_of = [&](std::uint64_t bytes) { return job.plan.temp_bytes_of(bytes, wanted.format.record_size); };
  const planner::FilePasses passes = planner::passes_of(sizes, {job.plan.fan_in, job.plan.most_between}, temp_bytes_of);
  if (passes.merges > 0 ||
      !request.means.temp_directories.empty())  // else nothing is stored between; of empty files, an empty one
    job.directory = run_directories(request.means.temp_directories, request.place.output).front();
  std::uint64_t records = wanted.input_records;
  for (const engine::fixed::Input& input : job.rest) records += input.records;
  std::vector<SpaceNeed> needs = needs_of(job, passes, records * wanted.output_record_size(), storage);
  add_head(needs, job.head.size());
  check_space(needs);
  return job;
}

}  // namespace ecosort::job
