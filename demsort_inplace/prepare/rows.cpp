#include "demsort_inplace/prepare/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "demsort_inplace/describe_run.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/job_directory.h"
#include "demsort_inplace/line_runs.h"
#include "demsort_inplace/preflight.h"
#include "demsort_inplace/prepare/ground.h"
#include "demsort_inplace/row_files.h"
#include "io/plain_file.h"
#include "job/collation_version.h"
#include "job/first_row.h"
#include "job/lines_bounds.h"
#include "job/plan_codecs.h"
#include "job/prepare_rows.h"
#include "planner/machine.h"
#include "run/run_block.h"

namespace ecosort::demsort_inplace::prepare {
namespace {

// The journal and the runs of a job say no more of groups than that the first of rows with equal keys stays.
void check_groups(const Request& request) {
  if (request.groups != Groups{})
    throw UsageError(
        "a job that outlives a crash keeps the first of rows with equal keys, and knows no other groups; leave the "
        "job out, or these groups");
}

void check_inputs(const engine::rows::LinesJob& job) {
  if (job.codecs.packing)
    throw UsageError("a job that outlives a crash does not compress its output; compress the output afterwards");
  for (const engine::rows::LineInput& input : job.inputs) {
    check_regular(*input.file);
    if (input.is_decoded())
      throw UsageError(fmt::format("{} is compressed, which a job that outlives a crash does not read: decompress it first",
                                   formats::shown_name(input.name)));
  }
}

// The plan of the job, with these blocks or any.
planner::LinePlan kept_plan(const engine::rows::LinesJob& job, std::size_t block_bytes) {
  if (const auto kept = planner::plan_for_kept_runs(job.plan, block_bytes))
    return planner::with_usual_bytes_under_way(*kept, job.codecs.runs.bytes());
  planner::LinePlan more = job.plan;
  do more.memory_bytes += more.memory_bytes / 4;
  while (!planner::plan_for_kept_runs(more, block_bytes));
  const std::uint64_t given = job.plan.memory_bytes + job.header_bytes + job.codecs.runs.bytes();
  const std::uint64_t enough =
      job.header_bytes + (job.codecs.runs.coders > 0 ? planner::memory_besides_packing(more.memory_bytes) : more.memory_bytes);
  throw NotEnoughMemory(fmt::format("{} of memory is too little for this job, whose runs have blocks of {}", format_bytes(given),
                                    format_bytes(block_bytes)),
                        given, enough + 1);
}

// Says how the runs of a job are compressed.
struct KeptCompression {
  codec::RunCompression wanted = {};
  std::uint64_t assumed_ratio = 0;  // thousandths; 0: none
};

// Runs that outlive a crash are stored as they are unless something else is asked for.
KeptCompression kept_compression_of(const Compression& compression) {
  KeptCompression kept{codec::run_compression_of_word(compression.runs.empty() ? "none" : compression.runs),
                       compression.assumed_ratio};
  job::check_assumed_ratio(kept.assumed_ratio, !kept.wanted.is_none());
  return kept;
}

// Coders of runs with such blocks take their part of the memory of `job`, which has none yet.
void set_packing(engine::rows::LinesJob& job, const KeptCompression& compression, std::uint64_t input_bytes,
                 std::size_t block_bytes) {
  if (compression.wanted.is_none()) return;
  // Counts those of runs and of what they are merged into; a run beyond that is stored as it is.
  const std::uint64_t blocks = 2 * div_up(input_bytes, block_bytes - run::trailer_bytes);
  planner::PackingPlan& packing = job.codecs.runs;
  packing =
      job::plan_packing_of_blocks({job.plan.memory_bytes, job.plan.threads, false}, compression.wanted, block_bytes, blocks);
  packing.assumed_ratio = compression.assumed_ratio;
  job.plan.memory_bytes -= packing.bytes();
}

// Plans a job whose inputs are open, and whose merge has one part. Smaller blocks must be compressed as those of usual size are.
void plan_kept_runs(engine::rows::LinesJob& job, const KeptCompression& compression, std::uint64_t input_bytes,
                    std::uint64_t unit) {
  const planner::LinePlan whole = job.plan;
  const std::size_t usual = round_up(kept_plan(job, 0).block_bytes, unit);
  const auto plan_with = [&](std::size_t block_bytes) {
    job.plan = whole;
    job.codecs.runs = {};
    set_packing(job, compression, input_bytes, block_bytes);
    job.plan = kept_plan(job, block_bytes);
  };
  plan_with(usual);
  const bool packs = job.codecs.runs.coders > 0;
  const std::uint64_t rows = job::row_lengths_of(job).rows_in(input_bytes);
  const std::size_t fitted = round_up(planner::fit_blocks(job.plan, input_bytes, rows, 1).block_bytes, unit);
  if (fitted == usual) return;
  plan_with(fitted);
  const planner::PackingPlan& packing = job.codecs.runs;
  if ((packs && packing.coders == 0) || !packing.has_places(div_up(input_bytes, fitted))) plan_with(usual);
}

LineTerms terms_of(const Request& request, const engine::rows::LinesJob& job) {
  job::InputHead first = job::find_first_row(job.inputs, *job.format);
  LineTerms terms = kept_terms(request);
  terms.mark_bytes = first.mark_bytes;
  terms.first_row = std::move(first.row);
  terms.block_bytes = job.plan.block_bytes;
  terms.most_merged = most_merged_runs(job.plan);
  return terms;
}

JobHeader header_of(const Request& request, const KeptCompression& compression, const engine::rows::LinesJob& job,
                    std::uint64_t unit) {
  JobHeader header{.job = run::random_job(),
                   .memory_bytes = job.plan.memory_bytes + job.header_bytes + job.codecs.runs.bytes(),
                   .threads = std::min(request.means.threads, planner::most_threads),
                   .kind = JobHeader::Kind::resumable_lines,
                   .reread = job.reread};
  for (const engine::rows::LineInput& input : job.inputs) header.inputs.push_back(identity_of(*input.file, input.opened));
  header.layout.unit = unit;
  header.layout.keeps_runs = true;
  header.layout.packs = job.codecs.runs.coders > 0;
  header.layout.assumed_ratio = job.codecs.runs.assumed_ratio;
  header.compression = {compression.wanted.is_auto, job.codecs.runs.wanted.terms};
  header.layout.interval_bytes = round_up(line_interval_bytes(most_output_bytes(header)), unit);
  header.lines = terms_of(request, job);
  header.layout.head_bytes = head_bytes(*header.lines, *job.format, unit);
  return header;
}

// With less memory there would be more runs, and these need more space.
planner::LinePlan plan_of_job_in_place(const planner::LinePlan& plan, const JobHeader& header) {
  if (plan.memory_bytes >= header.memory_bytes)
    if (const auto in_place = plan_in_place(plan, header.lines->block_bytes)) return *in_place;
  throw NotEnoughMemory(fmt::format("{} of memory is too little for this job, which was laid out for {}",
                                    format_bytes(plan.memory_bytes), format_bytes(header.memory_bytes)),
                        plan.memory_bytes, header.memory_bytes);
}

}  // namespace

LineTerms kept_terms(const Request& request) {
  Request kept = request;
  job::keep_collation_version(kept);
  return {.command = std::string(name_of(kept.format())), .request = to_json(kept)};
}

Request request_of(const JobHeader& header, const std::string& file) {
  if (header.lines->old)
    throw UsageError(fmt::format("the job of '{0}' was begun by an older program; continue with: ecosort resume {0}", file));
  Request request = request_from_json(header.lines->request);
  request.place.output = file;
  return request;
}

engine::rows::LinesJob make_kept_job(Request request, std::uint64_t assumed_bytes, io::Storage& storage) {
  request.compression.runs = "none";  // the job says by itself how its runs are compressed
  request.compression.assumed_ratio = 0;
  // A journal of an older program does not say it.
  if (request.place.kind == PlaceKind::file) request.place.kind = PlaceKind::resumable;
  return job::make_rows_job(request, storage, job::SpecialOutput::refused, assumed_bytes);
}

PreparedRowsJob prepare_rows(const Request& request, io::PosixStorage& storage) {
  check_groups(request);
  raise_open_files();
  if (request.place.kind == PlaceKind::in_place) return prepare_lines_in_place(request, storage);
  const KeptCompression compression = kept_compression_of(request.compression);
  PreparedRowsJob prepared{.job = make_kept_job(request, 0, storage)};
  check_inputs(prepared.job);
  prepared.file = prepared.job.output;
  io::check_no_job(prepared.file);
  prepared.input_bytes = job::known_bytes(prepared.job.inputs);
  if (prepared.is_empty()) return prepared;
  const std::string directory = JobPaths(prepared.file).parent;
  check_outlives_crash(directory);
  const std::uint64_t unit = std::max(direct_unit(directory, storage), block_bytes(directory));
  plan_kept_runs(prepared.job, compression, prepared.input_bytes, unit);
  prepared.header = header_of(request, compression, prepared.job, unit);
  prepared.space = lines_space(prepared.header, prepared.job.plan, held_bytes(directory));
  prepared.free_bytes = storage.settled_free_bytes(directory, prepared.space.need_bytes());
  return prepared;
}

void require_space(const PreparedRowsJob& prepared) {
  if (prepared.is_empty()) return;
  if (prepared.header.is_in_place()) return require_space_in_place(prepared);
  if (!prepared.fits()) refuse_space(JobPaths(prepared.file).parent, prepared.space.need_bytes(), prepared.free_bytes);
  check_file_size_limit(most_output_bytes(prepared.header));
}

engine::rows::LinesReport run_prepared(PreparedRowsJob prepared, const JobContext& environment) {
  return start_rows(prepared.file, std::move(prepared.job), prepared.header, environment);
}

engine::rows::LinesJob prepare_resumed_rows(const Request& request, const JobHeader& header, io::PosixStorage& storage) {
  raise_open_files();
  engine::rows::LinesJob job = make_kept_job(request, most_output_bytes(header), storage);
  if (header.layout.packs) {
    set_packing(job, {header.compression, header.layout.assumed_ratio}, most_output_bytes(header), header.lines->block_bytes);
    if (!can_read(job.codecs.runs, header.compression))
      throw NotEnoughMemory(fmt::format("the memory is too little for this job, whose runs are compressed with {}",
                                        codec::text_of(header.compression.terms)),
                            job.plan.memory_bytes, header.memory_bytes);
  }
  if (header.is_in_place())
    job.plan = plan_of_job_in_place(job.plan, header);
  else
    job.plan = kept_plan(job, header.lines->block_bytes);
  return job;
}

RowsProgress progress_of(const JournalContents& contents) {
  RowsProgress progress;
  progress.inputs = most_output_bytes(contents.header) - contents.header.inputs.size();
  progress.in_runs = contents.state ? progress.inputs
                                    : std::min(progress.inputs, bytes_before(contents.header.inputs, next_place(contents.runs)));
  progress.in_output = contents.state && contents.state->lines ? contents.state->lines->bytes : 0;
  return progress;
}

engine::rows::LinesJob figures_of(const engine::rows::LinesJob& job) {
  engine::rows::LinesJob figures;
  figures.plan = job.plan;
  figures.header_bytes = job.header_bytes;
  figures.codecs.runs = job.codecs.runs;
  return figures;
}

}  // namespace ecosort::demsort_inplace::prepare
