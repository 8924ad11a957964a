#include "library/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/errors.h"
#include "demsort_inplace/preflight.h"
#include "demsort_inplace/prepare/records.h"
#include "demsort_inplace/prepare/rows.h"
#include "job/prepare_rows.h"
#include "library/prepare.h"

namespace ecosort::library {
namespace {

bool names_stream(const Request& request) { return std::ranges::find(request.inputs, "-") != request.inputs.end(); }

void check_place(const Request& request) {
  if (request.place.kind == PlaceKind::in_place) {
    refuse_if(request.inputs.size() != 1 || names_stream(request), "in place one file is sorted: name it as the only input");
    refuse_if(!request.place.output.empty(), "in place the result takes the place of the input: name no output");
    refuse_if(request.values() != nullptr, "rows of CSV and JSON lines are not sorted in place: sort them into another file");
    return;
  }
  refuse_if(names_stream(request), "a resumable sort cannot read standard input again after a crash: name the input");
  refuse_if(request.place.output == "-", "a resumable sort keeps its job beside the output: name an output");
}

// Refuses what a job cannot do, with the reason.
void check_job(const Request& request) {
  check_place(request);
  const bool is_in_place = request.place.kind == PlaceKind::in_place;
  refuse_if(request.input_order != InputOrder::any, "a merge is done in one step, and cannot be resumed");
  refuse_if(request.has_groups() && (is_in_place || request.format() == Format::records),
            "after a crash no one could distinguish a dropped row from a lost one: drop duplicates from the sorted file");
  refuse_if(request.limit.has_value(), "a job drops nothing: sort with a limit into another file, without a job");
  refuse_if(!request.means.temp_directories.empty(), "a job keeps its runs beside the file: name no temporary directories");
  refuse_if(request.verification.checksum, "a job computes no checksum: leave it out");
  refuse_if(!request.compression.program.empty(), "a job compresses runs by itself: name no program");
  refuse_if(request.compression.energy.has_value(), "who resumes a job may have other watts: choose runs by time");
  if (const Lines* const lines = std::get_if<Lines>(&request.rows))
    refuse_if(is_in_place && (lines->header_lines > 0 || !lines->header_mark.empty()),
              "lines in place have no header: sort them into another file");
}

Report run_on_queue(Work work, const std::string& io, std::unique_ptr<io::PosixStorage> storage, const Attendance& attendance) {
  io::Backend backend = io::make_queue(io::parse_backend(io), demsort_inplace::prepare::job_queue_depth);
  return run(std::move(work), std::move(backend), std::move(storage), attendance);
}

void check_space(const Request& request, const demsort_inplace::prepare::PreparedRecordsJob& prepared) {
  demsort_inplace::prepare::require_space(request, prepared);
}
void check_space(const Request& /*request*/, const demsort_inplace::prepare::PreparedRowsJob& prepared) {
  demsort_inplace::prepare::require_space(prepared);
}

Report sort_prepared(const Request& request, demsort_inplace::prepare::PreparedRecordsJob prepared,
                     const demsort_inplace::JobContext& on) {
  return report_of(demsort_inplace::prepare::run_prepared(request, std::move(prepared), on));
}
Report sort_prepared(const Request& /*request*/, demsort_inplace::prepare::PreparedRowsJob prepared,
                     const demsort_inplace::JobContext& on) {
  return report_of(demsort_inplace::prepare::run_prepared(std::move(prepared), on));
}

// FILE stays as it is if there is nothing to sort; a sort of another kind makes the output.
template <class Prepare>
std::optional<Report> sort_as_job(const Request& request, const Attendance& attendance, const Prepare& prepare) {
  auto storage = std::make_unique<io::PosixStorage>();
  const auto prepared = std::make_shared<decltype(prepare(request, *storage))>(prepare(request, *storage));
  const bool is_in_place = request.place.kind == PlaceKind::in_place;
  if (prepared->is_empty()) return is_in_place ? std::make_optional<Report>() : std::nullopt;
  check_space(request, *prepared);
  const std::string notice = is_in_place ? demsort_inplace::give_back_beyond_end(prepared->first_input()) : "";
  const auto work = [request, prepared, notice](const demsort_inplace::JobContext& on) {
    Report report = sort_prepared(request, std::move(*prepared), on);
    if (!notice.empty()) report.notices.push_back(notice);
    return report;
  };
  return run_on_queue(work, request.means.io, std::move(storage), attendance);
}

// A job that is there, on the queue on which it was looked at.
Report continue_job(const std::string& file, const Means& means, bool abandons, const demsort_inplace::JobContext& on,
                    io::PosixStorage& storage) {
  using Kind = demsort_inplace::JobStatus::Kind;
  demsort_inplace::JobStatus status = demsort_inplace::examine(file, storage, on.queue);
  if (status.kind == Kind::none) throw UsageError(fmt::format("there is no interrupted job of '{}'", file));
  if (!status.contents || status.kind == Kind::not_begun) {
    Report report;
    report.notices.push_back(demsort_inplace::discard(file, std::move(status), storage));
    return report;
  }
  const demsort_inplace::JobHeader header = status.contents->header;
  demsort_inplace::check_place(*status.journal, header, file);
  const bool gives_up = abandons || status.is_abandoned();
  if (!header.lines) {
    const planner::RecordPlan plan = demsort_inplace::prepare::plan_resumed(header, means);
    return report_of(gives_up ? demsort_inplace::abandon(file, std::move(status), plan, on)
                              : demsort_inplace::resume(file, std::move(status), plan, on));
  }
  if (gives_up) return report_of(demsort_inplace::abandon_rows(file, std::move(status), on));
  Request request = demsort_inplace::prepare::request_of(header, file);
  request.means.memory_is_a_wish = means.memory_bytes == 0;
  request.means.memory_bytes = means.memory_bytes != 0 ? means.memory_bytes : header.memory_bytes;
  request.means.threads = means.threads != 0 ? means.threads : header.threads;
  engine::rows::LinesJob job = demsort_inplace::prepare::prepare_resumed_rows(request, header, storage);
  return report_of(demsort_inplace::resume_rows(file, std::move(status), std::move(job), on));
}

Report continue_job(const std::string& file, const Means& means, bool abandons, const Attendance& attendance) {
  auto storage = std::make_unique<io::PosixStorage>();
  io::PosixStorage& place = *storage;
  const auto work = [file, means, abandons, &place](const demsort_inplace::JobContext& on) {
    return continue_job(file, means, abandons, on, place);
  };
  return run_on_queue(work, means.io, std::move(storage), attendance);
}

}  // namespace

void check_request(const Request& request) {
  check_complete(request);
  if (request.place.kind != PlaceKind::file) check_job(request);
}

std::optional<Report> run_job(const Request& request, const Attendance& attendance) {
  check_job(request);
  if (request.format() != Format::records) return sort_as_job(request, attendance, demsort_inplace::prepare::prepare_rows);
  return sort_as_job(request, attendance, [](const Request& of_records, io::PosixStorage& storage) {
    return demsort_inplace::prepare::prepare_records(of_records, 0, storage);
  });
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
