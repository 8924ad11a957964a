#include "demsort_inplace/rows_job.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "demsort_inplace/durable_job.h"
#include "demsort_inplace/keep_line_runs.h"
#include "demsort_inplace/lines_bench.h"
#include "demsort_inplace/lines_progress.h"
#include "demsort_inplace/merge_line_runs.h"
#include "demsort_inplace/put_back_lines.h"
#include "demsort_inplace/recheck_rows.h"
#include "demsort_inplace/row_files.h"

namespace ecosort::demsort_inplace {

namespace {

class RowsKernel : public JobKernel {
 public:
  explicit RowsKernel(LinesBench& bench) : JobKernel(bench, bench.paths.output, State::Kind::merged), bench_(bench) {}

  void plan_progress(std::uint64_t recheck) override { plan_job_progress(bench_, recheck); }

  Task<void> create() override { return create_row_files(bench_); }

  void sync_taken() override {
    if (is_in_place_) bench_.storage.sync_directory(bench_.paths.parent);  // FILE's; that of `input` with the first run
  }

  Task<void> open() override {
    co_await open_row_files(bench_);
    co_await recheck(file());
    co_await cut_row_files(bench_);
  }

  Task<void> recheck(const io::File& file) override {
    bench_.report.resumed = {bench_.state ? bench_.state->records : 0, !bench_.trusts_drive};
    if (recheck_bytes() > 0) co_await recheck_rows(bench_, file);
  }
  [[nodiscard]] std::uint64_t recheck_bytes() const override {
    return bench_.state && !bench_.trusts_drive ? bench_.state->lines->bytes : 0;
  }

  [[nodiscard]] bool is_formed() const override { return bench_.is_formed(); }
  Task<void> form() override { return form_line_runs(bench_); }

  Task<State> merge() override {
    if (is_in_place_) give_up_input(bench_);
    bench_.job.inputs.clear();
    if (!bench_.state) {
      if (is_in_place_)
        require_one_merge(bench_);
      else
        co_await merge_until_one_can(bench_);
      co_await note_that_one_merge_is_left();
      co_await reserve_output(bench_);
    }
    const std::string header = co_await read_header(bench_);
    co_return co_await merge_to_output(bench_, header);
  }

  [[nodiscard]] std::uint64_t reread_bytes(const State& state) const override {
    return bench_.header.reread ? state.lines->bytes : 0;
  }
  Task<void> reread(const State& state) override { return reread_rows(bench_, file(), state); }
  [[nodiscard]] std::uint64_t result_bytes(const State& state) const override { return state.lines->bytes; }

 private:
  Task<void> note_that_one_merge_is_left() {
    State state;
    state.lines.emplace().blank_lines = std::exchange(bench_.uncounted_blank_lines, 0);
    co_await bench_.journal->append(state);
    bench_.state = state;
  }

  LinesBench& bench_;
  const bool is_in_place_ = bench_.header.is_in_place();
};

engine::rows::LinesReport report_of(LinesBench& bench) {
  engine::rows::LinesReport& report = bench.report;
  const LineState& end = *bench.state->lines;
  std::uint64_t in_no_run = end.blank_lines;
  for (const RunDone& run : bench.done) {
    const bool was_formed = run.lines->merged == 0;
    report.dropped += run.lines->dropped.count - (was_formed ? run.lines->blank_lines : 0);
    report.blank_lines += run.lines->blank_lines;
    in_no_run += was_formed ? 0 : run.lines->blank_lines;
    formats::add(report.key_counts, run.lines->key_counts);
    if (was_formed) report.hash += run.tally.hash + run.lines->dropped;
    report.runs += was_formed && !run.lines->is_header ? 1 : 0;
  }
  const RunDone* const header = bench.header_run();
  report.top_lines = header == nullptr ? 0 : header->tally.hash.count;
  report.blank_lines += end.blank_lines;
  report.dropped += end.dropped.count;
  report.records = report.hash.count + in_no_run;
  report.input_bytes = bench.input_bytes();
  report.output_bytes = end.bytes;
  report.traffic = bench.reactor.traffic();
  const std::uint64_t kept = most_run_bytes(bench.done, bench.job.plan.block_bytes, bench.header.layout.head_bytes);
  const std::uint64_t runs = bench.packer ? std::max(kept, bench.peak_run_bytes) : kept;
  const std::uint64_t input = round_up(bench.input_bytes(), bench.unit());
  report.peak_temp_bytes =
      Journal::size_bytes(bench.header) + (bench.header.is_in_place() ? bench.header.lines->total_bytes - input : runs);
  report.peak_memory_bytes = bench.memory.peak_bytes() + bench.codec_memory.peak_bytes() + bench.run_files.peak_index_bytes();
  if (bench.packer && bench.packer->report().blocks > 0) report.run_packing = bench.packer->report();
  report.notices.insert(report.notices.end(), bench.notices.begin(), bench.notices.end());
  report.notices.push_back(formats::notice_of(repeated_header(bench.done)));
  return std::move(report);
}

// Best effort: the error that led here is the one to report. `resume --abandon` removes what is left.
void try_to_abandon(const std::string& output, const JobContext& environment) noexcept {
  try {
    (void)abandon_rows(output, examine(output, environment.storage, environment.queue), environment);
  } catch (const std::exception&) {
    return;
  }
}

// A job whose input is refused can never come to its end, so it is removed: its runs are of no use once the input is another
// file, and a sort of that file must find the name free.
template <class Work>
engine::rows::LinesReport work_on_rows(const std::string& output, engine::rows::LinesJob job, const JobHeader& header,
                                       const JobContext& environment, const Work& work) {
  try {
    return work_on_bench<LinesBench>(output, header, std::move(job), environment, [&](LinesBench& bench) {
      work(bench);
      return report_of(bench);
    });
  } catch (const InputRefused&) {
    if (!header.is_in_place()) try_to_abandon(output, environment);
    throw;
  }
}

}  // namespace

engine::rows::LinesReport start_rows(const std::string& output, engine::rows::LinesJob job, const JobHeader& header,
                                     const JobContext& environment) {
  return work_on_rows(output, std::move(job), header, environment, [](LinesBench& bench) {
    RowsKernel kernel(bench);
    begin_job(kernel);
  });
}

engine::rows::LinesReport resume_rows(const std::string& output, JobStatus status, engine::rows::LinesJob job,
                                      const JobContext& environment) {
  if (status.is_abandoned()) return abandon_rows(output, std::move(status), environment);
  const JobHeader header = status.contents->header;
  return work_on_rows(output, std::move(job), header, environment, [&](LinesBench& bench) {
    bench.take(std::move(status));
    bench.learn_of_rows();
    RowsKernel kernel(bench);
    continue_job(kernel);
  });
}

engine::rows::LinesReport abandon_rows(const std::string& output, JobStatus status, const JobContext& environment) {
  const JobHeader header = status.contents->header;
  const std::uint64_t memory = header.is_in_place() ? put_back_memory_bytes(*status.contents) : MiB;
  const engine::BenchSize little{.memory_bytes = memory, .threads = 0, .read_depth = 1, .write_depth = 1};
  return work_on_bench<JobBench>(output, header, little, environment, [&](JobBench& bench) {
    bench.take(std::move(status));
    if (header.is_in_place())
      put_back_lines(bench);
    else
      remove_job(bench);
    engine::rows::LinesReport report;
    report.traffic = bench.reactor.traffic();
    report.notices = bench.notices;
    return report;
  });
}

}  // namespace ecosort::demsort_inplace
