#include "demsort_inplace/inplace_sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "demsort_inplace/checkpoints.h"
#include "demsort_inplace/form_pieces.h"
#include "pipeline/compute.h"
#include "pipeline/merge_runs.h"
#include "pipeline/read_ahead.h"
#include "pipeline/write_behind.h"

namespace ecosort::inplace {

namespace {

using pipeline::Phase;

constexpr io::Caching direct = io::Caching::direct_if_possible;

// One job in this process. Members are declared in the order in which they may be used.
class Runner {
 public:
  Runner(const std::string& path, const JobHeader& header, const plan::Plan& plan, Environment environment)
      : paths_(path),
        header_(header),
        layout_(header_.layout),
        plan_(plan),
        storage_(environment.storage),
        progress_(environment.progress),
        log_(environment.log),
        interrupted_(environment.interrupted),
        encoder_(header_.format),
        memory_(plan.wanted.memory_bytes),
        reactor_(environment.queue, plan.read_depth, plan.write_depth),
        compute_(reactor_, plan.wanted.threads),
        main_(reactor_.gate()) {}

  pipeline::SortReport start(io::FilePtr input) {
    files_.input = std::move(input);
    run(begin_and_sort());
    return publish_result(paths_.output);
  }

  pipeline::SortReport resume(JobStatus status) {
    take(std::move(status));
    if (!is_complete_) run(sort());
    return publish_result(paths_.output);
  }

  pipeline::SortReport abandon(JobStatus status) {
    take(std::move(status));
    // Where the first phase was not complete, the rest of the input is the beginning of what is given back.
    into_input_ = done_.size() < layout_.runs();
    if (!is_complete_) run(into_input_ && done_.empty() ? give_back_untouched() : put_back());
    return publish_result(into_input_ ? paths_.input : paths_.output);
  }

 private:
  void run(Task<void> task) {
    main_.spawn(std::move(task));
    const std::atomic<int> nothing = 0;  // a signal waits for the next checkpoint
    reactor_.run(main_, nothing);
  }

  void take(JobStatus status) {
    files_.journal = std::move(status.journal);
    is_complete_ = status.kind == JobStatus::Kind::complete;
    done_ = status.contents->runs;
    state_ = status.contents->state;
  }

  Task<void> begin_and_sort() {
    log_begin("prepare", Phase::starting, 0);
    try {
      co_await prepare();
      take_file();
    } catch (...) {
      discard_preparation();
      throw;
    }
    storage_.sync_directory(paths_.directory);
    storage_.sync_directory(paths_.parent);
    log_.end(reactor_.traffic());
    co_await sort_opened();
  }

  // What stood under the name by then must be the file that was found fit.
  void take_file() {
    storage_.rename(paths_.file, paths_.input);
    const io::FilePtr taken = storage_.open_named(paths_.input, io::Role::input, io::Caching::buffered);
    if (storage_.state(*taken).inode == storage_.state(*files_.input).inode) return;
    storage_.rename(paths_.input, paths_.file);
    throw IoError(fmt::format("'{}' was replaced just now; start again", paths_.file));
  }

  // Creates every file that the job will need, takes all the space, and makes both durable, before FILE is touched.
  Task<void> prepare() {
    const io::FileState before = storage_.state(*files_.input);
    storage_.make_directory(paths_.directory);
    has_made_directory_ = true;
    files_.journal = storage_.create_named(paths_.journal, io::Role::journal, direct);
    lock_job(*files_.journal, paths_.file);
    (void)co_await reactor_.reserve(*files_.journal, 0, Journal::size_bytes(header_));
    journal_.emplace(reactor_, *files_.journal);
    co_await journal_->create(header_);
    for (std::uint64_t run = 0; run < layout_.runs(); ++run)
      files_.runs.push_back(storage_.create_named(paths_.run(run), io::Role::run, direct));
    files_.output = storage_.create_named(paths_.output, io::Role::output, direct);
    report_.notice = storage_.adopt_attributes(*files_.output, paths_.file);
    if (!report_.notice.empty()) report_.notice = fmt::format("could not keep of '{}': {}", paths_.file, report_.notice);
    files_.spare = storage_.create_named(paths_.spare, io::Role::run, io::Caching::buffered);
    (void)co_await reactor_.reserve(*files_.spare, 0, layout_.extra_bytes());
    storage_.sync_directory(paths_.directory);
    storage_.sync_directory(paths_.parent);
    const io::FileState now = storage_.state(*files_.input);
    if (now.size_bytes != before.size_bytes || now.modified_ns != before.modified_ns)
      throw IoError(fmt::format("'{}' is being written to; sort it when nobody does", paths_.file));
  }

