#include "cli/rows_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/errors.h"
#include "cli/compression_options.h"
#include "cli/lines_report.h"
#include "cli/table_report.h"
#include "job/format_names.h"
#include "job/prepare_rows.h"

namespace ecosort::cli {

namespace {

using lines::LinesOptions;

constexpr std::size_t most_keys = 128;  // the journal counts the values of each, for each run

void check_places(const Request& request) {
  if (request.place.output.empty() || request.place.output == "-")
    throw UsageError("--resumable needs an output with a name, for its job directory; name it with -o FILE");
  if (std::ranges::find(request.inputs, "-") != request.inputs.end())
    throw UsageError("--resumable: standard input cannot be read again after a crash; name the input");
}

// The means of this time; those that are not given are the journal's.
void take_means(const InPlaceOptions& given, const inplace::JobHeader& header, Request& request) {
  const Means& now = given.request.means;
  request.place.output = given.run.file;
  request.means.memory_bytes = now.memory_bytes != 0 ? now.memory_bytes : header.memory_bytes;
  request.means.memory_is_a_wish = now.memory_bytes == 0;
  request.means.threads = now.threads != 0 ? now.threads : header.threads;
}

Request request_of_words(const InPlaceOptions& given, const inplace::JobHeader& header) {
  const std::string& name = header.lines->command;
  const inplace::LineTerms::OldWords& old = *header.lines->old;
  if (name == "lines") {
    LinesOptions options = lines::parse_lines_words(old.words, old.rules);
    options.set_salt(old.salt);
    return options.request;
  }
  for (const Format format : {Format::csv, Format::jsonl})
    if (name == job::name_of(format)) return parse_table_options(format, name, old.words).request;
  throw IoError(fmt::format("the journal of '{}' names a command '{}' that there is not", given.run.file, name));
}

}  // namespace

void check_job(const TableOptions& options) {
  if (options.values().keys.size() > most_keys)
    throw UsageError(fmt::format("--resumable takes up to {} keys; these are {}", most_keys, options.values().keys.size()));
  check_places(options.request);
}

void check_job(const LinesOptions& options) {
  const Request& request = options.request;
  if (request.place.kind == PlaceKind::resumable) return check_places(request);
  const auto refuse_if = [](bool is_given, const char* line) {
    if (is_given) throw UsageError(line);
  };
  refuse_if(!options.files0_from.empty() || request.inputs.size() != 1 || request.inputs.front() == "-",
            "--inplace: name one file");
  const Compression& compression = request.compression;
  const bool packs = (!compression.runs.empty() && compression.runs != "auto" && compression.runs != "none") ||
                     compression.assumed_ratio > 0 || compression.energy || !compression.program.empty();
  refuse_if(packs, "--inplace: runs lie in the space of the lines, as they are; leave out what compresses them");
}

RunReports reports_of(const LinesOptions& options) {
  return {options.stats, options.events, options.progress, options.quiet, options.request.place.output, options.trace};
}

RowsCommand rows_command(const LinesOptions& options) { return {options.request, reports_of(options)}; }

RowsCommand rows_command(const TableOptions& options) { return {options.request, options.reports}; }

JobResult result_of(const Request& request, lines::LinesReport report, const lines::LinesJob& figures) {
  const bool are_lines = request.format() == Format::lines;
  JobResult result{are_lines ? summary_of(report) : table_summary(report), report.notices, {}};
  if (!are_lines) std::ranges::copy(null_notices(request, report), std::back_inserter(result.notices));
  result.stats = [request, are_lines, report = std::move(report), &figures](const engine::PhaseLog& log, double started_s,
                                                                            const std::string& backend) {
    return are_lines ? lines_stats_json(report, log, process_usage(started_s), figures, backend)
                     : table_stats_json(request, report, log, process_usage(started_s), figures, backend);
  };
  return result;
}

Request request_of(const InPlaceOptions& given, const inplace::JobHeader& header) {
  Request request = header.lines->old ? request_of_words(given, header) : inplace::request_of(header, given.run.file);
  take_means(given, header, request);
  return request;
}

const char* rows_noun(const std::string& command) { return command == "lines" ? "lines" : "rows"; }

}  // namespace ecosort::cli
