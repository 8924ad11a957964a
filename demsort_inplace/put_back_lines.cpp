#include "demsort_inplace/put_back_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/full_drive.h"
#include "base/size_text.h"
#include "demsort_inplace/durable_job.h"
#include "demsort_inplace/given_space.h"
#include "demsort_inplace/hash_of_lines.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/line_runs.h"
#include "demsort_inplace/lines_in_place.h"
#include "demsort_inplace/recheck.h"
#include "demsort_inplace/run_bytes.h"

namespace ecosort::demsort_inplace {

namespace {

constexpr std::uint64_t least_chunk_bytes = MiB;

std::uint64_t chunk_bytes(const JobHeader& header) {
  return round_up(std::max<std::uint64_t>(least_chunk_bytes, header.lines->block_bytes), header.layout.unit);
}

std::uint64_t input_bytes(const JobBench& bench) { return bench.header.inputs.front().size_bytes; }

// Returns how many bytes of the input are in runs.
std::uint64_t bytes_in_runs(const JobBench& bench) { return bytes_before(bench.header.inputs, next_place(bench.done)); }

bool is_put_into_input(const JobBench& bench) { return bytes_in_runs(bench) < input_bytes(bench); }

class PutBackLinesKernel : public JobKernel {
 public:
  explicit PutBackLinesKernel(JobBench& job)
      : JobKernel(job, is_put_into_input(job) ? job.paths.input : job.paths.output, State::Kind::abandoned),
        bench_(job),
        header_(job.header),
        unit_(job.header.layout.unit),
        live_(live_runs(job.done)),
        into_input_(is_put_into_input(job)),
        end_(into_input_ ? bytes_in_runs(job) : bytes_of_runs()),
        file_end_(std::min(round_up(end_, unit_), input_bytes(job))) {
    job.takes_what_is_there = job.trusts_drive;
  }

  // Plans to read again what the output holds before runs are put behind it, and all that was put back at the end.
  void plan_progress(std::uint64_t recheck) override {
    const std::uint64_t written = 2 * merged_bytes();
    if (bench_.is_complete) return bench_.progress.plan_job(1, std::max<std::uint64_t>(written + recheck, 1), written);
    const std::uint64_t reread = reread_bytes({});
    bench_.progress.plan_job(1 + (recheck > 0 ? 1 : 0) + (reread > 0 ? 1 : 0), 2 * end_ + recheck + reread, written);
  }

  Task<void> open() override {
    co_await open_journal(bench_);
    open_files();
    check_lengths();
    co_await recheck(file());
    cut_files();
  }

  // No run holds any more what the output holds.
  Task<void> recheck(const io::File& file) override {
    if (recheck_bytes() == 0) co_return;
    const hash::MultisetHash found = co_await hash_of_lines(bench_, file, merged_bytes());
    if (found != bench_.state->hash) refuse_output(bench_, file, {found, bench_.state->hash, "lines", ""});
  }
  [[nodiscard]] std::uint64_t recheck_bytes() const override { return is_sorted() && !bench_.trusts_drive ? merged_bytes() : 0; }

  Task<State> merge() override {
    const std::uint64_t left = end_ - merged_bytes();
    bench_.begin("put_back", engine::Phase::put_back, left, 2 * left);
    if (!is_abandoning()) co_await begin_to_abandon();
    co_await put_runs();
    bench_.end();
    co_return *bench_.state;
  }

  // Verifies that what is given back, as the drive has it, is what the runs were made of; the rest of the input was not touched.
  [[nodiscard]] std::uint64_t reread_bytes(const State& /*state*/) const override { return bench_.trusts_drive ? 0 : end_; }
  Task<void> reread(const State& /*state*/) override {
    hash::MultisetHash expected;
    for (const std::uint64_t run : live_) expected += bench_.done[run].tally.hash;
    const hash::MultisetHash found = co_await hash_of_lines(bench_, file(), end_);
    if (found == expected) co_return;
    throw ExplainedIoError(
        fmt::format("'{}' is not what was written to it ({} lines have hash {}, {} with hash {} were read); check the drive, "
                    "then take it as it "
                    "is: ecosort resume --trust-drive {}",
                    file().path(), found.count, found.to_hex(), expected.count, expected.to_hex(), bench_.paths.file));
  }

  // The last line may have got an end.
  [[nodiscard]] std::uint64_t result_bytes(const State& state) const override {
    return state.kind == State::Kind::merged ? state.lines->bytes : input_bytes(bench_);
  }

