#include "job/kept_run_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "io/read_at.h"
#include "run/described_block.h"

namespace ecosort::job {
namespace {

Buffer page_buffer(MemoryBudget& budget, std::uint64_t bytes) { return budget.allocate(bytes, "a part of a run", Pages::small); }

run::Description read_description(const io::File& file) {
  MemoryBudget budget(std::numeric_limits<std::uint64_t>::max());
  Buffer memory = page_buffer(budget, page_bytes);
  std::size_t there = io::read_at(file, 0, memory.data(), page_bytes);
  const std::uint64_t wanted = run::description_bytes({memory.data(), there}, file.path());
  if (wanted > there) {
    memory = page_buffer(budget, wanted);
    there = io::read_at(file, 0, memory.data(), memory.size());
  }
  return run::decode_description({memory.data(), there}, file.path());
}

void check_length(const KeptRun& run) {
  const std::uint64_t there = run.input.opened.size_bytes, whole = run.description().file_bytes();
  if (there >= whole) return;
  throw UsageError(
      fmt::format("the run '{}' has {} bytes of {}: its job has given up a part of it already, or it was cut off; continue with "
                  "the job (ecosort resume)",
                  run.name, there, whole));
}

void find_blocks(const KeptRun& run, run::Description& description) {
  constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20U;
  if (!description.is_packed()) return;
  if (run::places_bytes(description.blocks()) > most_bytes)
    throw UsageError(fmt::format(
        "the run '{}' has more compressed blocks than are merged without their job; continue with it (ecosort resume)",
        run.name));
  MemoryBudget budget(std::numeric_limits<std::uint64_t>::max());
  const Buffer memory = page_buffer(budget, run::places_bytes(description.blocks()));
  const std::size_t there = io::read_at(*run.input.file, description.places_at(), memory.data(), memory.size());
  run::take_places(description, run.name, {memory.data(), there});
}

KeptRun open_run(const std::string& name, io::Storage& storage) {
  KeptRun run{.name = name, .input = {}};
  try {
    run.input.file = storage.open_input(name, io::Caching::direct_if_possible);
  } catch (const IoError& error) {
    throw UsageError(error.what());  // nothing was begun: a bad argument, not a failing drive
  }
  if (run.input.file->facts().is_stream) throw UsageError(fmt::format("'{}' is a pipe or a device, and no run of a job", name));
  run.input.opened = storage.state(*run.input.file);
  run.input.run = read_description(*run.input.file);
  run.input.records = run.description().hash.count;
  check_length(run);
  find_blocks(run, *run.input.run);
  return run;
}

void check_alike(const KeptRun& a, const KeptRun& b) {
  const run::Description &x = a.description(), &y = b.description();
  if (x.format != y.format)
    throw UsageError(fmt::format("'{}' is a run of {}, and '{}' one of {}: they cannot be merged", a.name, name_of(x.format),
                                 b.name, name_of(y.format)));
  if (x.record_size != y.record_size)
    throw UsageError(fmt::format("'{}' holds records of {}, and '{}' of {}: they cannot be merged", a.name,
                                 format_bytes(x.record_size), b.name, format_bytes(y.record_size)));
  if (x.order != y.order)
    throw UsageError(fmt::format("'{}' and '{}' are sorted by different keys: they cannot be merged", a.name, b.name));
  if (x.first_row != y.first_row)
    throw UsageError(fmt::format("'{}' and '{}' have different columns: they cannot be merged", a.name, b.name));
  if (x.is_unique != y.is_unique)
    throw UsageError(fmt::format("'{}' and '{}' cannot be merged: one keeps all rows with equal keys, the other only the first",
                                 a.name, b.name));
}

[[noreturn]] void missing(const KeptRun& known, std::uint64_t place) {
  throw UsageError(
      fmt::format("run {} of the job of '{}' (counted from 1 in the order of its input) is missing: name all of them, or the "
                  "directory of the job",
                  place + 1, known.name));
}

// The runs of one job, in their order: each of its places once, unless `may_miss` some.
void check_places(const std::vector<KeptRun>& runs, std::size_t begin, std::size_t end, bool may_miss) {
  std::uint64_t place = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const run::Description& description = runs[i].description();
    if (description.position < place)
      throw UsageError(fmt::format("'{}' and '{}' hold the same records: name only one of them", runs[i - 1].name, runs[i].name));
    if (description.position > place && !may_miss) missing(runs[i], place);
    place = description.position + description.span;
  }
  const run::Description& last = runs[end - 1].description();
  if (last.of > place && !may_miss) missing(runs[end - 1], place);
}

// By their jobs, as these were named.
void put_in_order(std::vector<KeptRun>& runs, const UnfinishedJobs& unfinished) {
  std::vector<std::uint64_t> jobs;
  for (const KeptRun& run : runs)
    if (std::ranges::find(jobs, run.description().job) == jobs.end()) jobs.push_back(run.description().job);
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(std::ranges::find(jobs, runs[i].description().job), runs[i].description().position);
  });
  std::vector<KeptRun> ordered;
  ordered.reserve(runs.size());
  for (const std::size_t i : order) ordered.push_back(std::move(runs[i]));
  runs = std::move(ordered);
  for (std::size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    while (end < runs.size() && runs[end].description().job == runs[begin].description().job) ++end;
    check_places(runs, begin, end, std::ranges::find(unfinished, runs[begin].description().job) != unfinished.end());
  }
}

