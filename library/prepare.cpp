#include "library/prepare.h"

#include <memory>
#include <utility>
#include <variant>

#include "job/line_groups.h"
#include "job/prepare_records.h"
#include "job/session.h"
#include "job/shuffle_request.h"

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
                Report report = report_of(engine::fixed::sort(prepared->job, on.for_engine()));
                report.notices.insert(report.notices.begin(), prepared->notices.begin(), prepared->notices.end());
                return report;
              },
          .open_queue = [prepared, io = request.means.io] { return job::make_record_queue(io, prepared->job.plan); }};
}

Prepared prepare_sort_of_rows(const Request& request, io::PosixStorage& storage) {
  const auto prepared = std::make_shared<job::PreparedLines>(prepare_rows(request, storage));
  return {.work =
              [prepared](const demsort_inplace::JobContext& on) {
                return report_of(engine::rows::sort_lines(prepared->job, on.for_engine()));
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
  if (request.place.claim && request.place.kind != PlaceKind::file)
    throw UsageError("a job that can be resumed writes no claim; leave the claim out");
  job::check_line_groups(request);
  job::check_shuffle(request);
  const Records* const records = std::get_if<Records>(&request.rows);
  if (records != nullptr && records->skip_bytes > 0 && request.place.kind != PlaceKind::file)
    throw UsageError("files with bytes to skip are sorted into another file, at once; leave the way of sorting out");
  if (request.means.threads > planner::most_threads) throw UsageError("more threads than can be");
  if (request.input_order == InputOrder::believed && request.format() != Format::lines)
    throw UsageError("input_order is 'any' or 'sorted', of lines also 'believed'");
  constexpr std::uint64_t no_ratio = 0, one = 1000, most = 1'000'000;
  if (const std::uint64_t ratio = request.compression.assumed_ratio; ratio != no_ratio && (ratio < one || ratio > most))
    throw UsageError("assumed_ratio is a number of thousandths from 1000 to 1000000, such as 2500");
}

job::PreparedLines prepare_rows(Request request, io::Storage& storage) {
  if (request.format() == Format::lines) job::choose_salt(request);
  job::choose_seed(request);
  return job::prepare_rows(request, storage, job::SpecialOutput::refused);
}

Prepared prepare(const Request& request, io::PosixStorage& storage) {
  const bool are_records = request.format() == Format::records && !request.shuffle;
  return are_records ? prepare_sort_of_records(request, storage) : prepare_sort_of_rows(request, storage);
}

}  // namespace ecosort::library
