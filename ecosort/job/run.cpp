#include "job/run.h"

#include <atomic>
#include <memory>
#include <utility>

#include "base/threads.h"
#include "engine/fixed/sort.h"
#include "engine/rows/lines_sort.h"
#include "io/backends.h"
#include "io/reactor.h"

namespace ecosort::job {

namespace {

constexpr int stop_requested = -1;  // in place of a signal's number

class Listener : public engine::ProgressListener {
 public:
  explicit Listener(Observer* observer) : observer_(observer) {}
  void begin_phase(engine::Phase phase, std::uint64_t total_bytes) override {
    if (observer_ != nullptr) observer_->begin_phase(engine::to_string(phase), total_bytes);
  }
  void moved(std::uint64_t bytes) override {
    if (observer_ != nullptr) observer_->progress(bytes);
  }

 private:
  Observer* observer_;
};

// Members outlive those below them.
template <class Prepared>
struct Bench {
  Bench(Prepared what, io::Backend with, std::unique_ptr<io::Storage> in, const Attendance& attendance)
      : prepared(std::move(what)),
        backend(std::move(with)),
        storage(std::move(in)),
        listener(attendance.observer),
        progress(&listener),
        log("") {}

  Prepared prepared;
  io::Backend backend;
  std::unique_ptr<io::Storage> storage;
  Listener listener;
  engine::Progress progress;
  engine::PhaseLog log;
  std::atomic<int> interrupted = 0;
};

template <class Prepared, class Work>
auto work_on(std::unique_ptr<Bench<Prepared>> bench, const Attendance& attendance, const Work& work) {
  try {
    return engine::keep_where_queue_breaks(std::move(bench), [&](Bench<Prepared>& on) {
      const std::stop_callback stop(attendance.stop, [&on] {
        on.interrupted = stop_requested;
        on.backend.queue->notify();
      });
      return work(on.prepared.job, {*on.storage, *on.backend.queue, on.progress, on.log, on.interrupted});
    });
  } catch (const io::QueueBroken& broken) {
    throw IoError(broken);
  }
}

void add_notice(Report& report, const std::string& notice) {
  if (!notice.empty()) report.notices.push_back(notice);
}

void take(Report& report, const engine::WorkReport& done) {
  report.records = done.records;
  report.dropped = done.dropped;
  report.input_bytes = done.input_bytes;
  report.output_bytes = done.output_bytes;
  report.runs = done.runs;
  report.bytes_read = done.traffic.bytes_read;
  report.bytes_written = done.traffic.bytes_written;
  report.peak_temp_bytes = done.peak_temp_bytes;
  report.peak_memory_bytes = done.peak_memory_bytes;
  report.hash = done.hash.to_hex();
  for (const std::string& notice : done.notices) add_notice(report, notice);
}

}  // namespace

unsigned queue_depth(const planner::Plan& plan) noexcept { return plan.read_depth + plan.write_depth + 4; }

Report run_records(PreparedRecords prepared, const std::string& io, std::unique_ptr<io::Storage> storage,
                   const Attendance& attendance) {
  const unsigned depth = queue_depth(prepared.job.plan);
  auto bench = std::make_unique<Bench<PreparedRecords>>(std::move(prepared), io::make_queue(io::parse_backend(io), depth),
                                                        std::move(storage), attendance);
  Report report;
  for (const std::string& notice : bench->prepared.notices) add_notice(report, notice);
  add_notice(report, bench->backend.notice);
  const engine::SortReport done = work_on(std::move(bench), attendance, engine::sort);
  take(report, done);
  report.runs = done.plan.merge.stored_runs;
  return report;
}

Report run_lines(PreparedLines prepared, const std::string& io, std::unique_ptr<io::Storage> storage,
                 const Attendance& attendance) {
  io::Backend backend = make_row_queue(io, prepared);
  const bool top_counts = prepared.job.format->kind() == rows::Kind::lines;  // a header of CSV is no row
  auto bench = std::make_unique<Bench<PreparedLines>>(std::move(prepared), std::move(backend), std::move(storage), attendance);
  Report report;
  add_notice(report, bench->backend.notice);
  const lines::LinesReport done = work_on(std::move(bench), attendance, lines::sort_lines);
  take(report, done);
  report.records -= done.blank_lines + (top_counts ? 0 : done.top_lines);
  report.blank_lines = done.blank_lines;
  for (const rows::KeyCounts& counts : done.key_counts) report.keys.push_back({counts.empty, counts.unparsable});
  return report;
}

}  // namespace ecosort::job