void check_headers(const KeptRunSet& set) {
  const auto is_header_of = [](const KeptRun& header, const KeptRun& run) {
    return header.description().job == run.description().job;
  };
  for (const KeptRun& run : set.runs)
    if (run.description().follows_header &&
        std::ranges::none_of(set.headers, [&](const KeptRun& header) { return is_header_of(header, run); }))
      throw UsageError(
          fmt::format("the rows that stay on top of '{}' are missing, the first run of its job: name it, too", run.name));
  for (const KeptRun& header : set.headers)
    if (!(header.description().hash == set.headers.front().description().hash))
      throw UsageError(fmt::format("the rows on top differ in '{}' and '{}'", set.headers.front().name, header.name));
}

}  // namespace

KeptRunSet open_kept_runs(const std::vector<std::string>& names, const UnfinishedJobs& unfinished, io::Storage& storage) {
  KeptRunSet set;
  const KeptRun* first = nullptr;
  set.runs.reserve(names.size());
  set.headers.reserve(names.size());
  for (const std::string& name : names) {
    KeptRun run = open_run(name, storage);
    if (first != nullptr) check_alike(*first, run);
    std::vector<KeptRun>& kind = run.description().is_header ? set.headers : set.runs;
    kind.push_back(std::move(run));
    if (first == nullptr) first = &kind.back();
  }
  if (!set.runs.empty()) put_in_order(set.runs, unfinished);
  check_headers(set);
  return set;
}

std::string read_header(const KeptRun& run, std::uint64_t most_bytes) {
  const run::Description& description = run.description();
  if (description.bytes > most_bytes)
    throw NotEnoughMemory(
        fmt::format("the rows on top of '{}' take {}, more than a 16th of the memory", run.name, format_bytes(description.bytes)),
        most_bytes * 16, description.bytes * 16);
  if (description.is_packed())
    throw UsageError(fmt::format("the rows on top of '{}' are compressed, which no job makes", run.name));
  MemoryBudget budget(std::numeric_limits<std::uint64_t>::max());
  const Buffer memory = page_buffer(budget, description.block_bytes);
  std::string text;
  for (std::uint64_t block = 0; block < description.blocks(); ++block) {
    (void)io::read_at(*run.input.file, description.place_of(block, 1), memory.data(), description.block_bytes);
    run::open_block(description, run.name, block, memory.data(), memory.data(), nullptr);
    text.append(reinterpret_cast<const char*>(memory.data()), description.used_bytes(block));
  }
  return text;
}

}  // namespace ecosort::job