  // Best effort: the error that led here is the one to tell.
  void discard_preparation() noexcept {
    try {
      if (has_made_directory_) clean_up(storage_, paths_, false);
    } catch (const std::exception&) {  // `resume` cleans up what is left
    }
  }

  Task<void> sort() {
    co_await open_files();
    co_await sort_opened();
  }

  Task<void> sort_opened() {
    if (!journal_) throw InternalError("a job without a journal");
    store_.emplace(storage_, reactor_, plan_, paths_.directory, pipeline::RunDirection::backward, header_.job);
    co_await adopt_runs();
    if (done_.size() < layout_.runs()) co_await form_pieces();
    co_await merge();
  }

  // Brings every file to the length that the journal gives it; what a crash left beyond that is not needed.
  Task<void> open_files() {
    journal_.emplace(reactor_, *files_.journal);
    (void)co_await journal_->open();
    storage_.sync_directory(paths_.directory);
    storage_.sync_directory(paths_.parent);
    files_.input = storage_.open_named(paths_.input, into_input_ ? io::Role::output : io::Role::input, direct);
    files_.output = storage_.open_named(paths_.output, io::Role::output, direct);
    files_.spare = storage_.open_named(paths_.spare, io::Role::run, io::Caching::buffered);
    for (std::uint64_t run = 0; run < layout_.runs(); ++run) {
      files_.runs.push_back(storage_.open_named(paths_.run(run), io::Role::run, direct));
      const bool is_done = run < done_.size();
      cut(*files_.runs.back(), is_done ? layout_.run_file_bytes(run, state_ ? state_->consumed[run] : 0) : 0);
    }
    if (!is_abandoning()) cut(*files_.input, layout_.input_length(layout_.records_left(done_.size())));
    cut(into_input_ ? *files_.input : *files_.output, durable_result_bytes());
  }

  // Of the result: where its last unit is kept in the journal, that does not count.
  [[nodiscard]] std::uint64_t durable_result_bytes() const {
    if (!state_) return into_input_ ? layout_.input_length(layout_.records_left(done_.size())) : 0;
    const std::uint64_t bytes = state_->records * layout_.record_size;
    return state_->tail.empty() ? round_up(bytes, layout_.unit) : round_down(bytes, layout_.unit);
  }

  void cut(io::File& file, std::uint64_t size) {
    const std::uint64_t present = storage_.state(file).size_bytes;
    if (present < size)
      throw IoError(
          fmt::format("'{}' has {} bytes, {} are needed: it was changed, or the drive lost a part of it; nothing more "
                      "was given up",
                      file.path(), present, size));
    if (present > size) storage_.set_size(file, size);
  }

  [[nodiscard]] bool is_abandoning() const { return state_ && state_->kind == State::Kind::abandoning; }
  [[nodiscard]] std::uint64_t consumed(std::uint64_t run) const { return state_ ? state_->consumed[run] : 0; }

  // Runs that hold nothing any more stay out of the store.
  Task<void> adopt_runs() {
    numbers_.assign(layout_.runs(), 0);
    const Buffer memory = memory_.allocate(store_->forecast_read_bytes(), "the beginning of a granule");
    for (std::uint64_t run = 0; run < layout_.runs(); ++run) {
      if (consumed(run) == layout_.run_records(run)) continue;
      const std::uint64_t first = first_record_left(layout_, consumed(run));
      numbers_[run] =
          store_->adopt(std::move(files_.runs[run]), run, layout_.run_records(run) - first, first / layout_.granule.records);
      if (run < done_.size()) co_await store_->read_forecast(numbers_[run], encoder_, memory.data());
    }
  }

