#include "demsort_inplace/job_end.h"

#include <fmt/format.h>

#include <utility>

namespace ecosort::inplace {

namespace {

// The result takes the owner, mode and attributes of what it replaces; in place that is the file itself, which has its name in
// the job directory by now. Only when all is written: a write takes some of them away, and a mode may keep its owner from
// writing.
void keep_attributes(JobBench& bench, io::File& result) {
  const bool is_in_place = bench.header.is_in_place();
  if (is_in_place && result.path() == bench.paths.input) return;  // it has them
  const std::string lost = bench.storage.adopt_attributes(result, is_in_place ? bench.paths.input : bench.paths.file);
  if (!lost.empty())
    bench.notices.push_back(
        fmt::format("could not keep of {}'{}': {}", is_in_place ? "" : "the replaced ", bench.paths.file, lost));
}

}  // namespace

Task<void> complete_result(JobBench& bench, io::File& result, State end, State::Kind kind) {
  keep_attributes(bench, result);
  bench.storage.sync(result);
  end.kind = kind;
  co_await bench.journal->append(end);
}

void tell_unreadable(JobBench& bench, const run::RunStore& store) {
  if (store.unreadable_bytes() > 0)
    bench.notices.push_back(fmt::format("{} bytes of the runs could not be read: zeros are in their place in '{}'",
                                        store.unreadable_bytes(), bench.paths.file));
}

// The result was synced, so that a failed close can lose nothing; but it is told.
void publish_and_clean_up(JobBench& bench, const std::string& result, bool is_sorted) {
  const bool is_in_place = bench.header.is_in_place();
  bench.log.begin("publish", bench.reactor.traffic());
  bench.progress.begin(engine::Phase::sync, 0);
  if (bench.is_complete && bench.storage.exists(result)) {  // whoever completed it had no time to tell what it could not keep
    const io::FilePtr file = bench.storage.open_named(result, io::Role::output, io::Caching::buffered);
    keep_attributes(bench, *file);
  }
  if (bench.files.output) bench.storage.close(std::move(bench.files.output));
  check_directory(bench.storage, bench.paths, *bench.files.directory);
  publish(bench.storage, bench.paths, result, is_in_place ? Previous::none : Previous::replaced);
  close_files(bench);
  bench.notices.push_back(
      clean_up(bench.storage, bench.paths, *bench.files.directory, {.with_input = is_in_place, .is_finished = is_sorted}));
  bench.end();
}

}  // namespace ecosort::inplace
