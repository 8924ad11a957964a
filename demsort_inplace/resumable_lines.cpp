#include "demsort_inplace/resumable_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "demsort_inplace/hash_of_lines.h"
#include "demsort_inplace/in_place_lines.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/job_end.h"
#include "demsort_inplace/keep_line_runs.h"
#include "demsort_inplace/lines_bench.h"
#include "demsort_inplace/lines_progress.h"
#include "demsort_inplace/merge_line_runs.h"
#include "demsort_inplace/put_back_lines.h"
#include "demsort_inplace/recheck.h"
#include "engine/rows/reread_lines.h"

namespace ecosort::inplace {

namespace {

class ResumableLines {
 public:
  explicit ResumableLines(LinesBench& bench) : bench_(bench) {}

  lines::LinesReport start() {
    bench_.run(begin_and_sort());
    return publish();
  }

  lines::LinesReport resume() {
    bench_.learn_first_row();
    plan_resumed_progress(bench_, recheck_bytes());
    bench_.run(bench_.is_complete ? recheck_complete() : open_and_sort());
    return publish();
  }

 private:
  Task<void> begin_and_sort() {
    plan_progress(bench_);
    bench_.begin("prepare", engine::Phase::starting, 0);
    try {
      co_await prepare();
    } catch (...) {
      discard_preparation(bench_);
      throw;
    }
    if (is_in_place_) bench_.storage.sync_directory(bench_.paths.parent);  // FILE's; that of `input` with the first run
    bench_.end();
    co_await sort();
  }

  // The names are durable, and a journal says what they mean, before there is anything in the files.
  Task<void> prepare() {
    if (is_in_place_) co_return co_await prepare_in_place(bench_);
    co_await create_journal(bench_);
    bench_.files.output = bench_.storage.create_named(bench_.paths.output, io::Role::output, direct);
    bench_.storage.sync_directory(bench_.paths.directory);
    bench_.storage.sync_directory(bench_.paths.parent);
    co_await reserve_output();
  }

  Task<void> open_and_sort() {
    begin_recheck(bench_, recheck_bytes());
    co_await open_journal(bench_);
    open_inputs();
    check_runs();
    open_output();
    co_await recheck_lines();
    remove_others();
    cut(bench_, *bench_.files.output, durable_bytes());
    co_await reserve_output();
    bench_.end();
    co_await sort();
  }

  // Once every line is in a run, an input that is gone is not missed; another one under its name would be taken for the one that
  // was sorted.
  void open_inputs() {
    if (is_in_place_) return open_in_place(bench_);
    bench_.job.inputs.clear();
    for (const InputIdentity& then : bench_.header.inputs) {
      if (bench_.is_formed() && !bench_.storage.exists(then.path)) continue;
      lines::LineInput input;
      input.name = then.path;
      input.open(bench_.storage);
      check_same_input(input.opened, then, bench_.paths);
      bench_.job.inputs.push_back(std::move(input));
    }
    if (bench_.is_formed()) bench_.job.inputs.clear();
  }

  void check_runs() {
    const auto check = [&](std::uint64_t run) {
      io::FilePtr file = bench_.storage.open_named(bench_.paths.run(run), io::Role::run, direct);
      check_length(bench_, *file, bench_.file_bytes_of(run));
      bench_.storage.close(std::move(file));
    };
    if (bench_.header_run() != nullptr) check(0);
    for (const std::uint64_t run : bench_.live_runs()) check(run);
  }

  void open_output() {
    const std::string& path = bench_.paths.output;
    const bool is_new = !bench_.state && !bench_.storage.exists(path);
    bench_.files.output = is_new ? bench_.storage.create_named(path, io::Role::output, direct)
                                 : bench_.storage.open_named(path, io::Role::output, direct);
    if (is_new) bench_.storage.sync_directory(bench_.paths.directory);
    check_length(bench_, *bench_.files.output, durable_bytes());
  }

  [[nodiscard]] std::uint64_t durable_bytes() const {
    return bench_.state ? round_up(bench_.state->lines->bytes, bench_.unit()) : 0;
  }