  Task<void> form_pieces() {
    FormPieces keeper(storage_, reactor_, *journal_, layout_, *store_, numbers_, *files_.input, *files_.spare, done_,
                      interrupted_);
    const std::vector<pipeline::RunPart> parts = keeper.parts();
    std::uint64_t bytes = 0;
    for (const pipeline::RunPart& part : parts) bytes += part.records * layout_.record_size;
    for (std::uint64_t run = done_.size(); run < layout_.runs(); ++run) bytes += layout_.run_file_bytes(run, 0);
    log_begin("run_formation", Phase::run_formation, bytes);
    std::vector<pipeline::Input> inputs(1);
    inputs.front() = {std::move(files_.input), layout_.records, {}};
    {
      pipeline::ReadAhead reader(reactor_, compute_, plan_, encoder_, inputs, memory_);
      pipeline::FormRuns former(reactor_, compute_, memory_, plan_, encoder_, reader, *store_, progress_);
      co_await former.form_parts(parts, keeper);
    }
    files_.input = std::move(inputs.front().file);
    log_.end(reactor_.traffic());
  }

  Task<void> merge() {
    if (!state_) state_ = State{.consumed = std::vector<std::uint64_t>(layout_.runs(), 0)};
    storage_.set_size(*files_.spare, 0);
    std::vector<std::uint64_t> runs;  // the head of the input first: ties keep their order
    for (std::uint64_t run = layout_.runs(); run-- > 0;)
      if (consumed(run) < layout_.run_records(run)) runs.push_back(run);
    log_begin("merge", Phase::merge, (layout_.records - state_->records) * layout_.record_size);
    Checkpoints checkpoints(storage_, reactor_, *journal_, layout_, *store_, numbers_, *files_.output, *state_, interrupted_);
    co_await checkpoints.reserve();
    const std::vector<std::byte> last = co_await last_record_of_output();
    {
      pipeline::WriteBehind writer = make_writer(*files_.output);
      co_await writer.resume(state_->records * layout_.record_size);
      checkpoints.begin(writer, runs);
      pipeline::CheckedOutput output(writer, compute_, encoder_, false);
      output.continue_after(state_->records, last);
      pipeline::MergeRuns merger = make_merge(runs);
      co_await merger.merge_to_output(output, checkpoints, pipeline::Ending::complete);
      report_.demand_reads = merger.demand_reads();
    }
    log_.end(reactor_.traffic());
    co_await complete(checkpoints, *files_.output, State::Kind::merged);
  }

  [[nodiscard]] pipeline::WriteBehind make_writer(io::File& file) {
    const plan::MergeBuffers& buffers = plan_.merge.final;
    const pipeline::OutputTerms terms{.total_bytes = layout_.bytes(),
                                      .reserve_bytes = layout_.unit,
                                      .reserved_bytes = std::numeric_limits<std::uint64_t>::max(),
                                      .least_unit = layout_.unit};
    return {storage_,
            reactor_,
            *store_,
            file,
            buffers,
            terms,
            memory_.allocate(buffers.output_block_bytes * buffers.output_blocks, "output blocks"),
            progress_};
  }

  [[nodiscard]] pipeline::MergeRuns make_merge(const std::vector<std::uint64_t>& runs) {
    std::vector<pipeline::MergeSource> sources;
    for (const std::uint64_t run : runs) {
      pipeline::MergeSource source;
      const std::uint64_t first = first_record_left(layout_, consumed(run));
      source.stored = numbers_[run];
      source.records = layout_.run_records(run) - first;
      source.consumed = consumed(run) - first;
      sources.push_back(std::move(source));
    }
    return {reactor_,           compute_, *store_,  encoder_, plan_.merge.final, plan_.merge.release_bytes,
            std::move(sources), memory_,  progress_};
  }

