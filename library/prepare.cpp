#include "library/prepare.h"

#include <memory>
#include <utility>
#include <variant>

#include "job/prepare_records.h"
#include "job/session.h"

namespace ecosort::library {

namespace {

// The system would take the text before the NUL for the name.
void check_name(const std::string& name) {
  if (name.find('\0') != std::string::npos) throw UsageError("a file name contains a NUL");
}

Prepared prepare_sort_of_records(const Request& request, io::PosixStorage& storage) {
  const auto prepared = std::make_shared<job::PreparedRecords>(job::prepare_records(request, storage));
  return {.work =
              [prepared](const demsort_inplace::JobContext& on) {
                Report report = report_of(engine::fixed::sort(prepared->job, sort_environment(on)));
                report.notices.insert(report.notices.begin(), prepared->notices.begin(), prepared->notices.end());
                return report;
              },
          .open_queue =
              [prepared, io = request.means.io] {
                return io::make_queue(io::parse_backend(io), job::queue_depth(prepared->job.plan));
              }};
}

Prepared prepare_sort_of_rows(const Request& request, io::PosixStorage& storage) {
  const auto prepared = std::make_shared<job::PreparedLines>(prepare_rows(request, storage));
  return {.work =
              [prepared, format = request.format()](const demsort_inplace::JobContext& on) {
                return report_of(engine::rows::sort_lines(prepared->job, sort_environment(on)), format);
              },
          .open_queue = [prepared, io = request.means.io] { return job::make_row_queue(io, *prepared); }};
}

}  // namespace

void check_complete(const Request& request) {
  for (const std::string& input : request.inputs) check_name(input);
  for (const std::string& directory : request.means.temp_directories) check_name(directory);
  check_name(request.place.output);
  const Lines* const lines = std::get_if<Lines>(&request.rows);
  if (lines != nullptr && lines->terminator != '\n' && lines->terminator != '\0')
    throw UsageError("lines end with '\\n' or with NUL");
  if (request.inputs.empty()) throw UsageError("no input is named");
  const bool is_in_place = request.place.kind == PlaceKind::in_place;
  if (request.place.output.empty() && !is_in_place) throw UsageError("no output is named");
  if (!request.place.split.empty() && request.format() == Format::records)
    throw UsageError("a split is of lines and of rows, not of records");
  if (request.means.threads > planner::most_threads) throw UsageError("more threads than can be");
}

job::PreparedLines prepare_rows(Request request, io::Storage& storage) {
  if (request.format() == Format::lines) job::choose_salt(request);
  return job::prepare_rows(request, storage, job::SpecialOutput::refused);
}

Prepared prepare(const Request& request, io::PosixStorage& storage) {
  return request.format() == Format::records ? prepare_sort_of_records(request, storage) : prepare_sort_of_rows(request, storage);
}

}  // namespace ecosort::library
