#include "library/check_request.h"

#include <algorithm>
#include <string>

#include "base/errors.h"
#include "job/prepare_records.h"

namespace ecosort::library {

namespace {

// The system would take what stands before the NUL for the name.
void check_name(const std::string& name) {
  if (name.find('\0') != std::string::npos) throw UsageError("a file name contains a NUL");
}

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
  if (request.means.threads > planner::most_threads) throw UsageError("more threads than can be");
}

void refuse_if(bool is_given, const char* line) {
  if (is_given) throw UsageError(line);
}

bool names_stream(const Request& request) { return std::ranges::find(request.inputs, "-") != request.inputs.end(); }

void check_place(const Request& request) {
  if (request.place.kind == PlaceKind::in_place) {
    refuse_if(request.inputs.size() != 1 || names_stream(request), "in place one file is sorted: name it as the only input");
    refuse_if(!request.place.output.empty(), "in place the result takes the place of the input: name no output");
    refuse_if(request.format() == Format::csv || request.format() == Format::jsonl,
              "rows of CSV and JSON lines are not sorted in place: sort them into another file");
    return;
  }
  refuse_if(names_stream(request), "a resumable sort cannot read standard input again after a crash: name the input");
  refuse_if(request.place.output == "-", "a resumable sort keeps its job beside the output: name an output");
}

// What a job cannot do, with the reason.
void check_job(const Request& request) {
  check_place(request);
  const bool is_in_place = request.place.kind == PlaceKind::in_place;
  refuse_if(request.input_order != InputOrder::any, "a merge is done in one step, and cannot be resumed");
  refuse_if(request.unique && (is_in_place || request.format() == Format::records),
            "after a crash no one could tell a dropped row from a lost one: drop duplicates from the sorted file");
  refuse_if(!request.means.temp_directories.empty(), "a job keeps its runs beside the file: name no temporary directories");
  refuse_if(request.verification.checksum, "a job computes no checksum: leave it out");
  refuse_if(!request.compression.program.empty(), "a job compresses runs by itself: name no program");
  refuse_if(request.compression.energy.has_value(), "who resumes a job may have other watts: choose runs by time");
  if (const Lines* const lines = std::get_if<Lines>(&request.rows))
    refuse_if(is_in_place && lines->header_lines > 0, "lines in place have no header: sort them into another file");
}

}  // namespace

void check_request(const Request& request) {
  check_complete(request);
  if (request.place.kind != PlaceKind::file) check_job(request);
}

}  // namespace ecosort::library
