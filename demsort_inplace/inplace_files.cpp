#include "demsort_inplace/inplace_files.h"

namespace ecosort::inplace {

namespace {

// Of the result: where its last unit is kept in the journal, that does not count.
std::uint64_t durable_result_bytes(const Workbench& bench, bool into_input) {
  const Layout& layout = bench.layout;
  if (!bench.state) return into_input ? layout.input_length(layout.records_left(bench.done.size())) : 0;
  const std::uint64_t bytes = bench.state->records * layout.record_size;
  return bench.state->tail.empty() ? round_up(bytes, layout.unit) : round_down(bytes, layout.unit);
}

}  // namespace

Task<void> open_files(Workbench& bench, bool into_input) {
  constexpr io::Caching direct = io::Caching::direct_if_possible;
  const Layout& layout = bench.layout;
  JobFiles& files = bench.files;
  co_await open_journal(bench);
  files.input = bench.storage.open_named(bench.paths.input, into_input ? io::Role::output : io::Role::input, direct);
  files.output = bench.storage.open_named(bench.paths.output, io::Role::output, direct);
  files.spare = bench.storage.open_named(bench.paths.spare, io::Role::run, io::Caching::buffered);
  for (std::uint64_t run = 0; run < layout.runs(); ++run) {
    files.runs.push_back(bench.storage.open_named(bench.paths.run(run), io::Role::run, direct));
    const bool is_done = run < bench.done.size();
    cut(bench, *files.runs.back(), is_done ? layout.run_file_bytes(run, bench.consumed(run)) : 0);
  }
  const bool is_abandoning = bench.state && bench.state->kind == State::Kind::abandoning;
  if (!is_abandoning) cut(bench, *files.input, layout.input_length(layout.records_left(bench.done.size())));
  cut(bench, into_input ? *files.input : *files.output, durable_result_bytes(bench, into_input));
}

}  // namespace ecosort::inplace
