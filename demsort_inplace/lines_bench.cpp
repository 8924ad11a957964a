#include "demsort_inplace/lines_bench.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace ecosort::demsort_inplace {

namespace {

engine::BenchSize size_of(const planner::LinePlan& plan) {
  return {plan.memory_bytes, plan.threads, plan.read_depth, plan.write_depth};
}

}  // namespace

LinesBench::LinesBench(const std::string& path, const JobHeader& job_header, engine::rows::LinesJob what,
                       const JobContext& environment)
    : JobBench(path, job_header, size_of(what.plan), environment),
      job(std::move(what)),
      format(*job.format),
      codec_memory(job.codecs.runs.bytes()),
      run_files(storage, reactor, job.plan.block_bytes, {run::Direction::forward, header.job, header.layout.head_bytes},
                make_packer()),
      pool(reactor.scope(), memory.allocate(job.plan.write_bytes(), "write blocks", job.plan.pages), job.plan.block_bytes,
           job.plan.write_blocks) {}

run::RunPacker* LinesBench::make_packer() {
  if (job.codecs.runs.coders == 0) return nullptr;
  return &packer.emplace(job.codecs.runs, run::BlockShape{job.plan.block_bytes, 0, format.terminator()}, codec_memory);
}

bool LinesBench::has_run() const { return !done.empty() && !done.back().lines->is_header; }

void LinesBench::learn_of_rows() {
  for (const RunDone& run : done) format.learn(run.lines->key_counts);
  if (!header.lines->first_row || !has_run()) return;
  format.begin_input();
  (void)format.take_first_row(header.inputs.front().path, *header.lines->first_row);
}

bool LinesBench::is_formed() const { return state || (!done.empty() && done.back().lines->merged > 0); }

std::uint64_t LinesBench::input_bytes() const {
  std::uint64_t bytes = 0;
  for (const InputIdentity& input : header.inputs) bytes += input.size_bytes;
  return bytes;
}

std::uint64_t LinesBench::run_bytes() const {
  std::uint64_t bytes = header_run() != nullptr ? header_run()->lines->bytes : 0;
  for (const std::uint64_t run : live_runs()) bytes += done[run].lines->bytes;
  return bytes;
}

std::size_t LinesBench::longest_line() const {
  std::size_t longest = 0;
  for (const RunDone& run : done) longest = std::max<std::size_t>(longest, run.lines->is_header ? 0 : run.lines->longest);
  return longest;
}

engine::rows::MergeInput LinesBench::input_of(std::uint64_t run) const {
  engine::rows::MergeInput input;
  input.name = paths.run(run);
  input.run.bytes = done[run].lines->bytes;
  input.run.longest = done[run].lines->longest;
  input.run.lines = done[run].tally.hash.count;
  return input;
}

Task<void> LinesBench::open(engine::rows::MergeInput& input, std::uint64_t run) {
  io::FilePtr file = storage.open_named(paths.run(run), io::Role::run, io::Caching::direct_if_possible);
  co_await run_files.adopt(input.run, std::move(file), run, done[run].packed_bytes);
}

std::uint64_t LinesBench::file_bytes_of(std::uint64_t run) const {
  return run_file_bytes(done[run], job.plan.block_bytes, header.layout.head_bytes);
}

void LinesBench::close(const std::vector<engine::rows::MergeInput>& inputs) {
  for (const engine::rows::MergeInput& input : inputs) run_files.close(input.run.stored);
}

run::RowRun LinesBench::create_run(std::uint64_t run, std::uint64_t bytes, const std::vector<std::uint64_t>& sources) {
  std::uint64_t others = 0;  // that a merge will have open together with it
  for (const std::uint64_t live : live_runs())
    if (done[live].packed_bytes > 0 && std::ranges::find(sources, live) == sources.end())
      others += blocks_of(done[live], job.plan.block_bytes);
  run::RowRun created = run_files.create_in(create_file(run), run, bytes, others);
  note_run_bytes(sources);
  return created;
}

void LinesBench::note_run_bytes(const std::vector<std::uint64_t>& open_runs) {
  std::uint64_t bytes = run_files.allocated_bytes() + (header_run() != nullptr ? file_bytes_of(0) : 0);
  for (const std::uint64_t live : live_runs())
    if (std::ranges::find(open_runs, live) == open_runs.end()) bytes += file_bytes_of(live);
  peak_run_bytes = std::max(peak_run_bytes, bytes);
}

run::RowRun LinesBench::create_plain_run(std::uint64_t run, std::uint64_t bytes) {
  return run_files.create_plain_in(create_file(run), run, bytes);
}

io::FilePtr LinesBench::create_file(std::uint64_t run) {
  return storage.create_named(paths.run(run), io::Role::run, io::Caching::direct_if_possible);
}

Task<void> LinesBench::make_durable(std::size_t stored, run::Description description) {
  co_await run_files.write_description(stored, std::move(description));
  co_await reactor.sync(run_files.run(stored).file());
}

planner::LinePlan plan_beside_last_line(const LinesBench& bench) {
  planner::LinePlan plan = bench.job.plan;
  const std::uint64_t kept = round_up(bench.longest_line(), bench.unit()) + 2 * bench.unit() + bench.unit();
  plan.memory_bytes -= std::min(kept, plan.memory_bytes - plan.write_bytes());
  return plan;
}

}  // namespace ecosort::demsort_inplace
