#include "cli/rows_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "cli/compression_options.h"
#include "cli/lines_report.h"
#include "cli/table_report.h"
#include "job/plan_codecs.h"
#include "job/prepare_lines.h"
#include "job/prepare_table.h"

namespace ecosort::cli {

namespace {

using lines::LinesOptions;

constexpr std::size_t most_keys = 128;  // the journal counts the values of each, for each run

void check_places(const std::vector<std::string>& temp, const char* temp_option, const std::string& output,
                  const std::vector<std::string>& inputs) {
  if (!temp.empty())
    throw UsageError(fmt::format(
        "--resumable keeps its runs beside the output, in OUTPUT.ecosort; leave {} out, or name an output there", temp_option));
  if (output.empty() || output == "-")
    throw UsageError("--resumable needs an output with a name, for its job directory; name it with -o FILE");
  if (std::ranges::find(inputs, "-") != inputs.end())
    throw UsageError("--resumable: standard input cannot be read again after a crash; name the input");
}

void check_options(const LinesOptions& options) {
  if (options.check != lines::Check::no) throw UsageError("--resumable: -c and -C sort nothing; leave it out");
  if (options.debug) throw UsageError("--debug goes without --resumable");
  if (options.merge)
    throw UsageError(
        "-m goes without --resumable: what is sorted is merged in one step; sort it without -m to be able to resume");
  if (!options.compress_program.empty()) throw UsageError("--compress-program goes without --resumable");
  if (!options.trace.empty()) throw UsageError("--trace goes without --resumable");
  check_places(options.temp, "-T", options.output, options.inputs);
}

void check_options(const TableOptions& options) {
  if (options.check) throw UsageError("--resumable: --check sorts nothing; leave it out");
  if (options.spec.table.merge)
    throw UsageError("--merge goes without --resumable: sort the files without --merge to be able to resume");
  if (options.spec.table.keys.size() > most_keys)
    throw UsageError(fmt::format("--resumable takes up to {} keys; these are {}", most_keys, options.spec.table.keys.size()));
  if (!options.trace.empty()) throw UsageError("--trace goes without --resumable");
  check_places(options.spec.temp_directories, "--temp", options.spec.output, options.spec.inputs);
}

// What it cannot be had with; in each line the reason, or what to do.
void check_in_place(const LinesOptions& options) {
  const auto refuse_if = [](bool is_given, const char* line) {
    if (is_given) throw UsageError(line);
  };
  refuse_if(options.resumable, "--inplace can be resumed anyway; leave --resumable out");
  refuse_if(!options.files0_from.empty() || options.inputs.size() != 1 || options.inputs.front() == "-",
            "--inplace: name one file");
  refuse_if(!options.output.empty(), "-o means nothing in place: the result takes the place of the file");
  refuse_if(
      options.unique,
      "-u cannot be had in place: after a crash no one could tell a dropped line from a lost one; use ecosort lines -u -o, or "
      "drop duplicates from the sorted file");
  refuse_if(options.header_lines > 0, "--header goes without --inplace; use ecosort lines --header -o");
  refuse_if(options.check != lines::Check::no, "--inplace: -c and -C sort nothing; leave it out");
  refuse_if(options.merge, "-m goes without --inplace: one file is sorted");
  refuse_if(options.debug, "--debug goes without --inplace");
  refuse_if(!options.temp.empty(), "-T means nothing in place: runs take the space of the file");
  refuse_if(options.batch_size != 0, "--batch-size goes without --inplace: all runs are merged at once");
  refuse_if(!options.trace.empty(), "--trace goes without --inplace");
  const CompressionTerms& compression = options.compression;
  const bool packs = (!compression.runs.empty() && compression.runs != "auto" && compression.runs != "none") ||
                     compression.assumed_ratio > 0 || compression.energy || !options.compress_program.empty();
  refuse_if(packs, "--inplace: runs lie in the space of the lines, as they are; leave out what compresses them");
  refuse_if(compression.output != "none", "--compress-output goes without --inplace: compress the file afterwards");
}

// Runs that outlive a crash are stored as they are unless --compress is given.
inplace::KeptCompression kept_compression_of(const CompressionTerms& terms) {
  inplace::KeptCompression kept{codec::run_compression_of_word(terms.runs.empty() ? "none" : terms.runs), terms.assumed_ratio};
  job::check_assumed_ratio(kept.assumed_ratio, !kept.wanted.is_none());
  return kept;
}

// Of the job's command, without a look at what goes with --resumable. What `make_job` makes says nothing of compressed runs.
RowsCommand lines_command(const LinesOptions& options, const Words& words) {
  RowsCommand command{.sort = {.command = "lines",
                               .words = words,
                               .rules = lines::posix_rules_of_environment(),
                               .salt = options.order.salt,
                               .threads = options.parallel,
                               .as_is = options.as_is,
                               .compression = kept_compression_of(options.compression)},
                      .io = options.io,
                      .reports = {options.stats, options.events, options.progress, options.quiet}};
  command.sort.make_job = [options](io::Storage& storage, std::uint64_t assumed_bytes) {
    LinesOptions plain = options;
    plain.compression.runs = "none";
    plain.compression.assumed_ratio = 0;
    return job::make_lines_job(plain, storage, job::SpecialOutput::refused, assumed_bytes);
  };
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
  RowsCommand command{.sort = {.command = std::string(word_of(options.spec.format)),
                               .words = words,
                               .threads = options.spec.threads,
                               .compression = kept_compression_of(options.spec.compression)},
                      .io = options.spec.io,
                      .reports = {options.stats, options.events, options.progress, options.quiet}};
  command.sort.make_job = [options](io::Storage& storage, std::uint64_t assumed_bytes) {
    SortSpec plain = options.spec;
    plain.compression.runs = "none";
    plain.compression.assumed_ratio = 0;
    return job::make_table_job(plain, storage, job::SpecialOutput::refused, assumed_bytes);
  };
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

LinesOptions line_options_of(const InPlaceOptions& given, const inplace::JobHeader& header) {
  LinesOptions options = lines::parse_lines_words(header.lines->words, header.lines->rules);
  options.order.salt = header.lines->salt;
  options.output = given.run.file;
  options.memory = given.memory;
  options.memory_percent = 0;
  options.memory_bytes = given.memory.empty() ? header.memory_bytes : 0;
  options.parallel = given.threads != 0 ? given.threads : header.threads;
  return options;
}

TableOptions table_options_of(const InPlaceOptions& given, const inplace::JobHeader& header, Format format) {
  TableOptions options = parse_table_options(format, header.lines->command, header.lines->words);
  options.spec.output = given.run.file;
  options.spec.memory_bytes = given.memory.empty() ? header.memory_bytes : parse_bytes(given.memory, "--memory");
  options.spec.threads = given.threads != 0 ? given.threads : header.threads;
  return options;
}

}  // namespace

RowsCommand rows_command(const LinesOptions& options, const Words& words) {
  check_options(options);
  return lines_command(options, words);
}

RowsCommand rows_command(const TableOptions& options, const Words& words) {
  check_options(options);
  return table_command(options, words);
}

RowsCommand lines_in_place_command(const LinesOptions& options, const Words& words) {
  check_in_place(options);
  LinesOptions job = options;
  job.output = options.inputs.front();
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
