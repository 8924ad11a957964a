#include "demsort_inplace/keep_runs.h"

#include <fmt/format.h>

#include <vector>

#include "base/errors.h"
#include "demsort_inplace/adopt_runs.h"
#include "demsort_inplace/describe_run.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/kept_keys.h"
#include "demsort_inplace/key_windows.h"

namespace ecosort::demsort_inplace {

KeepRuns::KeepRuns(Workbench& bench)
    : bench_(bench), is_in_place_(bench.header.is_in_place()), first_(bench.done.size()), kept_(bench.reactor.scope()) {
  if (is_in_place_) input_state_ = bench.storage.state(*bench.inputs.front().file);
}

// In place one run at a time may take space; what it needs besides that of the piece before comes from the spare file.
Task<void> KeepRuns::before_store(std::size_t part) {
  if (!is_in_place_) co_return;
  const std::size_t run = first_ + part;
  while (bench_.done.size() < run) co_await kept_.changed();
  io::File& spare_file = *bench_.files.spare;
  if (const std::uint64_t spare = bench_.layout.spare_bytes(run); bench_.storage.state(spare_file).size_bytes > spare)
    bench_.storage.set_size(spare_file, spare);
  const io::File& file = bench_.store->run(bench_.numbers[run]).file();
  if (!co_await bench_.reactor.reserve(file, 0, bench_.layout.run_file_bytes(run, 0)))
    throw IoError(fmt::format("cannot reserve space in '{}', although that was possible before", file.path()));
}

Task<void> KeepRuns::after_store(std::size_t part, engine::fixed::Tally read, engine::fixed::Tally written) {
  const std::size_t run = first_ + part;
  check_run(run, read, written);
  co_await make_durable(run, read);
  while (bench_.done.size() < run) co_await kept_.changed();
  check_inputs();
  const RunDone done{run, read, bench_.store->packed_bytes(bench_.numbers[run])};
  co_await bench_.journal->append(done);
  if (is_in_place_) {
    check_inputs();
    io::File& input = *bench_.inputs.front().file;
    bench_.storage.set_size(input, bench_.layout.input_length(bench_.layout.records_left(run + 1)));
    input_state_ = bench_.storage.state(input);
  }
  bench_.done.push_back(done);
  if (bench_.layout.packs) co_await reserve_output_room(bench_);
  kept_.notify();
  if (const int signal_number = bench_.interrupted.load(); signal_number != 0) throw Interrupted(signal_number);
}

void KeepRuns::check_inputs() const {
  if (is_in_place_) return check_same_file(bench_.storage, *bench_.inputs.front().file, input_state_);
  for (std::size_t i = 0; i < bench_.inputs.size(); ++i)
    check_same_input(bench_.storage.state(*bench_.inputs[i].file), bench_.header.inputs[i], bench_.paths);
}

// The piece that was read and the run that was written must hold the same records.
void KeepRuns::check_run(std::size_t run, const engine::fixed::Tally& read, const engine::fixed::Tally& written) const {
  if (read.hash == written.hash && read.hash.count == bench_.layout.run_records(run)) return;
  throw VerificationError(
      fmt::format("verification failed: {} records with hash {} were read as piece {}, {} with hash {} were "
                  "written as run; the piece is still in the input",
                  read.hash.count, read.hash.to_hex(), run, written.hash.count, written.hash.to_hex()));
}

// Writes its description, too, where there is room for it.
Task<void> KeepRuns::make_durable(std::size_t run, const engine::fixed::Tally& tally) {
  const std::size_t number = bench_.numbers[run];
  if (bench_.layout.head_bytes > 0) {
    run::Description description = describe(bench_.header, run, tally.hash);
    run::Forecast& forecast = bench_.store->forecast();
    if (bench_.layout.key_stride == bench_.plan.forecast_stride) {
      description.kept = encode_keys(bench_.header, run, forecast.unshared_keys(number, bench_.encoder));
      if (bench_.key_windows)
        bench_.key_windows->keep(number, run, {description.kept.data(), forecast.keys(number).size() * kept_key_bytes}, 0);
    }
    co_await bench_.store->write_description(number, std::move(description));
    forecast.keep_window(number);
  }
  co_await bench_.reactor.sync(bench_.store->run(number).file());
}

Task<void> form_runs(Workbench& bench) {
  const Layout& layout = bench.layout;
  const std::uint64_t bytes = bench.formation_bytes(bench.done.size());
  bench.begin("run_formation", engine::Phase::run_formation, bytes, bytes);
  co_await adopt_runs(bench);
  std::vector<engine::fixed::RunPart> parts;
  for (std::uint64_t run = bench.done.size(); run < layout.runs(); ++run)
    parts.push_back({layout.records_left(run + 1), layout.run_records(run), bench.numbers[run]});
  {
    KeepRuns keeper(bench);
    engine::fixed::ReadAhead reader(bench, bench.plan, bench.encoder, bench.inputs);
    engine::fixed::FormRuns former({bench, bench.encoder, *bench.store}, bench.plan, reader, bench.packer.get());
    co_await former.form_parts(parts, keeper);
  }
  bench.end();
}

Task<void> reserve_output_room(Workbench& bench) {
  const Layout& layout = bench.layout;
  std::uint64_t run_bytes = layout.cut_units_bytes();
  for (std::uint64_t run = 0; run < layout.runs(); ++run)
    run_bytes += run < bench.done.size() ? bench.durable_run_bytes(run) : layout.run_file_bytes(run, 0);
  const std::uint64_t room = layout.output_room(run_bytes), before = bench.output_room;
  if (room <= before) co_return;
  bench.output_room = room;
  (void)co_await bench.reactor.reserve(*bench.files.output, before, room - before);
}

}  // namespace ecosort::demsort_inplace