  // What the records that follow must not come before. Empty: none is there yet.
  Task<std::vector<std::byte>> last_record_of_output() {
    if (state_->records == 0) co_return std::vector<std::byte>();
    const std::uint64_t end = state_->records * layout_.record_size, begin = end - layout_.record_size;
    co_return co_await read_bytes(*files_.output, begin, end);
  }

  Task<std::vector<std::byte>> read_bytes(io::File& file, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t from = round_down(begin, layout_.unit), size = round_up(end, layout_.unit) - from;
    const Buffer memory = memory_.allocate(size, "a few bytes of a file");
    co_await reactor_.read(file, from, memory.data(), size, end - from);
    const std::byte* const bytes = memory.data();
    co_return std::vector<std::byte>(bytes + (begin - from), bytes + (end - from));
  }

  // The result has its exact length, and everything about it is durable, before the journal says that it is all there is.
  Task<void> complete(const Checkpoints& checkpoints, io::File& result, State::Kind kind) {
    log_begin("sync", Phase::sync, 0);
    checkpoints.check_sums();
    records::MultisetHash expected;
    for (const RunDone& done : done_) expected += done.tally.hash;
    const State& end = checkpoints.position();
    if (end.hash != expected || end.records != layout_.records)
      throw VerificationError(
          fmt::format("verification failed: {} records with hash {} were read, {} with hash {} were written; "
                      "the runs still hold what the last checkpoint does not",
                      layout_.records, expected.to_hex(), end.records, end.hash.to_hex()));
    storage_.sync(result);
    State state = end;
    state.kind = kind;
    co_await journal_->append(state);
    log_.end(reactor_.traffic());
  }

  // Nothing was taken from the input yet: it is what it was.
  Task<void> give_back_untouched() {
    co_await open_files();
    State state{.kind = State::Kind::abandoned, .records = layout_.records};
    state.consumed.assign(layout_.runs(), 0);
    co_await journal_->append(state);
  }

  // Run after run, as they are. From the first step on the job can only be abandoned.
  Task<void> put_back() {
    co_await open_files();
    store_.emplace(storage_, reactor_, plan_, paths_.directory, pipeline::RunDirection::backward, header_.job);
    storage_.set_size(*files_.spare, 0);
    if (!is_abandoning()) co_await begin_to_abandon();
    co_await adopt_runs();
    io::File& result = into_input_ ? *files_.input : *files_.output;
    log_begin("put_back", Phase::merge, (layout_.records - state_->records) * layout_.record_size);
    Checkpoints checkpoints(storage_, reactor_, *journal_, layout_, *store_, numbers_, result, *state_, interrupted_);
    co_await checkpoints.reserve();
    {
      const std::uint64_t bytes = state_->records * layout_.record_size;
      pipeline::WriteBehind writer = make_writer(result);
      if (state_->tail.size() == bytes % layout_.unit)
        writer.resume_with_tail(bytes, state_->tail);
      else
        co_await writer.resume(bytes);
      for (std::uint64_t run = 0; run < done_.size(); ++run) {
        if (consumed(run) == layout_.run_records(run)) continue;
        const std::vector<std::uint64_t> alone{run};
        checkpoints.begin(writer, alone);
        pipeline::CheckedOutput output(writer, compute_, encoder_, false);
        output.continue_after(checkpoints.position().records, {});  // a run need not follow the one before
        pipeline::MergeRuns copy = make_merge(alone);
        co_await copy.merge_to_output(output, checkpoints, pipeline::Ending::more_to_come);
      }
      co_await finish(writer);
    }
    log_.end(reactor_.traffic());
    co_await complete(checkpoints, result, State::Kind::abandoned);
  }

  // Also on the error path nothing may use the writer's blocks when it goes.
  Task<void> finish(pipeline::WriteBehind& writer) {
    try {
      co_await writer.finish();
    } catch (...) {
      reactor_.gate().fail(std::current_exception());
    }
    co_await writer.settle();
    reactor_.gate().throw_if_failed();
  }