 private:
  // Returns whether the output has lines, in a job that is not given up yet.
  [[nodiscard]] bool is_sorted() const {
    return bench_.state && (bench_.state->kind == State::Kind::merging || bench_.state->kind == State::Kind::merged);
  }
  [[nodiscard]] bool is_abandoning() const { return bench_.state && bench_.state->kind == State::Kind::abandoning; }
  [[nodiscard]] const LineState& now() const { return *bench_.state->lines; }
  [[nodiscard]] std::uint64_t bytes_of_runs() const {
    std::uint64_t bytes = 0;
    for (const std::uint64_t run : live_) bytes += bench_.done[run].lines->bytes;
    return bytes;
  }
  [[nodiscard]] std::uint64_t merged_bytes() const { return bench_.state && bench_.state->lines ? now().bytes : 0; }

  // Returns those of the output. What of its last unit is needed is in the spare file once the job is being abandoned.
  [[nodiscard]] std::uint64_t durable_bytes() const {
    return is_abandoning() ? round_down(now().bytes, unit_) : round_up(merged_bytes(), unit_);
  }

  void open_files() {
    JobFiles& files = bench_.files;
    files.input = open_input_in_place(bench_, into_input_ ? io::Role::output : io::Role::input, into_input_);
    files.output = open_file_of_job(bench_, bench_.paths.output, io::Role::output, !into_input_ && durable_bytes() > 0);
    files.spare = open_file_of_job(bench_, bench_.paths.spare, io::Role::run, is_abandoning());
    for (const std::uint64_t run : live_)
      files.runs.push_back(open_file_of_job(bench_, bench_.paths.run(run), io::Role::run, true));
  }

  // All of them before the first cut.
  void check_lengths() {
    for (std::size_t i = 0; i < live_.size(); ++i)
      check_length(bench_, *bench_.files.runs[i], run_file_bytes(header_, bench_.done[live_[i]].lines->bytes, 0));
    check_length(bench_, file(), into_input_ ? input_bytes(bench_) : durable_bytes());
  }

  // From here on lines are only in the runs that the journal knows, in the output, and in what is left of the input.
  void cut_files() {
    remove_other_runs(bench_, live_);
    if (!is_abandoning()) cut(bench_, *bench_.files.spare, 0);
    if (into_input_) return cut(bench_, *bench_.files.output, 0);
    cut(bench_, *bench_.files.input, 0);
    cut(bench_, file(), durable_bytes());
  }

  // From this step on the job can only be abandoned.
  Task<void> begin_to_abandon() {
    State state = bench_.state.value_or(State{});
    state.kind = State::Kind::abandoning;
    if (!state.lines) state.lines.emplace();
    if (state.consumed.empty()) state.consumed.assign(live_.size(), 0);
    const std::uint64_t merged = state.lines->bytes;
    co_await keep_in_spare(into_input_ ? end_ : round_down(merged, unit_), into_input_ ? file_end_ : merged);
    co_await bench_.journal->append(state);
    bench_.state = std::move(state);
  }

  // Less than a unit of the result, which is going to be written once more.
  Task<void> keep_in_spare(std::uint64_t begin, std::uint64_t end) {
    if (begin == end) co_return;
    const std::vector<std::byte> bytes = co_await read_bytes(bench_, file(), begin, end);
    const Buffer memory = bench_.memory.allocate(unit_, "a unit of the file", Pages::small);
    std::memset(memory.data(), 0, unit_);
    std::ranges::copy(bytes, memory.data());
    co_await bench_.reactor.write(*bench_.files.spare, 0, memory.data(), unit_);
    co_await bench_.reactor.sync(*bench_.files.spare);
  }

  [[nodiscard]] Task<std::vector<std::byte>> kept_in_spare(std::uint64_t bytes) {
    if (bytes == 0) return no_bytes();
    return read_bytes(bench_, *bench_.files.spare, 0, bytes);
  }
  static Task<std::vector<std::byte>> no_bytes() { co_return std::vector<std::byte>(); }

  Task<void> put_runs() {
    RunBytes source(bench_, bench_.state->consumed, chunk_bytes(header_));
    for (std::size_t i = 0; i < live_.size(); ++i) co_await source.add(live_[i], std::move(bench_.files.runs[i]));
    co_await give_runs(source);
    const Buffer memory = bench_.memory.allocate(chunk_bytes(header_) + unit_, "bytes on their way", Pages::small);
    const std::uint64_t lead = now().bytes % unit_;
    std::ranges::copy(co_await kept_in_spare(into_input_ ? 0 : lead), memory.data());
    std::uint64_t have = lead;
    for (std::uint64_t at = now().bytes; at < end_ || have > 0; have = 0) {
      const std::uint64_t until = co_await make_room();
      co_await put(source, memory.data(), have, until);
      if (until < end_) co_await checkpoint(source, until);
      at = until;
    }
    tell_unreadable(bench_, source.store());
  }

