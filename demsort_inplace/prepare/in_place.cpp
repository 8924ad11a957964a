#include "demsort_inplace/prepare/in_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "demsort_inplace/inplace_sort.h"
#include "demsort_inplace/job_directory.h"
#include "demsort_inplace/preflight.h"
#include "demsort_inplace/prepare/contents.h"
#include "demsort_inplace/prepare/ground.h"
#include "job/benchmark_records.h"
#include "job/prepare_records.h"

namespace ecosort::inplace {
namespace {

std::uint64_t whole_records(const std::string& name, std::uint64_t bytes, std::uint64_t record_size) {
  if (const std::uint64_t rest = bytes % record_size; rest != 0)
    throw UsageError(fmt::format("'{}' has {} bytes, which is no multiple of the record size {}: {}", name, bytes, record_size,
                                 left_over_text(rest)));
  return bytes / record_size;
}

void open_file(const Request& request, PreparedInPlace& prepared, io::PosixStorage& storage) {
  check_no_job(request.inputs.front(), storage);
  const std::string directory = JobPaths(request.inputs.front()).parent;
  prepared.input = open_fit_file(request.inputs.front(), storage);
  if (!request.place.as_is) check_holds_records(*prepared.input);
  if (records::is_assumed(job::records_of(request))) job::require_benchmark_records(*prepared.input);
  prepared.wanted.input_records =
      whole_records(request.inputs.front(), prepared.input->facts().size_bytes, records::size_of(job::records_of(request)));
  prepared.wanted.input_alignment = std::max<std::uint64_t>({page_bytes, prepared.input->alignment(), block_bytes(directory)});
  prepared.held_bytes = held_bytes(directory);
}

void choose_layout(const Request& request, PreparedInPlace& prepared, io::PosixStorage& storage) {
  const auto choose = [&](std::uint64_t wanted_bytes) {
    if (prepared.input) {
      const std::uint64_t beyond = bytes_beyond_end(*prepared.input), others = wanted_bytes - std::min(wanted_bytes, beyond);
      prepared.free_bytes = storage.settled_free_bytes(JobPaths(request.inputs.front()).parent, others) + beyond;
    }
    prepared.free_bytes = std::min(prepared.free_bytes, request.place.space_bytes.value_or(no_space_limit));
    prepared.choice = choose_space(prepared.wanted, prepared.free_bytes, {Mode::in_place, prepared.held_bytes});
  };
  choose(0);
  if (!prepared.choice.best && prepared.choice.least) choose(prepared.choice.least->need_bytes());
  if (prepared.choice.least) return;
  const std::uint64_t given = prepared.wanted.memory_bytes,
                      least = least_memory_bytes(prepared.wanted, {Mode::in_place, prepared.held_bytes});
  throw NotEnoughMemory(
      fmt::format("{} of memory are too little for this file: at least {} are needed", format_bytes(given), format_bytes(least)),
      given, least);
}

}  // namespace

PreparedInPlace prepare_in_place(const Request& request, std::uint64_t assumed_bytes, io::PosixStorage& storage) {
  PreparedInPlace prepared;
  planner::Wanted& wanted = prepared.wanted;
  wanted.format = records::make_record_format(job::records_of(request));  // a bad key before a missing file
  prepared.machine = planner::read_machine();
  wanted.memory_bytes =
      request.means.memory_bytes != 0 ? request.means.memory_bytes : planner::default_memory_bytes(prepared.machine);
  wanted.threads = request.means.threads != 0 ? request.means.threads : prepared.machine.cpus;
  wanted.input_alignment = page_bytes;
  wanted.input_records = assumed_bytes / records::size_of(job::records_of(request));
  prepared.free_bytes = no_space_limit;
  if (!request.inputs.empty()) open_file(request, prepared, storage);
  if (wanted.input_records == 0) return prepared;
  choose_layout(request, prepared, storage);
  if (prepared.choice.best) check_limits(prepared.choice.best->layout, true);
  return prepared;
}

const SpacePlan& require_space(const Request& request, const PreparedInPlace& prepared) {
  const SpaceChoice& choice = prepared.choice;
  if (choice.best) {
    if (prepared.input)
      check_quota(*prepared.input, request.inputs.front(), choice.best->need_bytes(), choice.best->layout.all_run_bytes());
    return *choice.best;
  }
  const std::string directory = JobPaths(request.inputs.front()).parent;
  const std::string where =
      request.place.space_bytes
          ? fmt::format("{} of space are too little to sort in place", format_bytes(*request.place.space_bytes))
          : fmt::format("not enough free space in '{}' to sort '{}' in place", directory, request.inputs.front());
  const std::uint64_t need = choice.least->need_bytes();
  NoSpaceInPlace error(fmt::format("{}: {} ({} bytes) needed, {} ({} bytes) free", where, format_bytes(need), need,
                                   format_bytes(prepared.free_bytes), prepared.free_bytes),
                       prepared.free_bytes, need, directory);
  planner::Wanted richer = prepared.wanted;
  richer.memory_bytes *= 4;
  const std::uint64_t then = choose_space(richer, 0, {Mode::in_place, prepared.held_bytes}).least->need_bytes();
  if (then < need - need / 20) {
    error.richer_memory_bytes = richer.memory_bytes;
    error.need_bytes_then = then;
  }
  throw error;
}

engine::SortReport run_in_place(const Request& request, PreparedInPlace prepared, const Environment& environment) {
  const SpacePlan& plan = *prepared.choice.best;
  const JobHeader header = header_of(prepared.wanted, plan, request.means.threads, request.verification.reread);
  return start(request.inputs.front(), std::move(prepared.input), header, plan.engine, environment);
}

}  // namespace ecosort::inplace
