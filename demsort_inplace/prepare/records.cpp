#include "demsort_inplace/prepare/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/job_directory.h"
#include "demsort_inplace/prepare/contents.h"
#include "demsort_inplace/prepare/ground.h"
#include "io/direct_io.h"
#include "io/plain_file.h"
#include "job/benchmark_records.h"
#include "job/places.h"
#include "job/prepare_records.h"

namespace ecosort::demsort_inplace::prepare {
namespace {

bool is_in_place(const Request& request) { return request.place.kind == PlaceKind::in_place; }

void open_in_place(const Request& request, PreparedRecordsJob& prepared, io::PosixStorage& storage) {
  planner::Wanted& wanted = prepared.wanted;
  wanted.format = records::make_record_format(job::records_of(request));
  wanted.memory_bytes =
      request.means.memory_bytes != 0 ? request.means.memory_bytes : planner::default_memory_bytes(prepared.machine);
  wanted.threads = request.means.threads != 0 ? request.means.threads : prepared.machine.cpus;
  wanted.input_alignment = page_bytes;
  if (request.inputs.empty()) return;
  prepared.file = request.inputs.front();
  io::check_no_job(prepared.file);
  engine::fixed::Input input{open_fit_file(prepared.file, storage), 0, {}};
  if (!request.place.as_is) check_holds_records(*input.file);
  if (records::is_assumed(job::records_of(request))) job::require_benchmark_records(*input.file);
  wanted.input_records = job::whole_records(*input.file, records::size_of(job::records_of(request)));
  const std::string directory = JobPaths(prepared.file).parent;
  wanted.input_alignment = std::max<std::uint64_t>({page_bytes, input.file->alignment(), block_bytes(directory)});
  prepared.ground.held_bytes = held_bytes(directory);
  prepared.inputs.push_back(std::move(input));
}

// Files are cut, read and written in units that suit all of them.
void open_beside(const Request& request, PreparedRecordsJob& prepared, io::PosixStorage& storage) {
  if (!prepared.is_assumed) prepared.inputs = job::open_records(request, storage);
  for (const engine::fixed::Input& input : prepared.inputs) check_regular(*input.file);
  job::check_output(request.place.output, prepared.inputs, storage);
  prepared.file = io::resolve_output(request.place.output).path;
  planner::Wanted& wanted = prepared.wanted;
  wanted = job::wanted_of(request, prepared.inputs, prepared.machine);
  if (!prepared.is_assumed && wanted.input_records == 0) return;
  const std::string directory = JobPaths(prepared.file).parent;
  check_outlives_crash(directory);
  prepared.ground = {.mode = mode_in(directory), .held_bytes = held_bytes(directory)};
  const bool gives_back = prepared.ground.mode != Mode::keeping_runs;
  wanted.input_alignment =
      std::max<std::uint64_t>({direct_unit(directory, storage), wanted.input_alignment, gives_back ? block_bytes(directory) : 1});
}

// Once more where the space that is wanted is known: the file system may still be about to give it back.
void choose_layout(const Request& request, PreparedRecordsJob& prepared, io::PosixStorage& storage) {
  const auto free_bytes = [&](std::uint64_t wanted_bytes) {
    if (prepared.is_assumed) return no_space_limit;
    const std::uint64_t beyond = is_in_place(request) ? bytes_beyond_end(prepared.first_input()) : 0;
    return storage.settled_free_bytes(JobPaths(prepared.file).parent, wanted_bytes - std::min(wanted_bytes, beyond)) + beyond;
  };
  const auto choose = [&](std::uint64_t wanted_bytes) {
    prepared.free_bytes = std::min(free_bytes(wanted_bytes), request.place.space_bytes.value_or(no_space_limit));
    prepared.choice = choose_space(prepared.wanted, prepared.free_bytes, prepared.ground);
  };
  choose(0);
  if (!prepared.choice.best && prepared.choice.least) choose(prepared.choice.least->need_bytes());
}

// In place a record that cannot be ordered would end a job that can neither go on nor give the file back.
void check_keys(const Request& request) {
  const records::Encoder encoder(records::make_record_format(job::records_of(request)));
  if (is_in_place(request) && encoder.may_refuse())
    throw UsageError(
        "keys of the types packed and zoned are not available in place: a record that holds no number would end the sort half "
        "way; use ecosort sort -o, which may name the input as its output");
}

[[noreturn]] void refuse_memory(const Request& request, const PreparedRecordsJob& prepared) {
  const std::uint64_t given = prepared.wanted.memory_bytes, least = least_memory_bytes(prepared.wanted, prepared.ground);
  const char* const what = is_in_place(request) ? "this file" : "a resumable sort of this input, which merges all runs at once";
  throw NotEnoughMemory(
      fmt::format("{} of memory is too little for {}: at least {} is needed", format_bytes(given), what, format_bytes(least)),
      given, least);
}

[[noreturn]] void refuse_space_in_place(const Request& request, const PreparedRecordsJob& prepared) {
  const std::string directory = JobPaths(prepared.file).parent;
  const std::string where =
      request.place.space_bytes
          ? fmt::format("{} of space is too little to sort in place", format_bytes(*request.place.space_bytes))
          : fmt::format("not enough free space in '{}' to sort '{}' in place", directory, prepared.file);
  const std::uint64_t need = prepared.choice.least->need_bytes();
  NoSpaceInPlace error(fmt::format("{}: {} ({} bytes) needed, {} ({} bytes) free", where, format_bytes(need), need,
                                   format_bytes(prepared.free_bytes), prepared.free_bytes),
                       prepared.free_bytes, need, directory);
  planner::Wanted richer = prepared.wanted;
  richer.memory_bytes *= 4;
  const std::uint64_t then = choose_space(richer, 0, prepared.ground).least->need_bytes();
  if (then < need - need / 20) {
    error.richer_memory_bytes = richer.memory_bytes;
    error.need_bytes_then = then;
  }
  throw error;
}

}  // namespace

PreparedRecordsJob prepare_records(const Request& request, std::uint64_t assumed_bytes, io::PosixStorage& storage) {
  check_keys(request);  // a bad key is reported before a missing file
  PreparedRecordsJob prepared;
  prepared.machine = planner::read_machine();
  prepared.is_assumed = assumed_bytes > 0;
  if (is_in_place(request))
    open_in_place(request, prepared, storage);
  else
    open_beside(request, prepared, storage);
  planner::Wanted& wanted = prepared.wanted;
  wanted.input_records += assumed_bytes / records::size_of(job::records_of(request));
  if (prepared.is_empty()) return prepared;
  choose_layout(request, prepared, storage);
  if (!prepared.choice.least && wanted.compression.is_auto) {
    wanted.compression = {};
    choose_layout(request, prepared, storage);
  }
  if (!prepared.choice.least) refuse_memory(request, prepared);
  if (!prepared.is_assumed && !is_in_place(request))
    job::check_memory_exists(wanted.memory_bytes, prepared.choice.any().engine.peak_memory_bytes, prepared.machine);
  if (prepared.choice.best && (is_in_place(request) || !prepared.is_assumed))
    check_limits(prepared.choice.best->layout, is_in_place(request));
  return prepared;
}

const SpacePlan& require_space(const Request& request, const PreparedRecordsJob& prepared) {
  const SpaceChoice& choice = prepared.choice;
  if (!choice.best && is_in_place(request)) refuse_space_in_place(request, prepared);
  if (!choice.best) refuse_space(JobPaths(prepared.file).parent, choice.least->need_bytes(), prepared.free_bytes);
  if (is_in_place(request) && !prepared.is_assumed)
    check_quota(prepared.first_input(), prepared.file, choice.best->need_bytes(), choice.best->layout.all_run_bytes());
  return *choice.best;
}

engine::fixed::SortReport run_prepared(const Request& request, PreparedRecordsJob prepared, const JobContext& environment) {
  const SpacePlan& plan = *prepared.choice.best;
  JobHeader header{.job = run::random_job(),
                   .format = prepared.wanted.format,
                   .layout = plan.layout,
                   .memory_bytes = prepared.wanted.memory_bytes,
                   .threads = request.means.threads,
                   .reread = request.verification.reread};
  if (!is_in_place(request)) {
    header.kind = JobHeader::Kind::resumable_sort;
    header.inputs = identities(prepared.inputs);
    header.compression = {prepared.wanted.compression.is_auto, plan.engine.packing.wanted.terms};
  }
  return start(prepared.file, std::move(prepared.inputs), header, plan.engine, environment);
}

planner::RecordPlan plan_resumed(const JobHeader& header, const Means& means) {
  check_limits(header.layout, header.is_in_place());
  const unsigned asked = means.threads != 0 ? means.threads : header.threads;
  return engine_plan(header, means.memory_bytes != 0 ? means.memory_bytes : header.memory_bytes,
                     asked != 0 ? asked : planner::read_machine().cpus);
}

}  // namespace ecosort::demsort_inplace::prepare