  // Runs that a crash left half written, or that were merged.
  void remove_others() {
    std::vector<std::uint64_t> known = bench_.live_runs();
    if (bench_.header_run() != nullptr) known.push_back(0);
    std::vector<std::string> names{"journal", "output", "input", "spare"};
    for (const std::uint64_t run : known) names.push_back(bench_.paths.run(run).substr(bench_.paths.directory.size() + 1));
    for (const std::string& name : bench_.storage.list(bench_.paths.directory))
      if (is_name_of_job(name) && std::ranges::find(names, name) == names.end())
        bench_.storage.remove(bench_.paths.directory + "/" + name);
  }

  // Of the output's space, what it does not have yet, so that no one else can take it an hour later (promise P10). Nothing is
  // reserved twice: XFS wants the space free once more.
  Task<void> reserve_output() {
    if (is_in_place_) co_return;  // given_space.h
    const std::uint64_t from = bench_.storage.state(*bench_.files.output).size_bytes;
    const std::uint64_t bytes = round_up(most_output_bytes(bench_.header), bench_.unit());
    if (from < bytes) (void)co_await bench_.reactor.reserve(*bench_.files.output, from, bytes - from);
  }

  Task<void> sort() {
    if (!bench_.is_formed()) co_await form_line_runs(bench_);
    if (is_in_place_) give_up_input(bench_);
    bench_.job.inputs.clear();
    if (!bench_.state) {
      if (is_in_place_)
        require_one_merge(bench_);
      else
        co_await merge_until_one_can(bench_);
      co_await note_that_one_merge_is_left();
      co_await reserve_output();
    }
    const std::string header = co_await read_header(bench_);
    State end = co_await merge_to_output(bench_, header);
    if (bench_.header.reread) co_await reread(end);
    bench_.begin("sync", engine::Phase::sync, 0);
    bench_.storage.set_size(*bench_.files.output, end.lines->bytes);
    bench_.state = end;
    co_await complete_result(bench_, *bench_.files.output, std::move(end), State::Kind::merged);
    bench_.end();
  }

  Task<void> note_that_one_merge_is_left() {
    State state;
    state.lines.emplace().blank_lines = std::exchange(bench_.uncounted_blank_lines, 0);
    co_await bench_.journal->append(state);
    bench_.state = state;
  }

  Task<void> recheck_complete() {
    if (!bench_.storage.exists(bench_.paths.output)) co_return;
    bench_.files.output = bench_.storage.open_named(bench_.paths.output, io::Role::output, direct);
    check_length(bench_, *bench_.files.output, bench_.state->lines->bytes);
    begin_recheck(bench_, recheck_bytes());
    co_await recheck_lines();
    bench_.end();
  }

  [[nodiscard]] std::uint64_t recheck_bytes() const {
    return bench_.state && !bench_.trusts_drive ? bench_.state->lines->bytes : 0;
  }

  // What a crash left of the output is read again: what came before the last checkpoint is not merged again (recheck.h).
  Task<void> recheck_lines() {
    bench_.report.resumed = {bench_.state ? bench_.state->records : 0, !bench_.trusts_drive};
    if (recheck_bytes() == 0) co_return;
    const ReadBack back = co_await read_back(*bench_.state);
    if (!back.is_as_written())
      refuse_output(bench_, *bench_.files.output,
                    {back.found, back.expected, bench_.header.lines->items(), "it is not in order"});
  }

  // `--verify=reread`: what the device gives back of the complete output is what went in, in order.
  Task<void> reread(const State& end) {
    co_await bench_.reactor.sync(*bench_.files.output);
    bench_.begin("reread", engine::Phase::reread, end.lines->bytes, end.lines->bytes);
    const ReadBack back = co_await read_back(end);
    bench_.end();
    if (back.is_as_written()) co_return;
    throw VerificationError(
        fmt::format("what was read back from the output is not what was written to it (check the drive){}",
                    is_in_place_ ? "" : fmt::format("; start again after: ecosort resume --abandon {}", bench_.paths.file)));
  }

