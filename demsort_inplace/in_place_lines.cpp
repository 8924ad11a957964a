#include "demsort_inplace/in_place_lines.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/put_back_lines.h"
#include "demsort_inplace/take_file.h"

namespace ecosort::inplace {

namespace {

// Holes change its time, but not its size; when all is in runs it may be cut to nothing. As long as no run is known, it is what
// it was.
void check_input(const LinesBench& bench, const io::FileState& now) {
  const InputIdentity& then = bench.header.inputs.front();
  const bool is_read = bytes_before(bench.header.inputs, bench.next_place()) == then.size_bytes;
  const bool has_length = now.size_bytes == then.size_bytes || (is_read && now.size_bytes == 0);
  if (!has_length)
    throw IoError(fmt::format("'{}' has {} bytes, which no step of this job leaves: it was written to, or cut, by somebody else",
                              bench.paths.input, now.size_bytes));
  if (bench.done.empty() && now.modified_ns != then.modified_ns)
    throw IoError(
        fmt::format("'{}' was written to by somebody else since the job began; to have it back as it is: ecosort resume "
                    "--abandon {}",
                    bench.paths.input, bench.paths.file));
}

}  // namespace

Task<void> prepare_in_place(LinesBench& bench) {
  const lines::LineInput& input = bench.job.inputs.front();
  const InputIdentity& then = bench.header.inputs.front();
  co_await create_journal(bench);
  co_await take_space(bench, bench.header.lines->total_bytes - round_up(then.size_bytes, bench.unit()));
  take_file(bench, *input.file, input.opened, then.size_bytes);
}

void open_in_place(LinesBench& bench) {
  bench.files.spare = bench.storage.open_named(bench.paths.spare, io::Role::run, io::Caching::buffered);
  lines::LineInput input;
  input.name = bench.paths.file;
  input.file = bench.storage.open_named(bench.paths.input, io::Role::input, direct);
  input.opened = bench.storage.state(*input.file);
  check_input(bench, input.opened);
  bench.job.inputs.clear();
  bench.job.inputs.push_back(std::move(input));
}

void give_up_input(LinesBench& bench) {
  for (io::File* const file : {bench.job.inputs.front().file.get(), bench.files.spare.get()})
    if (bench.storage.state(*file).size_bytes > 0) bench.storage.set_size(*file, 0);
}

Task<void> give_back_file(JobBench& bench) {
  if (!bench.done.empty()) co_return co_await put_back_lines(bench);
  co_await open_journal(bench);
  co_await bench.journal->append(State{.kind = State::Kind::abandoned});
}

}  // namespace ecosort::inplace
