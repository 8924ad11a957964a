#include "demsort_inplace/take_file.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "demsort_inplace/input_identity.h"

namespace ecosort::demsort_inplace {

namespace {

const char* other_way(const JobBench& bench) { return bench.header.lines ? "ecosort lines -o" : "ecosort sort"; }

// A file that is given one unit takes no more: all lengths and the space bound count in these.
Task<void> check_unit(JobBench& bench) {
  io::File& file = *bench.files.output;
  const std::uint64_t unit = bench.header.layout.unit;
  (void)co_await bench.reactor.reserve(file, 0, unit);
  const std::uint64_t taken = bench.storage.state(file).allocated_bytes;
  bench.storage.set_size(file, 0);
  if (taken > unit)
    throw UsageError(fmt::format(
        "'{}' cannot be sorted in place: its file system gives out more space than is asked for ({} bytes instead of {}: "
        "clusters, or an extent size hint); use {}",
        bench.paths.file, taken, unit, other_way(bench)));
}

// A hole at the beginning of a file gives back what it took: lines in place count on that.
Task<void> check_holes(JobBench& bench) {
  io::File& file = *bench.files.output;
  const std::uint64_t unit = bench.header.layout.unit;
  (void)co_await bench.reactor.reserve(file, 0, 2 * unit);
  const std::uint64_t before = bench.storage.state(file).allocated_bytes;
  const bool is_made = co_await bench.reactor.release(file, 0, unit);
  const std::uint64_t after = bench.storage.state(file).allocated_bytes;
  bench.storage.set_size(file, 0);
  if (!is_made || after + unit > before)
    throw UsageError(
        fmt::format("'{}' cannot be sorted in place: its file system gives back no space from the beginning of a file; use {}",
                    bench.paths.file, other_way(bench)));
}

}  // namespace

Task<void> take_space(JobBench& bench, std::uint64_t spare_bytes) {
  JobFiles& files = bench.files;
  files.output = bench.storage.create_named(bench.paths.output, io::Role::output, io::Caching::direct_if_possible);
  co_await check_unit(bench);
  if (bench.header.lines) co_await check_holes(bench);
  files.spare = bench.storage.create_named(bench.paths.spare, io::Role::run, io::Caching::buffered);
  if (!co_await bench.reactor.reserve(*files.spare, 0, spare_bytes))
    throw UsageError(fmt::format("'{}' cannot be sorted in place: its file system cannot reserve the space; use {}",
                                 bench.paths.file, other_way(bench)));
  sync_names(bench);
}

// The file that had the name by then must be the one that was found fit.
void take_file(JobBench& bench, const io::File& file, const io::FileState& before, std::uint64_t size_bytes) {
  io::NamedStorage& storage = bench.storage;
  const io::FileState found = storage.state(file);
  if (!is_same_file(found, before) || found.size_bytes != size_bytes)
    throw IoError(fmt::format("'{}' is being written to; sort it when no one does", bench.paths.file));
  check_directory(storage, bench.paths, *bench.files.directory);
  storage.rename_new(bench.paths.file, bench.paths.input);
  const io::FilePtr taken = storage.open_named(bench.paths.input, io::Role::input, io::Caching::buffered);
  if (!is_same_file(storage.state(*taken), found)) {
    storage.rename_new(bench.paths.input, bench.paths.file);
    throw IoError(fmt::format("'{}' was replaced or written to just now; start again when no one does", bench.paths.file));
  }
}

void sync_names(JobBench& bench) {
  bench.storage.sync_directory(bench.paths.directory);
  bench.storage.sync_directory(bench.paths.parent);
}

}  // namespace ecosort::demsort_inplace
