#include "demsort_inplace/keep_line_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/lines_in_place.h"
#include "demsort_inplace/lines_progress.h"
#include "demsort_inplace/merge_line_runs.h"

namespace ecosort::demsort_inplace {

namespace {

hash::MultisetHash difference(hash::MultisetHash all, const hash::MultisetHash& part) { return all -= part; }

std::vector<formats::KeyCounts> difference(std::vector<formats::KeyCounts> all, const std::vector<formats::KeyCounts>& part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    all[i].empty -= part[i].empty;
    all[i].unparsable -= part[i].unparsable;
    all[i].repeated -= part[i].repeated;
    all[i].absent -= part[i].absent;
  }
  return all;
}

// Returns how much of the text from `at` on belongs to a row that began before.
std::size_t carried_bytes(const std::string& text, std::size_t at, std::size_t size, const formats::RowFormat& format) {
  const char* const end = text.data() + text.size();
  const char* begin = text.data() + format.mark_bytes(text);
  for (formats::Inside inside; at > 0 && begin < text.data() + at;) {
    const char* const row_end = format.find_end(begin, end, inside);
    begin = row_end == nullptr ? end : row_end + 1;
  }
  return at == 0 ? 0 : std::min(static_cast<std::size_t>(begin - text.data()) - at, size);
}

Task<void> put_text(const std::string& text, const formats::RowFormat& format, engine::rows::LineSink& sink) {
  for (std::size_t done = 0; done < text.size();) {
    std::byte* const block = co_await sink.take();
    const std::size_t part = std::min(text.size() - done, sink.capacity());
    std::memcpy(block, text.data() + done, part);
    const std::size_t carried = carried_bytes(text, done, part, format);
    sink.complete(block, {static_cast<std::uint32_t>(part), static_cast<std::uint32_t>(carried)}, 0);
    sink.put(block, part);
    done += part;
  }
}

}  // namespace

KeepLineRuns::KeepLineRuns(LinesBench& bench, const engine::rows::FirstRows& header)
    : bench_(bench),
      header_(header),
      takes_header_(!bench.has_run()),
      runs_before_(bench.done.size()),
      repeated_before_(repeated_header(bench.done)),
      changed_(bench.reactor.scope()) {
  if (bench.header.is_in_place() && !bench.job.inputs.empty()) given_.emplace(bench);
}

Task<void> KeepLineRuns::begin() {
  if (given_) co_await given_->begin();
}

void KeepLineRuns::check_inputs() const {
  if (given_) return given_->check_unchanged();
  for (std::size_t i = 0; i < bench_.job.inputs.size(); ++i)
    check_same_input(bench_.storage.state(*bench_.job.inputs[i].file), bench_.header.inputs[i], bench_.paths);
}

// In place the space of long lines is bounded.
void KeepLineRuns::check_longest(const run::RowRun& run) const {
  const std::uint64_t most = longest_line_in_place(bench_.job.plan);
  if (!given_ || run.longest <= most) return;
  throw NotEnoughMemory(
      fmt::format("a line behind byte {} of '{}' has {} bytes, and with this memory up to {} can be sorted in place",
                  bytes_before(bench_.header.inputs, bench_.next_place()), bench_.paths.file, run.longest, most),
      bench_.memory.limit_bytes());
}

// Appends the run of a file that is durable, with its name.
Task<void> KeepLineRuns::append_run(RunDone run) {
  bench_.storage.sync_directory(bench_.paths.directory);
  check_inputs();
  co_await bench_.journal->append(run);
  if (given_) given_->check_unchanged();
  bench_.done.push_back(std::move(run));
  refine_progress(bench_);
  if (given_) co_await given_->give();
}

// It was read before a run was full.
bool KeepLineRuns::has_header() const { return takes_header_ ? !header_.top().empty() : bench_.header_run() != nullptr; }

std::uint64_t KeepLineRuns::number_in_job(std::size_t number) const {
  if (!takes_header_) return runs_before_ + number;
  return has_header() ? 1 + number : number;
}

Task<run::RowRun> KeepLineRuns::create(std::size_t number, std::uint64_t bytes) {
  while (given_ && kept_ < number) co_await changed_.changed();
  if (given_) given_->make_room(bytes);
  co_return bench_.create_run(number_in_job(number), bytes);
}