  struct ReadBack {
    records::MultisetHash found, expected;
    bool in_order = false;
    [[nodiscard]] bool is_as_written() const { return found == expected && in_order; }
  };

  // Of what the output holds by `state`.
  Task<ReadBack> read_back(const State& state) {
    const RunDone* const header = bench_.header_run();
    const std::uint64_t bytes = state.lines->bytes, header_bytes = header == nullptr ? 0 : header->lines->bytes;
    const lines::WrittenLines written{.file = *bench_.files.output,
                                      .mark_bytes = bench_.header.lines->mark_bytes,
                                      .header_bytes = header_bytes,
                                      .bytes = bytes,
                                      .longest = std::max<std::size_t>(bench_.longest_line(), header_bytes)};
    require_memory(written.longest);
    lines::RereadLines rereader(bench_.tools(bench_.job.plan), written);
    rereader.stop_for(bench_.interrupted);
    co_await rereader.run();
    const records::MultisetHash of_header = header == nullptr ? records::MultisetHash{} : header->tally.hash;
    co_return ReadBack{rereader.hash(), state.hash + of_header, rereader.in_order()};
  }

  void require_memory(std::size_t longest) {
    const std::uint64_t need = lines::RereadLines::memory_bytes(longest, bench_.job.plan.block_bytes);
    if (need <= bench_.memory.limit_bytes() - bench_.memory.used_bytes()) return;
    throw NotEnoughMemory(
        fmt::format("{} of {} bytes are too long to be read back with this memory", bench_.header.lines->items(), longest),
        bench_.memory.limit_bytes(), bench_.memory.used_bytes() + need);
  }

  lines::LinesReport publish() {
    publish_and_clean_up(bench_, bench_.paths.output, true);
    lines::LinesReport& report = bench_.report;
    std::uint64_t in_no_run = bench_.state->lines->blank_lines;
    for (const RunDone& run : bench_.done) {
      const bool was_formed = run.lines->merged == 0;
      report.dropped += run.lines->dropped.count - (was_formed ? run.lines->blank_lines : 0);
      report.blank_lines += run.lines->blank_lines;
      in_no_run += was_formed ? 0 : run.lines->blank_lines;
      rows::add(report.key_counts, run.lines->key_counts);
      if (run.lines->merged == 0) report.hash += run.tally.hash + run.lines->dropped;
      report.runs += run.lines->merged == 0 && !run.lines->is_header ? 1 : 0;
    }
    const RunDone* const header = bench_.header_run();
    report.top_lines = header == nullptr ? 0 : header->tally.hash.count;
    report.blank_lines += bench_.state->lines->blank_lines;
    report.dropped += bench_.state->lines->dropped.count;
    report.records = report.hash.count + in_no_run;
    report.input_bytes = bench_.input_bytes();
    report.output_bytes = bench_.state->lines->bytes;
    report.traffic = bench_.reactor.traffic();
    const std::uint64_t kept = most_run_bytes(bench_.done, bench_.job.plan.block_bytes, bench_.header.layout.head_bytes);
    const std::uint64_t runs = bench_.packer ? std::max(kept, bench_.peak_run_bytes) : kept;
    report.peak_temp_bytes =
        Journal::size_bytes(bench_.header) +
        (is_in_place_ ? bench_.header.lines->total_bytes - round_up(bench_.input_bytes(), bench_.unit()) : runs);
    report.peak_memory_bytes =
        bench_.memory.peak_bytes() + bench_.codec_memory.peak_bytes() + bench_.run_files.peak_index_bytes();
    if (bench_.packer && bench_.packer->report().blocks > 0) report.run_packing = bench_.packer->report();
    report.notices.insert(report.notices.end(), bench_.notices.begin(), bench_.notices.end());
    report.notices.push_back(rows::notice_of(repeated_header(bench_.done)));
    bench_.progress.begin(engine::Phase::done, 0);
    return std::move(report);
  }

