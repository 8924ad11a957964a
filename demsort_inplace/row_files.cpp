#include "demsort_inplace/row_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/take_file.h"

namespace ecosort::demsort_inplace {

namespace {

// Returns whether runs hold all of FILE.
bool is_read(const LinesBench& bench) {
  return bench.is_formed() || bytes_before(bench.header.inputs, bench.next_place()) == bench.header.inputs.front().size_bytes;
}

// Holes change the time of FILE, but not its size; when all is in runs it may be cut to nothing. As long as no run is known, it
// is what it was.
void check_input(const LinesBench& bench, const io::FileState& now) {
  const InputIdentity& then = bench.header.inputs.front();
  const bool has_length = now.size_bytes == then.size_bytes || (is_read(bench) && now.size_bytes == 0);
  if (!has_length)
    throw DamagedRun(
        fmt::format("'{}' has {} bytes, which no step of this job leaves: it was written to, or cut, by somebody else",
                    bench.paths.input, now.size_bytes));
  if (bench.done.empty() && now.modified_ns != then.modified_ns)
    throw IoError(
        fmt::format("'{}' was written to by somebody else since the job began; to have it back as it is: ecosort resume "
                    "--abandon {}",
                    bench.paths.input, bench.paths.file));
}

void open_in_place(LinesBench& bench) {
  bench.files.spare = open_or_create(bench, bench.paths.spare, io::Role::run, io::Caching::buffered);
  engine::rows::LineInput input;
  input.name = bench.paths.file;
  input.file = open_input_in_place(bench, io::Role::input, !is_read(bench));
  input.opened = bench.storage.state(*input.file);
  check_input(bench, input.opened);
  bench.job.inputs.clear();
  bench.job.inputs.push_back(std::move(input));
}

// Once every line is in a run, an input that is gone is not missed; another one under its name would be taken for the one that
// was sorted.
void open_inputs(LinesBench& bench) {
  bench.job.inputs.clear();
  for (const InputIdentity& then : bench.header.inputs) {
    if (bench.is_formed() && !bench.storage.exists(then.path)) continue;
    engine::rows::LineInput input;
    input.name = then.path;
    input.open(bench.storage);
    check_same_input(input.opened, then, bench.paths);
    bench.job.inputs.push_back(std::move(input));
  }
  if (bench.is_formed()) bench.job.inputs.clear();
}

// The runs that there are, the header's among them.
std::vector<std::uint64_t> known_runs(const LinesBench& bench) {
  std::vector<std::uint64_t> known = bench.live_runs();
  if (bench.header_run() != nullptr) known.push_back(0);
  return known;
}

std::uint64_t durable_bytes(const LinesBench& bench) {
  return bench.state ? round_up(bench.state->lines->bytes, bench.unit()) : 0;
}

void open_output(LinesBench& bench) {
  const std::string& path = bench.paths.output;
  const bool is_new = !bench.state && !bench.storage.exists(path);
  bench.files.output =
      is_new ? bench.storage.create_named(path, io::Role::output, direct) : open_file_of_job(bench, path, io::Role::output, true);
  if (is_new) bench.storage.sync_directory(bench.paths.directory);
  check_length(bench, *bench.files.output, durable_bytes(bench));
}

}  // namespace

std::uint64_t most_output_bytes(const JobHeader& header) noexcept {
  std::uint64_t bytes = header.inputs.size();
  for (const InputIdentity& input : header.inputs) bytes += input.size_bytes;
  return bytes;
}

Task<void> create_row_files(LinesBench& bench) {
  co_await create_journal(bench);
  if (bench.header.is_in_place()) {
    const engine::rows::LineInput& input = bench.job.inputs.front();
    const std::uint64_t bytes = bench.header.inputs.front().size_bytes;
    co_await take_space(bench, bench.header.lines->total_bytes - round_up(bytes, bench.unit()));
    take_file(bench, *input.file, input.opened, bytes);
    co_return;
  }
  bench.files.output = bench.storage.create_named(bench.paths.output, io::Role::output, direct);
  sync_names(bench);
  co_await reserve_output(bench);
}

Task<void> open_row_files(LinesBench& bench) {
  co_await open_journal(bench);
  if (bench.header.is_in_place())
    open_in_place(bench);
  else
    open_inputs(bench);
  for (const std::uint64_t run : known_runs(bench)) {
    io::FilePtr file = open_file_of_job(bench, bench.paths.run(run), io::Role::run, true);
    check_length(bench, *file, bench.file_bytes_of(run));
    bench.storage.close(std::move(file));
  }
  open_output(bench);
}

Task<void> cut_row_files(LinesBench& bench) {
  remove_other_runs(bench, known_runs(bench));
  cut(bench, *bench.files.output, durable_bytes(bench));
  co_await reserve_output(bench);
}

Task<void> reserve_output(LinesBench& bench) {
  if (bench.header.is_in_place()) co_return;
  const std::uint64_t from = bench.storage.state(*bench.files.output).size_bytes;  // XFS wants space free to reserve it twice
  const std::uint64_t bytes = round_up(most_output_bytes(bench.header), bench.unit());
  if (from < bytes) (void)co_await bench.reactor.reserve(*bench.files.output, from, bytes - from);
}

void give_up_input(LinesBench& bench) {
  for (io::File* const file : {bench.job.inputs.front().file.get(), bench.files.spare.get()})
    if (bench.storage.state(*file).size_bytes > 0) bench.storage.set_size(*file, 0);
}

}  // namespace ecosort::demsort_inplace
