#include "demsort_inplace/put_back.h"

#include <exception>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "demsort_inplace/adopt_runs.h"
#include "demsort_inplace/finish.h"
#include "demsort_inplace/inplace_files.h"
#include "demsort_inplace/job_end.h"
#include "demsort_inplace/recheck.h"
#include "demsort_inplace/second_phase.h"
#include "engine/fixed/checked_output.h"

namespace ecosort::inplace {

namespace {

class PutBack {
 public:
  // Where the first phase was not complete, the rest of the input is the beginning of what is given back.
  explicit PutBack(Workbench& bench)
      : bench_(bench), layout_(bench.layout), into_input_(bench.done.size() < bench.layout.runs()) {
    bench.encoder = records::Encoder::without_key(layout_.record_size);  // no record has to follow another
  }

  engine::SortReport run() {
    const std::string& result = into_input_ ? bench_.paths.input : bench_.paths.output;
    bench_.plan_put_back(recheck_bytes(bench_, into_input_), records_there());
    bench_.run(bench_.is_complete                   ? recheck_complete(bench_, result, into_input_)
               : into_input_ && bench_.done.empty() ? give_back_untouched()
                                                    : append_runs());
    return publish_result(bench_, result);
  }

 private:
  // Nothing was taken from the input yet: it is what it was.
  Task<void> give_back_untouched() {
    begin_recheck(bench_, 0);
    co_await open_files(bench_, into_input_);
    bench_.end();
    State state{.kind = State::Kind::abandoned, .records = layout_.records};
    state.consumed.assign(layout_.runs(), 0);
    co_await bench_.journal->append(state);
  }

  // Run after run, as they are. From the first step on the job can only be abandoned.
  Task<void> append_runs() {
    begin_recheck(bench_, recheck_bytes(bench_, into_input_));
    co_await open_files(bench_, into_input_);
    bench_.storage.set_size(*bench_.files.spare, 0);
    bench_.end();
    const std::uint64_t left = (layout_.records - records_there()) * layout_.record_size;
    bench_.begin("put_back", engine::Phase::put_back, left, 2 * left);
    if (!is_abandoning()) co_await begin_to_abandon();
    co_await adopt_runs(bench_);
    io::File& result = into_input_ ? *bench_.files.input : *bench_.files.output;
    Checkpoints checkpoints(bench_, result);
    co_await checkpoints.reserve();
    {
      const std::uint64_t bytes = bench_.state->records * layout_.record_size;
      engine::WriteBehind writer = make_writer(bench_, result);
      if (bench_.state->tail.size() == bytes % layout_.unit)
        writer.resume_with_tail(bytes, bench_.state->tail);
      else
        co_await writer.resume(bytes);
      for (std::uint64_t run = 0; run < bench_.done.size(); ++run) {
        if (bench_.consumed(run) == layout_.run_records(run)) continue;
        const std::vector<std::uint64_t> alone{run};
        engine::CheckedOutput output(writer, bench_.compute, bench_.encoder, false);
        output.continue_after(checkpoints.position().records, {});  // a run need not follow the one before
        engine::MergeRuns copy = make_merge(bench_, alone);
        checkpoints.begin(writer, copy, alone);
        co_await copy.merge_to_output(output, checkpoints, engine::Ending::more_to_come);
        co_await checkpoints.end();
      }
      co_await finish(writer);
    }
    tell_unreadable(bench_, *bench_.store);
    bench_.end();
    co_await complete(bench_, result, checkpoints.position(), State::Kind::abandoned);
  }

  // Also on the error path nothing may use the writer's blocks when it goes.
  Task<void> finish(engine::WriteBehind& writer) {
    TaskGroup ending(bench_.reactor.scope());
    ending.spawn(writer.finish());
    co_await ending.settle();
    co_await writer.settle();
    bench_.reactor.scope().throw_if_failed();
  }

  // Runs that were never formed count as consumed: their records are in the input, which is the result. The last unit of the
  // result is going to be written once more, so the journal keeps what it holds.
  Task<void> begin_to_abandon() {
    State state = bench_.state ? *bench_.state : State{.consumed = std::vector<std::uint64_t>(layout_.runs(), 0)};
    state.kind = State::Kind::abandoning;
    state.records = records_there();
    if (into_input_) {
      for (std::uint64_t run = bench_.done.size(); run < layout_.runs(); ++run) state.consumed[run] = layout_.run_records(run);
    }
    const std::uint64_t end = state.records * layout_.record_size;
    const io::File& result = into_input_ ? *bench_.files.input : *bench_.files.output;
    if (end % layout_.unit != 0) state.tail = co_await read_bytes(bench_, result, round_down(end, layout_.unit), end);
    co_await bench_.journal->append(state);
    bench_.state = std::move(state);
  }

  [[nodiscard]] bool is_abandoning() const {
    return bench_.state && (bench_.state->kind == State::Kind::abandoning || bench_.state->kind == State::Kind::abandoned);
  }

  // In the file that is given back.
  [[nodiscard]] std::uint64_t records_there() const {
    if (into_input_ && !is_abandoning()) return layout_.records_left(bench_.done.size());
    return bench_.state ? bench_.state->records : 0;
  }

  Workbench& bench_;
  const Layout& layout_;
  const bool into_input_;  // the records go there
};

}  // namespace

engine::SortReport put_back(Workbench& bench) { return PutBack(bench).run(); }

}  // namespace ecosort::inplace