Task<void> KeepLineRuns::after_store(std::size_t number, const run::RowRun& run, const engine::rows::ReadSoFar& read,
                                     const hash::MultisetHash& written, const hash::MultisetHash& dropped) {
  RunDone done{.run = number_in_job(number), .tally = {.hash = written, .checksum = {}}};
  done.lines = LineRunDone{.bytes = run.bytes, .longest = run.longest, .next = read.next, .blank_lines = read.blank_lines};
  done.packed_bytes = bench_.run_files.packed_bytes(run.stored);
  co_await bench_.make_durable(run.stored, describe(bench_.row_job(has_header()), done, place_of_formed(done.run, has_header())));
  while (kept_ < number) co_await changed_.changed();
  if (number == 0 && takes_header_) co_await keep_header();
  const hash::MultisetHash seen = difference(read.seen, before_.seen);
  hash::MultisetHash expected = difference(difference(read.all, before_.all), seen + dropped);
  if (number == 0) expected -= header_.hash();
  if (expected != written)
    throw VerificationError(
        fmt::format("verification failed: {} {} with hash {} were read, {} with hash {} were written as run {}", expected.count,
                    bench_.header.lines->items(), expected.to_hex(), written.count, written.to_hex(), done.run));
  check_longest(run);
  done.lines->dropped = seen + dropped;
  done.lines->blank_lines -= before_.blank_lines;
  done.lines->key_counts = difference(read.key_counts, before_.key_counts);
  done.lines->repeated_header = repeated_before_;
  formats::add(done.lines->repeated_header, read.repeated_header);
  co_await append_run(done);
  before_ = read;
  ++kept_;
  changed_.notify();
  if (const int signal_number = bench_.interrupted.load(); signal_number != 0) throw Interrupted(signal_number);
}

// Once: a resumption before a run followed it finds it there.
Task<void> KeepLineRuns::keep_header() {
  const RunDone* const there = bench_.header_run();
  if (there != nullptr) {
    if (there->tally.hash == header_.hash()) co_return;
    throw VerificationError("verification failed: the header is not what it was when the sort began");
  }
  const std::string& text = header_.top();
  if (text.empty()) co_return;
  run::RowRun run = bench_.create_plain_run(0, text.size());
  engine::rows::RowRunSink sink(bench_.tools(bench_.job.plan), run);
  TaskGroup putting(bench_.reactor.scope());
  putting.spawn(put_text(text, bench_.format, sink));
  co_await putting.settle();
  co_await sink.settle();
  bench_.reactor.scope().throw_if_failed();
  co_await bench_.run_files.complete(run, sink.bytes());
  RunDone done{.run = 0, .tally = {.hash = header_.hash(), .checksum = {}}};
  done.lines = LineRunDone{.bytes = run.bytes, .longest = text.size(), .is_header = true};
  co_await bench_.make_durable(run.stored, describe(bench_.row_job(true), done, {}));
  bench_.run_files.close(run.stored);
  co_await append_run(done);
}

Task<void> KeepLineRuns::end(const engine::rows::ReadLines& read) {
  bench_.uncounted_blank_lines = read.blank_lines() - before_.blank_lines;
  if (kept_ == 0 && takes_header_) co_await keep_header();
  check_inputs();
}

namespace {

// Counts what earlier processes read, too.
void check_counts(const LinesBench& bench) {
  std::vector<formats::KeyCounts> counts;
  std::uint64_t rows = 0;
  for (const RunDone& run : bench.done) {
    if (run.lines->is_header || run.lines->merged > 0) continue;
    rows += run.tally.hash.count + run.lines->dropped.count - run.lines->blank_lines;
    formats::add(counts, run.lines->key_counts);
  }
  bench.format.check_counts(counts, rows);
}

}  // namespace

Task<void> form_line_runs(LinesBench& bench) {
  const std::uint64_t bytes = formation_bytes_left(bench);
  bench.begin("run_formation", engine::Phase::run_formation, bytes, bytes);
  {
    std::vector<lines::DuplicateFilter> seen;
    engine::rows::FirstRows header(bench.format, bench.job.header_bytes, bench.job.plan.memory_bytes);
    const bool has_header_of_lines = !bench.format.keys_need_first_row() && bench.header_run() != nullptr;
    if (has_header_of_lines && bench.has_run())
      header.compare_with(formats::shown_name(bench.header.inputs.front().path), co_await read_header(bench));
    const engine::rows::RowTools tools = bench.tools(bench.job.plan);
    engine::rows::ReadLines reader(tools, header, bench.job.inputs, seen);
    reader.set_look(bench.job.look);
    reader.begin_at(bench.next_place());
    engine::rows::FormLineRuns former(tools, reader, seen, bench.job.groups);
    if (bench.packer) former.tell_pace(*bench.packer, true);
    KeepLineRuns keeper(bench, header);
    co_await keeper.begin();
    std::vector<engine::rows::MergeInput> formed;  // opened again when they are merged
    co_await former.form(formed, &keeper);
    co_await keeper.end(reader);
  }
  check_counts(bench);
  bench.end();
  plan_progress(bench);
}

}  // namespace ecosort::demsort_inplace
