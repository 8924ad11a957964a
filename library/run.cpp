#include "library/run.h"

#include <atomic>
#include <utility>

#include "base/errors.h"

namespace ecosort::library {

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
struct Bench {
  Bench(io::Backend with, std::unique_ptr<io::PosixStorage> in, Work what, Observer* observer)
      : backend(std::move(with)),
        storage(std::move(in)),
        work(std::move(what)),
        listener(observer),
        progress(&listener),
        log("") {}

  io::Backend backend;
  std::unique_ptr<io::PosixStorage> storage;
  Work work;
  Listener listener;
  engine::Progress progress;
  engine::PhaseLog log;
  std::atomic<int> interrupted = 0;
};

void add_notice(Report& report, const std::string& notice) {
  if (!notice.empty()) report.notices.push_back(notice);
}

Report taken_from(const engine::WorkReport& done) {
  Report report;
  report.records = done.records;
  report.dropped = done.dropped;
  report.counted = done.counted;
  report.beyond_limit = done.beyond;
  report.input_bytes = done.input_bytes;
  report.output_bytes = done.output_bytes;
  report.runs = done.runs;
  report.bytes_read = done.traffic.bytes_read;
  report.bytes_written = done.traffic.bytes_written;
  report.peak_temp_bytes = done.peak_temp_bytes;
  report.peak_memory_bytes = done.peak_memory_bytes;
  report.hash = done.hash.to_hex();
  for (const std::string& notice : done.notices) add_notice(report, notice);
  return report;
}

}  // namespace

Report run(Work work, io::Backend backend, std::unique_ptr<io::PosixStorage> storage, const Attendance& attendance) {
  auto bench = std::make_unique<Bench>(std::move(backend), std::move(storage), std::move(work), attendance.observer);
  const std::string notice = bench->backend.notice;
  try {
    Report report = engine::keep_where_queue_breaks(std::move(bench), [&](Bench& on) {
      const std::stop_callback stop(attendance.stop, [&on] {
        on.interrupted = stop_requested;
        on.backend.queue->notify();
      });
      return on.work({*on.storage, *on.backend.queue, on.progress, on.log, on.interrupted});
    });
    add_notice(report, notice);
    return report;
  } catch (const io::QueueBroken& broken) {
    throw IoError(broken);
  }
}

Report report_of(const engine::fixed::SortReport& done) {
  Report report = taken_from(done);
  report.runs = done.plan.merge.stored_runs;
  return report;
}

Report report_of(const engine::rows::LinesReport& done) {
  Report report = taken_from(done);
  report.records -= done.blank_lines + done.comments + done.top_lines;
  report.blank_lines = done.blank_lines;
  report.comments = done.comments;
  report.bad_rows = done.bad_rows;
  for (const formats::KeyCounts& counts : done.key_counts)
    report.keys.push_back({counts.empty, counts.unparsable, counts.repeated});
  return report;
}

}  // namespace ecosort::library
