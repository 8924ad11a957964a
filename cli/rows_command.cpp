#include "cli/rows_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/errors.h"
#include "cli/compression_options.h"
#include "cli/lines_report.h"
#include "cli/table_report.h"
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

void check_options(const TableOptions& options) {
  if (options.values().keys.size() > most_keys)
    throw UsageError(fmt::format("--resumable takes up to {} keys; these are {}", most_keys, options.values().keys.size()));
  check_places(options.request);
}

void check_in_place(const LinesOptions& options) {
  const Request& request = options.request;
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

// Of the job's command, without a look at what goes with --resumable.
RowsCommand lines_command(const LinesOptions& options, const Words& words) {
  RowsCommand command{.sort = {options.request, words, lines::posix_rules_of_environment()}, .reports = reports_of(options)};
  command.result_of = [](lines::LinesReport report, const lines::LinesJob& figures) {
    JobResult result{summary_of(report), report.notices, {}};
    result.stats = [report = std::move(report), &figures](const engine::PhaseLog& log, double started_s,
                                                          const std::string& backend) {
      return lines_stats_json(report, log, process_usage(started_s), figures, backend);
    };
    return result;
  };
  return command;
}

RowsCommand table_command(const TableOptions& options, const Words& words) {
  RowsCommand command{.sort = {options.request, words}, .reports = options.reports};
  command.result_of = [options](lines::LinesReport report, const lines::LinesJob& figures) {
    JobResult result{table_summary(report), report.notices, {}};
    std::ranges::copy(null_notices(options, report), std::back_inserter(result.notices));
    result.stats = [options, report = std::move(report), &figures](const engine::PhaseLog& log, double started_s,
                                                                   const std::string& backend) {
      return table_stats_json(options, report, log, process_usage(started_s), figures, backend);
    };
    return result;
  };
  return command;
}

// The means of this time; those that are not given are the journal's.
void take_means(const InPlaceOptions& given, const inplace::JobHeader& header, Request& request) {
  const Means& now = given.request.means;
  request.place.output = given.run.file;
  request.means.memory_bytes = now.memory_bytes != 0 ? now.memory_bytes : header.memory_bytes;
  request.means.memory_is_a_wish = now.memory_bytes == 0;
  request.means.threads = now.threads != 0 ? now.threads : header.threads;
}

LinesOptions line_options_of(const InPlaceOptions& given, const inplace::JobHeader& header) {
  LinesOptions options = lines::parse_lines_words(header.lines->words, header.lines->rules);
  inplace::take_salt(header, options.request);
  take_means(given, header, options.request);
  return options;
}

TableOptions table_options_of(const InPlaceOptions& given, const inplace::JobHeader& header, Format format) {
  TableOptions options = parse_table_options(format, header.lines->command, header.lines->words);
  take_means(given, header, options.request);
  return options;
}

}  // namespace

RunReports reports_of(const LinesOptions& options) {
  return {options.stats, options.events, options.progress, options.quiet, options.request.place.output, options.trace};
}

RowsCommand rows_command(const LinesOptions& options, const Words& words) {
  check_places(options.request);
  return lines_command(options, words);
}

RowsCommand rows_command(const TableOptions& options, const Words& words) {
  check_options(options);
  return table_command(options, words);
}

RowsCommand lines_in_place_command(const LinesOptions& options, const Words& words) {
  check_in_place(options);
  LinesOptions job = options;
  job.request.place.output = options.request.inputs.front();
  return lines_command(job, words);
}

RowsCommand rows_command(const InPlaceOptions& given, const inplace::JobHeader& header) {
  const std::string& name = header.lines->command;
  if (name == "lines") return lines_command(line_options_of(given, header), header.lines->words);
  for (const Format format : {Format::csv, Format::jsonl})
    if (name == word_of(format)) return table_command(table_options_of(given, header, format), header.lines->words);
  throw IoError(fmt::format("the journal of '{}' names a command '{}' that there is not", given.run.file, name));
}

const char* rows_noun(const std::string& command) { return command == "lines" ? "lines" : "rows"; }

}  // namespace ecosort::cli
