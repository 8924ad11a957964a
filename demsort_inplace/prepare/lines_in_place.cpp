// Lines of a file that is sorted in its own space.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "demsort_inplace/describe_run.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/job_directory.h"
#include "demsort_inplace/preflight.h"
#include "demsort_inplace/prepare/contents.h"
#include "demsort_inplace/prepare/ground.h"
#include "demsort_inplace/prepare/rows.h"
#include "demsort_inplace/row_files.h"
#include "io/plain_file.h"
#include "planner/machine.h"
#include "run/run_block.h"

namespace ecosort::demsort_inplace::prepare {
namespace {

engine::rows::LineInput open_file(const std::string& file, io::PosixStorage& storage) {
  io::check_no_job(file);
  engine::rows::LineInput input;
  input.name = file;
  input.file = open_fit_file(file, storage, "ecosort lines -o");
  input.opened = storage.state(*input.file);
  return input;
}

JobHeader header_of(const Request& request, const engine::rows::LinesJob& job, std::uint64_t unit) {
  const engine::rows::LineInput& input = job.inputs.front();
  JobHeader header{.job = run::random_job(),
                   .threads = std::min(request.means.threads, planner::most_threads),
                   .kind = JobHeader::Kind::lines_in_place,
                   .inputs = {identity_of(*input.file, input.opened)},
                   .reread = job.reread};
  header.layout.unit = unit;
  header.lines = kept_terms(request);
  header.layout.head_bytes = head_bytes(*header.lines, *job.format, unit);
  return header;
}

[[noreturn]] void refuse_memory(const PreparedRowsJob& prepared) {
  const std::uint64_t least = least_lines_memory_bytes(prepared.header, prepared.job.plan);
  throw NotEnoughMemory(
      fmt::format("{} of memory is too little for this file, whose runs are merged at once: at least {} is needed",
                  format_bytes(prepared.job.plan.memory_bytes), format_bytes(least)),
      prepared.job.plan.memory_bytes, least);
}

// Fewer runs leave less half empty. Nothing: more memory does not help, or is not there.
std::optional<std::uint64_t> memory_that_fits(const PreparedRowsJob& prepared, std::uint64_t held) {
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
  const std::uint64_t most = planner::read_machine().available_bytes / 2;
  planner::LinePlan memory = prepared.job.plan;
  while (memory.memory_bytes < most / 2) {
    memory.memory_bytes = round_up(2 * memory.memory_bytes, mebibyte);
    if (choose_lines_in_place(prepared.header, memory, prepared.free_bytes, held).best) return memory.memory_bytes;
  }
  return std::nullopt;
}

void choose_layout(PreparedRowsJob& prepared, io::PosixStorage& storage) {
  const std::string directory = JobPaths(prepared.file).parent;
  const auto choose = [&](std::uint64_t wanted_bytes) {
    const std::uint64_t beyond = bytes_beyond_end(prepared.first_input());
    prepared.free_bytes = storage.settled_free_bytes(directory, wanted_bytes - std::min(wanted_bytes, beyond)) + beyond;
    prepared.choice = choose_lines_in_place(prepared.header, prepared.job.plan, prepared.free_bytes, held_bytes(directory));
  };
  choose(0);
  if (!prepared.choice.best && prepared.choice.least) choose(prepared.choice.least->need_bytes());
  if (!prepared.choice.least) refuse_memory(prepared);
  if (!prepared.choice.best) {
    prepared.enough_memory_bytes = memory_that_fits(prepared, held_bytes(directory));
    return;
  }
  prepared.job.plan = prepared.choice.best->plan;
  prepared.header = prepared.choice.best->header;
}

}  // namespace

PreparedRowsJob prepare_lines_in_place(const Request& request, io::PosixStorage& storage) {
  const std::string& file = request.inputs.front();
  engine::rows::LineInput input = open_file(file, storage);
  const std::uint64_t bytes = input.opened.size_bytes;
  PreparedRowsJob prepared{
      .job = make_kept_job(request, std::max<std::uint64_t>(bytes, 1), storage), .file = file, .input_bytes = bytes};
  if (bytes > 0 && !request.place.as_is) check_holds_lines(*input.file, prepared.job.format->terminator());
  const std::uint64_t unit = std::max<std::uint64_t>({page_bytes, input.file->alignment(), block_bytes(JobPaths(file).parent)});
  prepared.job.inputs.clear();
  prepared.job.inputs.push_back(std::move(input));
  if (prepared.is_empty()) return prepared;
  prepared.header = header_of(request, prepared.job, unit);
  choose_layout(prepared, storage);
  return prepared;
}

void require_space_in_place(const PreparedRowsJob& prepared) {
  const std::string directory = JobPaths(prepared.file).parent;
  if (!prepared.choice.best) {
    const std::uint64_t need = prepared.choice.least->need_bytes();
    throw NoSpaceInPlace(
        fmt::format("not enough free space in '{}' to sort '{}' in place: {} ({} bytes) needed, {} ({} bytes) free{}", directory,
                    prepared.file, format_bytes(need), need, format_bytes(prepared.free_bytes), prepared.free_bytes,
                    prepared.enough_memory_bytes ? fmt::format("; with {} of memory less is needed, and it fits",
                                                               format_bytes(*prepared.enough_memory_bytes))
                                                 : ""),
        prepared.free_bytes, need, directory);
  }
  const LinesInPlace& plan = *prepared.choice.best;
  const std::uint64_t in_runs = plan.header.lines->total_bytes;
  check_quota(prepared.first_input(), prepared.file, plan.need_bytes(), in_runs);
  check_file_size_limit(std::max(prepared.input_bytes + 1, plan.extra_bytes()));
}

}  // namespace ecosort::demsort_inplace::prepare
