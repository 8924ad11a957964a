#include "demsort_inplace/record_files.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/recheck.h"

namespace ecosort::demsort_inplace {

namespace {

void open_in_place(Workbench& bench, bool into_input) {
  JobFiles& files = bench.files;
  const bool is_formed = bench.done.size() == bench.layout.runs();
  files.input = open_input_in_place(bench, into_input ? io::Role::output : io::Role::input, !is_formed);
  files.output = open_file_of_job(bench, bench.paths.output, io::Role::output, !into_input && bench.state);
  files.spare = open_or_create(bench, bench.paths.spare, io::Role::run, io::Caching::buffered);
  for (std::uint64_t run = 0; run < bench.layout.runs(); ++run)
    files.runs.push_back(open_file_of_job(bench, bench.paths.run(run), io::Role::run, run < bench.done.size()));
}

// Once every record is in a run, an input that is gone is not missed; another one under its name would be taken for the one
// that was sorted.
void open_inputs(Workbench& bench) {
  const bool are_needed = bench.done.size() < bench.layout.runs();
  for (const InputIdentity& then : bench.header.inputs) {
    if (!are_needed && !bench.storage.exists(then.path)) continue;
    engine::fixed::Input input;
    input.file = bench.storage.open_input(then.path, direct);
    input.records = then.size_bytes / bench.layout.record_size;
    check_same_input(bench.storage.state(*input.file), then, bench.paths);
    bench.inputs.push_back(std::move(input));
  }
  if (!are_needed) bench.inputs.clear();
}

// Names that the journal does not speak of yet may have been lost.
void open_beside(Workbench& bench) {
  io::NamedStorage& storage = bench.storage;
  open_inputs(bench);
  bool has_new = false;
  const auto open = [&](const std::string& path, io::Role role, bool is_known) {
    if (is_known || storage.exists(path)) return storage.open_named(path, role, direct);
    has_new = true;
    return storage.create_named(path, role, direct);
  };
  for (std::uint64_t run = 0; run < bench.layout.runs(); ++run)
    bench.files.runs.push_back(open(bench.paths.run(run), io::Role::run, run < bench.done.size()));
  bench.files.output = open(bench.paths.output, io::Role::output, bench.state.has_value());
  if (has_new) storage.sync_directory(bench.paths.directory);
}

// Returns those of the result that are durable: where its last unit is kept in the journal, that does not count.
std::uint64_t durable_result_bytes(const Workbench& bench, bool into_input) {
  const Layout& layout = bench.layout;
  if (!bench.state) return into_input ? layout.input_length(layout.records_left(bench.done.size())) : 0;
  const std::uint64_t bytes = bench.state->records * layout.record_size;
  return bench.state->tail.empty() ? round_up(bytes, layout.unit) : round_down(bytes, layout.unit);
}

// Between the first phase's steps the input has one length for each run that is done; a crash may bring an earlier one back.
void check_input_length(Workbench& bench) {
  if (bench.takes_what_is_there) return;
  const Layout& layout = bench.layout;
  const std::uint64_t present = bench.storage.state(*bench.files.input).size_bytes;
  for (std::uint64_t run = 0; run <= bench.done.size(); ++run)
    if (present == layout.input_length(layout.records_left(run))) return;
  throw DamagedRun(fmt::format("'{}' has {} bytes, which no step of this job leaves: it was written to, or cut, by somebody else",
                               bench.files.input->path(), present));
}

// Calls `bring(file, bytes)` with every run and the result.
template <class Bring>
void for_each_length(Workbench& bench, bool into_input, const Bring& bring) {
  for (std::uint64_t run = 0; run < bench.layout.runs(); ++run) bring(*bench.files.runs[run], bench.durable_run_bytes(run));
  bring(into_input ? *bench.files.input : *bench.files.output, durable_result_bytes(bench, into_input));
}

}  // namespace

Task<void> open_files(Workbench& bench, bool into_input) {
  const Layout& layout = bench.layout;
  const bool is_in_place = bench.header.is_in_place();
  // Only what is being put back into the input lets it grow again.
  const bool grows = into_input && bench.state && bench.state->kind == State::Kind::abandoning;
  co_await open_journal(bench);
  if (is_in_place)
    open_in_place(bench, into_input);
  else
    open_beside(bench);
  for_each_length(bench, into_input, [&](io::File& file, std::uint64_t bytes) { check_length(bench, file, bytes); });
  if (is_in_place && !grows) check_input_length(bench);
  if (bench.state) co_await recheck(bench, into_input ? *bench.files.input : *bench.files.output, into_input);
  for_each_length(bench, into_input, [&](io::File& file, std::uint64_t bytes) { cut(bench, file, bytes); });
  if (is_in_place && !grows) cut(bench, *bench.files.input, layout.input_length(layout.records_left(bench.done.size())));
  if (into_input) cut(bench, *bench.files.output, 0);
}

}  // namespace ecosort::demsort_inplace
