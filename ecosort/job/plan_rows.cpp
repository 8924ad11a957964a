#include "job/plan_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "job/groups.h"
#include "job/line_groups.h"
#include "job/lines_bounds.h"
#include "job/plan_codecs.h"
#include "job/prepare_rows.h"

namespace ecosort::job {

std::uint64_t row_memory_of(const Means& means, const planner::Machine& machine) {
  const std::uint64_t least = planner::least_line_memory_bytes, most = std::max(machine.available_bytes, least);
  const std::uint64_t bytes = means.memory_bytes != 0 ? means.memory_bytes : planner::default_memory_bytes(machine);
  if (means.memory_bytes != 0 && !means.memory_is_a_wish) {
    if (bytes < least)
      throw NotEnoughMemory(
          fmt::format("{} of memory is too little: at least {} is needed", format_bytes(bytes), format_bytes(least)), bytes,
          least);
    if (bytes > most)
      throw MemoryNotThere(fmt::format("{} of memory are more than the {} that are available ({}); give less",
                                       format_bytes(bytes), format_bytes(most), machine.limited_by),
                           most, bytes);
  }
  return std::clamp(bytes, least, most);
}

namespace {

constexpr std::size_t most_merged = 100'000;  // at a time, where nothing else is said

// Returns as many as sort runs at a time. Each has two files open.
std::size_t most_programs(std::uint64_t batch_size) {
  constexpr std::size_t usual = 16, files_each = 2;
  return std::clamp<std::uint64_t>(batch_size == 0 ? usual : batch_size, 2,
                                   std::max<std::size_t>(open_files_share() / files_each, 2));
}

// Plans how temporary runs are compressed. --compress-program names programs whose work is done here, too: with less of it, and
// with no process.
void plan_runs(const Request& request, const CodecTerms& terms, std::uint64_t known_bytes, engine::rows::LinesJob& job) {
  const std::string& word = request.compression.runs;
  codec::RunCompression wanted = codec::run_compression_of_word(!word.empty() ? word : request.shuffle ? "none" : "auto");
  const std::uint64_t ratio = request.compression.assumed_ratio;
  const bool is_own = request.compression.program == "lz4" || request.compression.program == "zstd";
  if (!request.compression.program.empty()) {
    if (!wanted.is_auto) throw UsageError("a codec and a program both say how runs are compressed; leave one of them out");
    wanted = is_own ? codec::run_compression_of_word(request.compression.program) : codec::RunCompression{};
    if (!is_own) job.compress_program = request.compression.program;
  }
  // A user who asks for compressed runs may have little space, or a drive that is slow enough for them to move fewer bytes.
  job.leaves_in_inputs = !request.shuffle && !record_marks_of(request) && request.compression.program.empty() &&
                         (wanted.is_auto || wanted.is_none());
  check_assumed_ratio(ratio, !wanted.is_none() && !is_own);
  // A merge says nothing of the pace of the drives before its first run; what fits a run buffer with its index makes no run; the
  // maker of runs that outlive a crash decides about these.
  const bool makes_no_runs = !job.merge && known_bytes > 0 && 2 * known_bytes <= job.plan.run_buffer_bytes;
  if (makes_no_runs || (job.merge && wanted.is_auto) || request.place.kind == PlaceKind::resumable) return;
  job.codecs.runs = plan_run_packing(terms, wanted, known_bytes);
  job.codecs.runs.assumed_ratio = ratio;
  job.codecs.runs.reserves_nothing = is_own;
  job.codecs.runs.power = power_of(request.compression);
}

// Jobs that outlive a crash lay out their blocks by themselves. Programs merge few runs at a time, whatever the blocks. The
// places of packed blocks have their share of the memory.
void fit_blocks(const Request& request, std::uint64_t bytes, engine::rows::LinesJob& job) {
  if (request.place.kind != PlaceKind::file || !job.compress_program.empty()) return;
  const planner::LinePlan fitted = planner::fit_blocks(job.plan, bytes, row_lengths_of(job).rows_in(bytes));
  if (job.codecs.runs.has_places(div_up(bytes, fitted.block_bytes))) job.plan = fitted;
}

}  // namespace

void plan_memory(const Request& request, const RowMeans& means, engine::rows::LinesJob& job) {
  const std::uint64_t besides = job.besides_bytes();
  const CodecTerms codec_terms{means.memory_bytes - besides, means.threads, job.merge};
  job.codecs = plan_codecs(codec_terms, job.inputs, codec::output_codec_of(request.compression, request.place.output));
  const std::uint64_t asked = request.means.batch_size;
  const std::size_t batch_size = asked == 0 ? most_merged : std::min<std::uint64_t>(asked, most_merged);
  const auto plan_rest = [&] {
    return planner::plan_lines(codec_terms.memory_bytes - job.codecs.bytes(), means.threads, batch_size,
                               job.groups.kept_in_runs().is_first_alone());
  };
  job.plan = plan_rest();
  const std::uint64_t bytes = means.assumed_bytes != 0 ? means.assumed_bytes : known_bytes(job.inputs);
  plan_runs(request, codec_terms, means.assumed_bytes != 0 || are_known(job.inputs) ? bytes : 0, job);
  if (job.codecs.runs.coders > 0) job.plan = plan_rest();
  // With a limit large buffers are better: in one of them the wanted rows may have room.
  if (!job.merge && !job.limit && !job.groups.is_limit && bytes > job.plan.run_buffer_bytes) {
    job.plan = planner::plan_for_stored_runs(job.plan);
    fit_blocks(request, bytes, job);
    // The share of lines that -u leaves is not known, nor how many runs a program takes.
    if (are_known(job.inputs) && job.groups.kept_in_runs().most == 0 && request.compression.program.empty())
      job.plan.spread_bytes = bytes;
  }
  job.plan.most_programs = most_programs(request.means.batch_size);
}

void plan_memory_again(const Request& request, const RowMeans& means, engine::rows::LinesJob& job) {
  const planner::LinePlan before = job.plan;
  plan_memory(request, means, job);
  job.plan.read_depth = std::min(job.plan.read_depth, before.read_depth);
  job.plan.write_depth = std::min(job.plan.write_depth, before.write_depth);
}

}  // namespace ecosort::job
