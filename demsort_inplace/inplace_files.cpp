#include "demsort_inplace/inplace_files.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "demsort_inplace/recheck.h"

namespace ecosort::inplace {

namespace {

// Of the result: where its last unit is kept in the journal, that does not count.
std::uint64_t durable_result_bytes(const Workbench& bench, bool into_input) {
  const Layout& layout = bench.layout;
  if (!bench.state) return into_input ? layout.input_length(layout.records_left(bench.done.size())) : 0;
  const std::uint64_t bytes = bench.state->records * layout.record_size;
  return bench.state->tail.empty() ? round_up(bytes, layout.unit) : round_down(bytes, layout.unit);
}

// Between the first phase's steps the input has one length for each run that is done; a crash may bring an earlier one back.
void check_input_length(Workbench& bench) {
  const Layout& layout = bench.layout;
  const std::uint64_t present = bench.storage.state(*bench.files.input).size_bytes;
  for (std::uint64_t run = 0; run <= bench.done.size(); ++run)
    if (present == layout.input_length(layout.records_left(run))) return;
  throw IoError(fmt::format("'{}' has {} bytes, which no step of this job leaves: it was written to, or cut, by somebody else",
                            bench.files.input->path(), present));
}

std::uint64_t durable_run_bytes(const Workbench& bench, std::uint64_t run) {
  return run < bench.done.size() ? bench.layout.run_file_bytes(run, bench.consumed(run)) : 0;
}

}  // namespace

Task<void> open_files(Workbench& bench, bool into_input) {
  const Layout& layout = bench.layout;
  JobFiles& files = bench.files;
  co_await open_journal(bench);
  files.input = bench.storage.open_named(bench.paths.input, into_input ? io::Role::output : io::Role::input, direct);
  files.output = bench.storage.open_named(bench.paths.output, io::Role::output, direct);
  files.spare = bench.storage.open_named(bench.paths.spare, io::Role::run, io::Caching::buffered);
  for (std::uint64_t run = 0; run < layout.runs(); ++run)
    files.runs.push_back(bench.storage.open_named(bench.paths.run(run), io::Role::run, direct));
  io::File& result = into_input ? *files.input : *files.output;
  // Only what is being put back into the input lets it grow again.
  const bool grows = into_input && bench.state && bench.state->kind == State::Kind::abandoning;

  for (std::uint64_t run = 0; run < layout.runs(); ++run) check_length(bench, *files.runs[run], durable_run_bytes(bench, run));
  if (!grows) check_input_length(bench);
  check_length(bench, result, durable_result_bytes(bench, into_input));
  if (bench.state) co_await recheck(bench, result, into_input);

  for (std::uint64_t run = 0; run < layout.runs(); ++run) cut(bench, *files.runs[run], durable_run_bytes(bench, run));
  if (!grows) cut(bench, *files.input, layout.input_length(layout.records_left(bench.done.size())));
  cut(bench, result, durable_result_bytes(bench, into_input));
  if (into_input) cut(bench, *files.output, 0);
}

}  // namespace ecosort::inplace