  // Bytes of the result up to `until` go out, the first ones of which are in memory.
  Task<void> put(RunBytes& source, std::byte* memory, std::size_t have, std::uint64_t until) {
    for (std::uint64_t at = now().bytes - have; at < until; have = 0) {
      std::size_t size = std::min(chunk_bytes(header_), until - at);
      co_await source.take(memory + have, size - have);
      const std::size_t taken = size - have;
      if (at + size == end_) size += co_await append_last_unit(memory + size);
      co_await bench_.reactor.write(file(), at, memory, round_up(size, unit_));
      bench_.progress.add_bytes(taken);
      at += size;
    }
  }

  // Appends what follows the lines of the runs within a unit: the beginning of the rest of the input, and zeros beyond its end.
  Task<std::size_t> append_last_unit(std::byte* to) {
    std::memset(to, 0, round_up(end_, unit_) - end_);
    if (!into_input_) co_return 0;
    const std::vector<std::byte> kept = co_await kept_in_spare(file_end_ - end_);
    std::ranges::copy(kept, to);
    co_return kept.size();
  }

  Task<void> checkpoint(RunBytes& source, std::uint64_t bytes) {
    co_await bench_.reactor.sync(file());
    State state = *bench_.state;
    state.lines->bytes = bytes;
    state.consumed = source.taken();
    co_await bench_.journal->append(state);
    bench_.state = std::move(state);
    co_await give_runs(source);
    if (const int signal_number = bench_.interrupted.load(); signal_number != 0) throw Interrupted(signal_number);
  }

  Task<void> give_runs(RunBytes& source) {
    for (std::size_t i = 0; i < live_.size(); ++i) {
      const std::uint64_t blocks = consumed_blocks(header_, source.bytes(i), source.taken()[i]), head = header_.layout.head_bytes;
      co_await make_hole(bench_, source.file(i), head, head + blocks * header_.lines->block_bytes);
    }
  }

  // Bytes that may be taken for the result now: the bound of the whole job less what its files take.
  [[nodiscard]] std::uint64_t room() const {
    std::uint64_t used = into_input_ ? round_up(input_bytes(bench_), unit_) - (round_down(end_, unit_) - now().bytes)
                                     : round_up(now().bytes, unit_);
    for (std::size_t i = 0; i < live_.size(); ++i)
      used += run_file_bytes(header_, bench_.done[live_[i]].lines->bytes, bench_.state->consumed[i]);
    return header_.lines->total_bytes - std::min(header_.lines->total_bytes, used);
  }

  // Reserves space behind what the result has, with which at least one block of a run is not needed any more. Returns up to where
  // there is some: between two units, or the end.
  Task<std::uint64_t> make_room() {
    const std::uint64_t begin = round_down(now().bytes, unit_), least = round_up(header_.lines->block_bytes, unit_) + unit_;
    const std::uint64_t most = std::max(round_down(std::min(room(), header_.layout.interval_bytes), unit_), least);
    for (const std::uint64_t bytes : {most, least})
      if (co_await has_room(begin, bytes, bytes == least)) co_return std::min(begin + bytes, end_);
    throw InternalError("space that is needed was neither there nor missed");
  }

  Task<bool> has_room(std::uint64_t begin, std::uint64_t bytes, bool is_least) {
    const std::uint64_t end = std::min(begin + bytes, into_input_ ? round_down(end_, unit_) : round_up(end_, unit_));
    try {
      if (begin < end) (void)co_await bench_.reactor.reserve(file(), begin, end - begin);
      co_return true;
    } catch (const IoError& error) {
      if (!is_full(error.error_number())) throw;
      if (is_least)
        throw IoError(fmt::format("to put the lines back into one file {} ({} bytes) of free space are needed in '{}'",
                                  format_bytes(end - begin), end - begin, bench_.paths.parent),
                      error.error_number());
    }
    co_return false;
  }

  JobBench& bench_;
  const JobHeader& header_;
  const std::uint64_t unit_;
  const std::vector<std::uint64_t> live_;
  const bool into_input_;
  const std::uint64_t end_;       // of the runs' lines in the result
  const std::uint64_t file_end_;  // of the unit that these end in, as far as the input has it
};

}  // namespace

std::uint64_t put_back_memory_bytes(const JournalContents& contents) noexcept {
  std::uint64_t longest = 0;
  for (const RunDone& run : contents.runs) longest = std::max(longest, run.lines->longest);
  return 2 * chunk_bytes(contents.header) + 4 * contents.header.layout.unit + hash_of_lines_memory_bytes(longest) +
         16 * page_bytes;
}

void put_back_lines(JobBench& bench) {
  PutBackLinesKernel kernel(bench);
  if (bench.is_complete || !bench.done.empty()) return continue_job(kernel);
  give_back_input(kernel, input_bytes(bench));
}

}  // namespace ecosort::demsort_inplace
