#include "demsort_inplace/put_back.h"

#include <utility>
#include <vector>

#include "base/errors.h"
#include "demsort_inplace/adopt_runs.h"
#include "demsort_inplace/durable_job.h"
#include "demsort_inplace/recheck.h"
#include "demsort_inplace/record_files.h"
#include "demsort_inplace/second_phase.h"
#include "engine/fixed/checked_output.h"

namespace ecosort::demsort_inplace {

namespace {

// The rest of the input is the beginning of what is given back if the first phase was not complete.
bool goes_into_input(const Workbench& bench) { return bench.done.size() < bench.layout.runs(); }

class PutBackKernel : public JobKernel {
 public:
  explicit PutBackKernel(Workbench& bench)
      : JobKernel(bench, goes_into_input(bench) ? bench.paths.input : bench.paths.output, State::Kind::abandoned),
        bench_(bench),
        layout_(bench.layout),
        into_input_(goes_into_input(bench)) {
    bench.encoder = records::Encoder::without_key(layout_.record_size);  // no record has to follow another
    bench.takes_what_is_there = bench.trusts_drive;
  }

  void plan_progress(std::uint64_t recheck) override { bench_.plan_put_back(recheck, records_there()); }
  Task<void> open() override {
    co_await open_files(bench_, into_input_);
    bench_.storage.set_size(*bench_.files.spare, 0);
  }
  Task<void> recheck(const io::File& file) override { return demsort_inplace::recheck(bench_, file, into_input_); }
  [[nodiscard]] std::uint64_t recheck_bytes() const override { return demsort_inplace::recheck_bytes(bench_, into_input_); }

  // Run after run, as they are. From the first step on the job can only be abandoned.
  Task<State> merge() override {
    const std::uint64_t left = (layout_.records - records_there()) * layout_.record_size;
    bench_.begin("put_back", engine::Phase::put_back, left, 2 * left);
    if (!is_abandoning()) co_await begin_to_abandon();
    co_await adopt_runs(bench_);
    Checkpoints checkpoints(bench_, file());
    co_await checkpoints.reserve();
    {
      const std::uint64_t bytes = bench_.state->records * layout_.record_size;
      engine::fixed::WriteBehind writer = make_writer(bench_, file());
      if (bench_.state->tail.size() == bytes % layout_.unit)
        writer.resume_with_tail(bytes, bench_.state->tail);
      else
        co_await writer.resume(bytes);
      for (std::uint64_t run = 0; run < bench_.done.size(); ++run) {
        if (bench_.consumed(run) == layout_.run_records(run)) continue;
        const std::vector<std::uint64_t> alone{run};
        engine::fixed::CheckedOutput output(writer, bench_.compute, bench_.encoder, {});
        output.continue_after(checkpoints.position().records, {});  // a run need not follow the one before
        engine::fixed::MergeRuns copy = make_merge(bench_, alone);
        checkpoints.begin(writer, copy, alone);
        co_await copy.merge_to_output(output, checkpoints, engine::fixed::Ending::more_to_come);
        co_await checkpoints.end();
      }
      co_await finish(writer);
    }
    tell_unreadable(bench_, *bench_.store);
    bench_.store.reset();
    bench_.end();
    verify(bench_, checkpoints.position());
    co_return checkpoints.position();
  }

  [[nodiscard]] std::uint64_t result_bytes(const State& /*state*/) const override { return layout_.bytes(); }

 private:
  // Nothing may use the writer's blocks when it goes, on the error path either.
  Task<void> finish(engine::fixed::WriteBehind& writer) {
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
    if (end % layout_.unit != 0) state.tail = co_await read_bytes(bench_, file(), round_down(end, layout_.unit), end);
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

void put_back(Workbench& bench) {
  PutBackKernel kernel(bench);
  if (bench.is_complete || !bench.done.empty()) return continue_job(kernel);
  give_back_input(kernel, bench.layout.input_length(bench.layout.records));
}

}  // namespace ecosort::demsort_inplace