  LinesBench& bench_;
  const bool is_in_place_ = bench_.header.is_in_place();
};

// What was sorted already is not what the journal says, or has its name.
Task<void> recheck_sorted(JobBench& bench) {
  if (bench.trusts_drive || !bench.storage.exists(bench.paths.output)) co_return;
  const io::FilePtr file = bench.storage.open_named(bench.paths.output, io::Role::output, direct);
  const std::uint64_t bytes = bench.state->lines->bytes;
  check_length(bench, *file, bytes);
  bench.progress.plan_job(1, 3 * bytes, 2 * bytes);  // it was written before
  begin_recheck(bench, bytes);
  const records::MultisetHash found = co_await hash_of_lines(bench, *file, bytes);
  bench.end();
  if (found != bench.state->hash) refuse_output(bench, *file, {found, bench.state->hash, "lines", ""});
}

// A job in place that was given up before, or is now.
void give_back(JobBench& bench) {
  const bool is_sorted = bench.is_complete && bench.state->kind == State::Kind::merged;
  if (is_sorted) bench.run(recheck_sorted(bench));
  if (!bench.is_complete) bench.run(give_back_file(bench));
  publish_and_clean_up(bench, put_back_into(bench), is_sorted);
  bench.progress.begin(engine::Phase::done, 0);
}

// Best effort: the error that led here is the one to tell. `resume --abandon` removes what is left.
void try_to_abandon(const std::string& output, const Environment& environment) noexcept {
  try {
    (void)abandon_lines(output, examine(output, environment.storage, environment.queue), environment);
  } catch (const std::exception&) {
    return;
  }
}

// Does `work`. Where the input is refused, the job can never come to its end, and goes: its runs are of no use once the input is
// another file, and whoever sorts that is to find the name free.
template <class Work>
lines::LinesReport remove_if_refused(const std::string& output, const JobHeader& header, const Environment& environment,
                                     const Work& work) {
  try {
    return work();
  } catch (const InputRefused&) {
    if (!header.is_in_place()) try_to_abandon(output, environment);
    throw;
  }
}

}  // namespace

std::uint64_t most_output_bytes(const JobHeader& header) noexcept {
  std::uint64_t bytes = header.inputs.size();
  for (const InputIdentity& input : header.inputs) bytes += input.size_bytes;
  return bytes;
}

lines::LinesReport start_resumable_lines(const std::string& output, lines::LinesJob job, const JobHeader& header,
                                         const Environment& environment) {
  return remove_if_refused(output, header, environment, [&] {
    return work_on_bench<LinesBench>(output, header, std::move(job), environment,
                                     [](LinesBench& bench) { return ResumableLines(bench).start(); });
  });
}

lines::LinesReport resume_lines(const std::string& output, JobStatus status, lines::LinesJob job,
                                const Environment& environment) {
  if (status.is_abandoned()) return abandon_lines(output, std::move(status), environment);
  const JobHeader header = status.contents->header;
  return remove_if_refused(output, header, environment, [&] {
    return work_on_bench<LinesBench>(output, header, std::move(job), environment, [&](LinesBench& bench) {
      bench.take(std::move(status));
      return ResumableLines(bench).resume();
    });
  });
}

lines::LinesReport abandon_lines(const std::string& output, JobStatus status, const Environment& environment) {
  const JobHeader header = status.contents->header;
  const std::uint64_t memory = header.is_in_place() ? put_back_memory_bytes(*status.contents) : MiB;
  const engine::BenchSize little{.memory_bytes = memory, .threads = 0, .read_depth = 1, .write_depth = 1};
  return work_on_bench<JobBench>(output, header, little, environment, [&](JobBench& bench) {
    bench.take(std::move(status));
    if (header.is_in_place())
      give_back(bench);
    else
      remove_job(bench);
    lines::LinesReport report;
    report.traffic = bench.reactor.traffic();
    report.notices = bench.notices;
    return report;
  });
}

}  // namespace ecosort::inplace
