#include "library/jobs.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/errors.h"
#include "demsort_inplace/preflight.h"
#include "demsort_inplace/prepare/in_place.h"
#include "demsort_inplace/prepare/resumable.h"
#include "demsort_inplace/prepare/resume.h"
#include "demsort_inplace/prepare/rows.h"
#include "job/format_names.h"
#include "job/prepare_rows.h"

namespace ecosort::library {
namespace {

constexpr unsigned job_queue_depth = 40;  // a plan's reads and writes, and a few

Report run_on_queue(Work work, const Request& request, std::unique_ptr<io::PosixStorage> storage, const Attendance& attendance) {
  io::Backend backend = io::make_queue(io::parse_backend(request.means.io), job_queue_depth);
  return run(std::move(work), std::move(backend), std::move(storage), attendance);
}

std::optional<Report> sort_resumable_records(const Request& request, const Attendance& attendance) {
  auto storage = std::make_unique<io::PosixStorage>();
  const auto prepared = std::make_shared<inplace::PreparedResumable>(inplace::prepare_resumable(request, *storage));
  if (prepared->wanted.input_records == 0) return std::nullopt;
  (void)inplace::require_space(*prepared);
  const auto work = [request, prepared](const inplace::Environment& on) {
    return report_of(inplace::run_resumable(request, std::move(*prepared), on));
  };
  return run_on_queue(work, request, std::move(storage), attendance);
}

std::optional<Report> sort_resumable_rows(const Request& request, const Attendance& attendance) {
  auto storage = std::make_unique<io::PosixStorage>();
  std::optional<inplace::PreparedRows> found = inplace::prepare_resumable_rows(request, *storage);
  if (!found) return std::nullopt;
  inplace::require_space(*found);
  const auto prepared = std::make_shared<inplace::PreparedRows>(*std::move(found));
  const auto work = [prepared, format = request.format()](const inplace::Environment& on) {
    return report_of(inplace::run_rows(std::move(*prepared), on), format);
  };
  return run_on_queue(work, request, std::move(storage), attendance);
}

std::optional<Report> sort_records_in_place(const Request& request, const Attendance& attendance) {
  auto storage = std::make_unique<io::PosixStorage>();
  const auto prepared = std::make_shared<inplace::PreparedInPlace>(inplace::prepare_in_place(request, 0, *storage));
  if (prepared->wanted.input_records == 0) return Report{};
  (void)inplace::require_space(request, *prepared);
  const std::string notice = inplace::give_back_beyond_end(*prepared->input);
  const auto work = [request, prepared, notice](const inplace::Environment& on) {
    Report report = report_of(inplace::run_in_place(request, std::move(*prepared), on));
    if (!notice.empty()) report.notices.push_back(notice);
    return report;
  };
  return run_on_queue(work, request, std::move(storage), attendance);
}

std::optional<Report> sort_lines_in_place(const Request& request, const Attendance& attendance) {
  auto storage = std::make_unique<io::PosixStorage>();
  const auto prepared = std::make_shared<inplace::PreparedLinesInPlace>(inplace::prepare_lines_in_place(request, *storage));
  const std::string file = request.inputs.front();
  inplace::require_space(*prepared, file);
  if (prepared->input_bytes == 0) return Report{};
  const std::string notice = inplace::give_back_beyond_end(*prepared->job.inputs.front().file);
  const auto work = [prepared, file, notice](const inplace::Environment& on) {
    Report report = report_of(inplace::run_lines_in_place(std::move(*prepared), file, on), Format::lines);
    if (!notice.empty()) report.notices.push_back(notice);
    return report;
  };
  return run_on_queue(work, request, std::move(storage), attendance);
}

// A job that is there, on the queue on which it was looked at.
Report continue_job(const std::string& file, const Means& means, bool abandons, const inplace::Environment& on,
                    io::PosixStorage& storage) {
  using Kind = inplace::JobStatus::Kind;
  inplace::JobStatus status = inplace::examine(file, storage, on.queue);
  if (status.kind == Kind::none) throw UsageError(fmt::format("there is no interrupted job of '{}'", file));
  if (!status.contents || status.kind == Kind::not_begun) {
    Report report;
    report.notices.push_back(inplace::discard(file, std::move(status), storage));
    return report;
  }
  const inplace::JobHeader header = status.contents->header;
  inplace::check_place(*status.journal, header, file);
  const bool gives_up = abandons || status.is_abandoned();
  if (!header.lines) {
    const planner::Plan plan = inplace::plan_resumed(header, {.memory_bytes = means.memory_bytes, .threads = means.threads});
    return report_of(inplace::run_resumed(file, std::move(status), plan, gives_up, on));
  }
  const auto name = std::ranges::find(job::format_names, header.lines->command);
  const auto format = static_cast<Format>(name - job::format_names.begin());
  if (gives_up) return report_of(inplace::abandon_rows(file, std::move(status), on), format);
  Request request = inplace::request_of(header, file);
  request.means.memory_is_a_wish = means.memory_bytes == 0;
  request.means.memory_bytes = means.memory_bytes != 0 ? means.memory_bytes : header.memory_bytes;
  request.means.threads = means.threads != 0 ? means.threads : header.threads;
  lines::LinesJob job = inplace::prepare_resumed_rows(request, header, storage);
  return report_of(inplace::run_resumed_rows(file, std::move(status), std::move(job), on), format);
}

Report continue_job(const std::string& file, const Means& means, bool abandons, const Attendance& attendance) {
  auto storage = std::make_unique<io::PosixStorage>();
  io::Backend backend = io::make_queue(io::parse_backend(means.io), job_queue_depth);
  io::PosixStorage& place = *storage;
  const auto work = [file, means, abandons, &place](const inplace::Environment& on) {
    return continue_job(file, means, abandons, on, place);
  };
  return run(work, std::move(backend), std::move(storage), attendance);
}

}  // namespace

std::optional<Report> run_job(const Request& request, const Attendance& attendance) {
  const bool are_records = request.format() == Format::records;
  if (request.place.kind == PlaceKind::in_place)
    return are_records ? sort_records_in_place(request, attendance) : sort_lines_in_place(request, attendance);
  return are_records ? sort_resumable_records(request, attendance) : sort_resumable_rows(request, attendance);
}

}  // namespace ecosort::library

namespace ecosort {

Report resume(const std::string& file, const Means& means, Observer* observer, std::stop_token stop) {
  return library::continue_job(file, means, false, {observer, std::move(stop)});
}

Report abandon(const std::string& file, const Means& means, Observer* observer, std::stop_token stop) {
  return library::continue_job(file, means, true, {observer, std::move(stop)});
}

}  // namespace ecosort
