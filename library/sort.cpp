// The interface of the library: include/ecosort/ecosort.hpp.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/errors.h"
#include "base/json.h"
#include "ecosort/ecosort.hpp"
#include "job/benchmark_records.h"
#include "job/plan_json.h"
#include "job/prepare_records.h"
#include "job/prepare_rows.h"
#include "job/session.h"
#include "library/check_request.h"
#include "library/jobs.h"
#include "library/run.h"
#include "sortbenchmark/gensort.h"

namespace ecosort {

namespace {

job::PreparedLines prepare_rows(Request request, io::Storage& storage) {
  if (request.format() == Format::lines) job::choose_salt(request);
  return job::prepare_rows(request, storage, job::SpecialOutput::refused);
}

Plan plan_of_lines(const Request& request) {
  io::PosixStorage storage;
  const job::PreparedLines prepared = prepare_rows(request, storage);
  Plan plan;
  plan.memory_bytes = prepared.job.plan.memory_bytes + prepared.job.header_bytes;
  const std::uint64_t bytes = job::known_bytes(prepared.job.inputs);
  plan.shape = bytes <= prepared.job.plan.run_buffer_bytes ? "one pass" : "two passes or more";
  plan.temp_bytes = bytes <= prepared.job.plan.run_buffer_bytes ? 0 : bytes;
  return plan;
}

Plan plan_of_records(const Request& request) {
  io::PosixStorage storage;
  const planner::Plan found = job::prepare_records(request, storage).job.plan;
  Plan plan;
  plan.shape = planner::to_string(found.shape);
  plan.records = found.wanted.input_records;
  plan.runs = found.merge.stored_runs;
  plan.merge_passes = found.merge.passes;
  plan.bytes_read = found.bytes_read;
  plan.bytes_written = found.bytes_written;
  plan.temp_bytes = found.temp_bytes;
  plan.memory_bytes = found.peak_memory_bytes;
  plan.json = job::plan_json(found).text();
  return plan;
}

// What to do about it, in the words of the library.
template <class Work>
auto in_words_of_the_library(const Work& work) {
  try {
    return work();
  } catch (const job::UnlikelyRecords& unlikely) {
    throw UsageError(std::string(unlikely.what()) + "; set record_size and keys for other records, or format for lines of text");
  }
}

Report sort_records(const Request& request, const library::Attendance& attendance) {
  auto storage = std::make_unique<io::PosixStorage>();
  const auto prepared = std::make_shared<job::PreparedRecords>(job::prepare_records(request, *storage));
  io::Backend backend = io::make_queue(io::parse_backend(request.means.io), job::queue_depth(prepared->job.plan));
  const auto work = [prepared](const inplace::Environment& on) {
    Report report = library::report_of(engine::sort(prepared->job, library::sort_environment(on)));
    report.notices.insert(report.notices.begin(), prepared->notices.begin(), prepared->notices.end());
    return report;
  };
  return library::run(work, std::move(backend), std::move(storage), attendance);
}

Report sort_rows(const Request& request, const library::Attendance& attendance) {
  auto storage = std::make_unique<io::PosixStorage>();
  const auto prepared = std::make_shared<job::PreparedLines>(prepare_rows(request, *storage));
  io::Backend backend = job::make_row_queue(request.means.io, *prepared);
  const auto work = [prepared, format = request.format()](const inplace::Environment& on) {
    return library::report_of(lines::sort_lines(prepared->job, library::sort_environment(on)), format);
  };
  return library::run(work, std::move(backend), std::move(storage), attendance);
}

}  // namespace

Observer::~Observer() = default;
void Observer::begin_phase(std::string_view /*name*/, std::uint64_t /*total_bytes*/) {}
void Observer::progress(std::uint64_t /*bytes*/) {}

Plan plan(const Request& request) {
  library::check_request(request);
  return in_words_of_the_library(
      [&] { return request.format() == Format::records ? plan_of_records(request) : plan_of_lines(request); });
}

Report sort(const Request& request, Observer* observer, std::stop_token stop) {
  library::check_request(request);
  const library::Attendance attendance{observer, std::move(stop)};
  return in_words_of_the_library([&] {  // a stream shows what it is only when its first block comes
    if (request.place.kind != PlaceKind::file)
      if (std::optional<Report> report = library::run_job(request, attendance)) return *std::move(report);
    return request.format() == Format::records ? sort_records(request, attendance) : sort_rows(request, attendance);
  });
}

const char* version() noexcept { return ECOSORT_VERSION; }

}  // namespace ecosort