  // Runs that were never formed count as consumed: their records are in the input, which is the result. The last unit of the
  // result is going to be written once more, so the journal keeps what it holds.
  Task<void> begin_to_abandon() {
    State state = state_ ? *state_ : State{.consumed = std::vector<std::uint64_t>(layout_.runs(), 0)};
    state.kind = State::Kind::abandoning;
    if (into_input_) {
      state.records = layout_.records_left(done_.size());
      for (std::uint64_t run = done_.size(); run < layout_.runs(); ++run) state.consumed[run] = layout_.run_records(run);
    }
    const std::uint64_t end = state.records * layout_.record_size;
    io::File& result = into_input_ ? *files_.input : *files_.output;
    if (end % layout_.unit != 0) state.tail = co_await read_bytes(result, round_down(end, layout_.unit), end);
    co_await journal_->append(state);
    state_ = std::move(state);
  }

  // The journal says that the result is complete and durable. It may have its name already.
  pipeline::SortReport publish_result(const std::string& result) {
    log_begin("publish", Phase::sync, 0);
    // Both were synced, so that a failed close can lose nothing; but it is told.
    if (files_.output) storage_.close(std::move(files_.output));
    publish(storage_, paths_, result);
    clean_up(storage_, paths_, true);
    log_.end(reactor_.traffic());
    report_.plan = plan_;
    report_.records = layout_.records;
    for (const RunDone& done : done_) report_.tally += done.tally;
    report_.traffic = reactor_.traffic();
    report_.peak_temp_bytes = layout_.extra_bytes() + Journal::size_bytes(header_);
    report_.peak_memory_bytes = memory_.peak_bytes();
    report_.runs = layout_.runs();
    progress_.begin(Phase::done, 0);
    return std::move(report_);
  }

  void log_begin(const char* name, Phase phase, std::uint64_t bytes) {
    log_.begin(name, reactor_.traffic());
    progress_.begin(phase, bytes);
  }

  const JobPaths paths_;
  const JobHeader header_;
  const Layout& layout_;
  const plan::Plan plan_;
  io::NamedStorage& storage_;
  pipeline::Progress& progress_;
  pipeline::PhaseLog& log_;
  const std::atomic<int>& interrupted_;
  const records::Encoder encoder_;
  MemoryBudget memory_;
  io::Reactor reactor_;
  pipeline::Compute compute_;
  pipeline::SortReport report_;
  JobFiles files_;
  std::optional<Journal> journal_;
  std::vector<RunDone> done_;
  std::optional<State> state_;
  bool has_made_directory_ = false;
  bool is_complete_ = false;
  bool into_input_ = false;  // an abandoned job's records go there
  std::optional<pipeline::RunStore> store_;
  std::vector<std::size_t> numbers_;
  TaskGroup main_;
};

// Where the queue broke, the system may still use the runner's buffers: they live as long as the process.
template <class Work>
pipeline::SortReport with_runner(const std::string& path, const JobHeader& header, const plan::Plan& plan,
                                 Environment environment, Work work) {
  auto runner = std::make_unique<Runner>(path, header, plan, environment);
  try {
    return work(*runner);
  } catch (const io::QueueBroken&) {
    (void)runner.release();
    throw;
  }
}

}  // namespace

pipeline::SortReport start(const std::string& path, io::FilePtr input, const JobHeader& header, const plan::Plan& plan,
                           Environment environment) {
  return with_runner(path, header, plan, environment, [&](Runner& runner) { return runner.start(std::move(input)); });
}

pipeline::SortReport resume(const std::string& path, JobStatus status, const plan::Plan& plan, Environment environment) {
  if (status.is_abandoned()) return abandon(path, std::move(status), plan, environment);
  const JobHeader header = status.contents->header;
  return with_runner(path, header, plan, environment, [&](Runner& runner) { return runner.resume(std::move(status)); });
}

pipeline::SortReport abandon(const std::string& path, JobStatus status, const plan::Plan& plan, Environment environment) {
  const JobHeader header = status.contents->header;
  return with_runner(path, header, plan, environment, [&](Runner& runner) { return runner.abandon(std::move(status)); });
}

}  // namespace ecosort::inplace
