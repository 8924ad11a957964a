#include "demsort_inplace/job_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "demsort_inplace/line_runs.h"
#include "io/reactor.h"

namespace ecosort::demsort_inplace {

namespace {

[[noreturn]] void does_not_fit(const JobPaths& paths, std::string_view what) {
  throw IoError(fmt::format("'{}' cannot be resumed: {}; nothing was changed", paths.directory, what));
}

constexpr const char* missing_journal = "its journal is missing or damaged";

class JournalReader {
 public:
  JournalReader(const io::File& file, io::Queue& queue, bool goes_on)
      : reactor_(queue, 1, 1), journal_(reactor_, file), goes_on_(goes_on), group_(reactor_.scope()) {}

  std::optional<JournalContents> run() {
    const std::atomic<int> nothing = 0;
    group_.spawn(read());
    reactor_.run(group_, nothing);
    return std::move(contents_);
  }

 private:
  Task<void> read() {
    if (goes_on_)
      contents_ = co_await journal_.open();
    else
      contents_ = co_await journal_.look();
  }

  io::Reactor reactor_;
  Journal journal_;
  const bool goes_on_;
  TaskGroup group_;
  std::optional<JournalContents> contents_;
};

std::optional<JournalContents> read_journal(const io::File& file, io::Queue& queue, bool goes_on) {
  auto reader = std::make_unique<JournalReader>(file, queue, goes_on);
  try {
    return reader->run();
  } catch (const io::QueueBroken&) {
    (void)reader.release();  // the system may still write to its buffers
    throw;
  }
}

// Checks a job of lines.
void check_line_runs(const JobPaths& paths, const JournalContents& contents) {
  constexpr const char* contradicts = "its journal contradicts itself";
  for (const RunDone& done : contents.runs)
    if (!done.lines || (done.lines->is_header && done.run != 0)) does_not_fit(paths, contradicts);
  const std::vector<std::uint64_t> live = live_runs(contents.runs);
  if (!contents.state || contents.state->kind == State::Kind::abandoned) return;
  const State& state = *contents.state;
  if (!state.lines || (!state.consumed.empty() && state.consumed.size() != live.size())) does_not_fit(paths, contradicts);
  if (state.lines->last_row > state.lines->bytes) does_not_fit(paths, contradicts);
  for (std::size_t i = 0; i < state.consumed.size(); ++i)
    if (state.consumed[i] > contents.runs[live[i]].lines->bytes) does_not_fit(paths, contradicts);
}

void check_state(const JobPaths& paths, const JournalContents& contents) {
  for (const RunDone& done : contents.runs)
    if (done.packed_bytes > 0 && !contents.header.layout.packs) does_not_fit(paths, "its journal contradicts itself");
  if (contents.header.lines) return check_line_runs(paths, contents);
  const Layout& layout = contents.header.layout;
  for (const RunDone& done : contents.runs)
    if (done.packed_bytes > layout.plain_run_bytes(done.run)) does_not_fit(paths, "its journal contradicts itself");
  for (const RunDone& done : contents.runs)
    if (done.tally.hash.count != layout.run_records(done.run)) does_not_fit(paths, "a run in its journal has another length");
  if (!contents.state) return;
  const State& state = *contents.state;
  const bool needs_all_runs = state.kind == State::Kind::merging || state.kind == State::Kind::merged;
  if (state.consumed.size() != layout.runs() || state.records > layout.records || state.tail.size() >= layout.unit ||
      (needs_all_runs && contents.runs.size() != layout.runs()))
    does_not_fit(paths, "its journal contradicts itself");
  for (std::uint64_t run = 0; run < layout.runs(); ++run)
    if (state.consumed[run] > layout.run_records(run)) does_not_fit(paths, "its journal contradicts itself");
}

bool is_complete(const JournalContents& contents) {
  return contents.state && (contents.state->kind == State::Kind::merged || contents.state->kind == State::Kind::abandoned);
}

bool has_begun(const std::optional<JournalContents>& contents) {
  return contents && (!contents->runs.empty() || contents->state);
}

}  // namespace

bool JobStatus::is_of(JobHeader::Kind job_kind) const noexcept { return contents && contents->header.kind == job_kind; }

bool JobStatus::is_abandoned() const noexcept {
  return contents && contents->state &&
         (contents->state->kind == State::Kind::abandoning || contents->state->kind == State::Kind::abandoned);
}

std::uint64_t JobStatus::records_formed() const noexcept {
  std::uint64_t records = 0;
  if (contents)
    for (const RunDone& done : contents->runs) records += done.lines && done.lines->merged > 0 ? 0 : done.tally.hash.count;
  return records;
}

std::uint64_t JobStatus::records_merged() const noexcept { return contents && contents->state ? contents->state->records : 0; }

namespace {

// Judges what the names and the journal say together; FILE beside an in-place job is left to the caller.
void judge(JobStatus& status, const Names& names, const JobPaths& paths, io::NamedStorage& storage) {
  if (status.contents) check_state(paths, *status.contents);
  if (status.contents && is_complete(*status.contents)) {
    status.kind = JobStatus::Kind::complete;
  } else if (status.contents && !status.contents->header.is_in_place()) {
    status.kind = JobStatus::Kind::under_way;
  } else if (names.has_input || has_begun(status.contents)) {
    // Runs that hold all of the input do without it; what opens it otherwise says how the rest is given back.
    if (!status.contents) does_not_fit(paths, missing_journal);
    status.has_other_file = names.has_file;
    status.kind = JobStatus::Kind::under_way;
  } else {
    // A job that only reads its inputs may begin where there is no FILE; its journal is durable before anything is in its runs.
    const bool has_nothing = !status.contents && !holds_records(storage, paths);
    if (!has_nothing && !names.has_file && status.contents)
      does_not_fit(paths, fmt::format("its input is missing, and no run holds any of it: put the file back as '{}', or remove "
                                      "this directory",
                                      paths.file));
    if (!has_nothing && !names.has_file) does_not_fit(paths, missing_journal);
    status.kind = JobStatus::Kind::not_begun;
  }
}

// Reads what is there. `goes_on`: the caller works on the job then, and has locked its directory.
JobStatus read_job(JobStatus status, const JobPaths& paths, io::NamedStorage& storage, io::Queue& queue, bool goes_on) {
  const Names names = look(storage, paths);
  if (names.has_trace && names.is_empty) status.kind = JobStatus::Kind::removed;
  if (!names.has_job || status.kind == JobStatus::Kind::removed) return status;
  if (names.has_journal) {
    status.journal = goes_on ? storage.open_named(paths.journal, io::Role::journal, io::Caching::direct_if_possible)
                             : storage.open_input(paths.journal, io::Caching::direct_if_possible);
    if (goes_on) lock_journal(*status.journal, paths);
    status.contents = read_journal(*status.journal, queue, goes_on);
  }
  judge(status, names, paths, storage);
  return status;
}

void check_trust_everywhere(io::NamedStorage& storage, const JobPaths& paths, const io::File* directory, const Trust& trust) {
  if (directory == nullptr) return check_trust_in_trace(paths, trust);
  check_trust(storage, paths, *directory, trust);
  if (directory->fd() >= 0) check_trust_in_trace(paths, trust);
}

}  // namespace

JobStatus examine(const std::string& path, io::NamedStorage& storage, io::Queue& queue, const Trust& trust) {
  const JobPaths paths(path);
  JobStatus status;
  status.directory = lock_directory(storage, paths);
  check_trust_everywhere(storage, paths, status.directory.get(), trust);
  status = read_job(std::move(status), paths, storage, queue, true);
  if (status.has_other_file)
    throw JobRefused(
        fmt::format("'{}' exists beside the job that holds its contents; move it away, then run: ecosort resume {}", path, path));
  return status;
}

// Looks again for a moment: what another process writes meanwhile may look like anything.
JobStatus look_at_job(const std::string& path, io::NamedStorage& storage, io::Queue& queue, const Trust& trust) {
  constexpr int attempts = 10;
  const JobPaths paths(path);
  const io::FilePtr directory = open_directory(storage, paths);
  check_trust_everywhere(storage, paths, directory.get(), trust);
  const bool is_busy = directory && is_locked_by_another(*directory);
  for (int i = 1; is_busy && i < attempts; ++i) {
    try {
      JobStatus status = read_job({}, paths, storage, queue, false);
      status.is_busy = true;
      return status;
    } catch (const Error&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  JobStatus status = read_job({}, paths, storage, queue, false);
  status.is_busy = is_busy;
  return status;
}

bool can_read(const planner::PackingPlan& packing, const codec::RunCompression& compression) noexcept {
  return packing.coders > 0 && packing.wanted.terms == compression.terms;
}

namespace {

// Reads the blocks of which the runs keep the keys, although with more memory they could be larger. The forecast is larger then;
// nothing where it is too large.
std::optional<planner::RecordPlan> with_kept_keys(planner::RecordPlan plan, const Layout& layout) {
  if (layout.key_stride == 0 || plan.forecast_stride <= layout.key_stride) return plan;
  if (plan.forecast_window == 0) plan.forecast_bytes = plan.forecast_bytes / layout.key_stride * plan.forecast_stride;
  plan.forecast_stride = static_cast<std::uint32_t>(layout.key_stride);
  plan.merge.final.block_bytes = layout.key_stride * layout.run_block.bytes;
  const std::uint64_t buffers = std::max(plan.merge.final.memory_bytes(), plan.formation.memory_bytes());
  return buffers + plan.table_bytes() <= plan.wanted.memory_bytes ? std::optional(plan) : std::nullopt;
}

}  // namespace

planner::RecordPlan engine_plan(const JobHeader& header, std::uint64_t memory_bytes, unsigned threads) {
  const Layout& layout = header.layout;
  planner::Wanted wanted{.format = header.format,
                         .input_records = layout.records,
                         .several_inputs = header.inputs.size() > 1,
                         .memory_bytes = memory_bytes,
                         .threads = threads,
                         .input_alignment = layout.unit};
  if (layout.packs) wanted.compression = header.compression;
  wanted.assumed_ratio = layout.assumed_ratio;
  // Runs may be there already that other coders could not read.
  const auto try_plan = [&] {
    auto plan = planner::plan_equal_runs(wanted, equal_runs(layout, layout.key_stride > 0));
    const bool reads_runs = plan && (!layout.packs || can_read(plan->packing, header.compression));
    const bool reads_keys = plan && (plan->forecast_window == 0 || plan->forecast_stride >= layout.key_stride);
    return reads_runs && reads_keys ? plan : std::nullopt;
  };
  if (const auto plan = try_plan()) {
    if (const auto kept = with_kept_keys(*plan, layout)) return *kept;
    return memory_bytes > header.memory_bytes ? engine_plan(header, header.memory_bytes, threads) : *plan;
  }
  std::uint64_t enough = memory_bytes;
  do {
    const std::uint64_t more = enough + enough / 4;  // what the job began with is enough, and often the least
    enough = enough < header.memory_bytes ? std::min(more, header.memory_bytes) : more;
    wanted.memory_bytes = enough;
  } while (!try_plan());
  throw NotEnoughMemory(
      fmt::format("{} of memory is too little for this job, whose pieces are laid out", format_bytes(memory_bytes)), memory_bytes,
      enough);
}

std::string discard(const std::string& path, JobStatus status, io::NamedStorage& storage) {
  const JobPaths paths(path);
  if (status.kind == JobStatus::Kind::removed) {
    if (status.directory) {
      check_directory(storage, paths, *status.directory);
      return remove_last_traces(storage, paths);
    }
    remove_if_there(storage, paths.trace);
    storage.sync_directory(paths.parent);
    return {};
  }
  if (status.kind != JobStatus::Kind::not_begun) throw InternalError("a job that has begun is not to be discarded");
  status.journal.reset();
  return clean_up(storage, paths, *status.directory, {});
}

}  // namespace ecosort::demsort_inplace
