#include "demsort_inplace/prepare/resumable.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/job_directory.h"
#include "demsort_inplace/preflight.h"
#include "demsort_inplace/prepare/ground.h"
#include "demsort_inplace/prepare/in_place.h"
#include "demsort_inplace/resumable_sort.h"
#include "io/direct_io.h"
#include "job/places.h"

namespace ecosort::inplace {
namespace {

// Files are cut, read and written in units that suit all of them.
std::uint64_t unit_in(const std::string& directory, const PreparedResumable& prepared, io::PosixStorage& storage) {
  const bool gives_back = prepared.ground.mode != Mode::keeping_runs;
  return std::max<std::uint64_t>(
      {direct_unit(directory, storage), prepared.wanted.input_alignment, gives_back ? block_bytes(directory) : 1});
}

void choose_layout(PreparedResumable& prepared, io::PosixStorage& storage) {
  const std::string directory = JobPaths(prepared.output).parent;
  prepared.ground.mode = mode_in(directory);
  prepared.wanted.input_alignment = unit_in(directory, prepared, storage);
  prepared.ground.held_bytes = held_bytes(directory);
  const auto choose = [&](std::uint64_t wanted_bytes) {
    prepared.free_bytes = prepared.is_assumed ? no_space_limit : storage.settled_free_bytes(directory, wanted_bytes);
    prepared.choice = choose_space(prepared.wanted, prepared.free_bytes, prepared.ground);
  };
  choose(0);
  if (!prepared.choice.best && prepared.choice.least) choose(prepared.choice.least->need_bytes());
}

void check_layout(const PreparedResumable& prepared) {
  const std::uint64_t given = prepared.wanted.memory_bytes;
  if (!prepared.choice.least) {
    const std::uint64_t least = least_memory_bytes(prepared.wanted, prepared.ground);
    throw NotEnoughMemory(
        fmt::format("{} of memory are too little for a resumable sort of this input, which merges all runs at once: at least {} "
                    "are needed",
                    format_bytes(given), format_bytes(least)),
        given, least);
  }
  if (prepared.is_assumed) return;
  job::check_memory_exists(given, prepared.choice.any().engine.peak_memory_bytes, prepared.machine);
  if (prepared.choice.best) check_limits(prepared.choice.best->layout, false);
}

}  // namespace

PreparedResumable prepare_resumable(const Request& request, io::PosixStorage& storage, std::uint64_t assumed_records) {
  (void)records::make_record_format(job::records_of(request));  // a bad key is reported before a missing file
  PreparedResumable prepared;
  prepared.machine = planner::read_machine();
  prepared.is_assumed = assumed_records > 0;
  if (!prepared.is_assumed) prepared.inputs = job::open_records(request, storage);
  for (const engine::Input& input : prepared.inputs) check_regular(*input.file);
  job::check_output(request.place.output, prepared.inputs, storage);
  prepared.output = io::resolve_output(request.place.output).path;
  check_no_job(prepared.output, storage);
  prepared.wanted = job::wanted_of(request, prepared.inputs, prepared.machine);
  prepared.wanted.input_records += assumed_records;
  if (prepared.wanted.input_records == 0) return prepared;
  check_outlives_crash(JobPaths(prepared.output).parent);
  choose_layout(prepared, storage);
  if (!prepared.choice.least && prepared.wanted.compression.is_auto) {
    prepared.wanted.compression = {};
    choose_layout(prepared, storage);
  }
  check_layout(prepared);
  return prepared;
}

const SpacePlan& require_space(const PreparedResumable& prepared) {
  if (!prepared.choice.best)
    refuse_space(JobPaths(prepared.output).parent, prepared.choice.least->need_bytes(), prepared.free_bytes);
  return *prepared.choice.best;
}

engine::SortReport run_resumable(const Request& request, PreparedResumable prepared, const Environment& environment) {
  const SpacePlan& plan = *prepared.choice.best;
  JobHeader header = header_of(prepared.wanted, plan, request.means.threads, request.verification.reread);
  header.kind = JobHeader::Kind::resumable_sort;
  header.inputs = identities(prepared.inputs);
  header.compression = {prepared.wanted.compression.is_auto, plan.engine.packing.wanted.terms};
  return start_resumable(prepared.output, std::move(prepared.inputs), header, plan.engine, environment);
}

}  // namespace ecosort::inplace
