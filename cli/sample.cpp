// `ecosort sample`: rows of a range at random places, and the splitters that many samples make.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/errors.h"
#include "base/threads.h"
#include "cli/commands.h"
#include "cli/node_words.h"
#include "cli/option_table.h"
#include "cli/report.h"
#include "cli/report_files.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/telling_phase.h"
#include "cli/watched_run.h"
#include "cli/write_signals.h"
#include "job/places.h"
#include "job/prepare_sample.h"
#include "job/session.h"

namespace ecosort::cli {
namespace {

struct SampleOptions {
  job::SampleSpec spec;
  bool merges = false;
  std::uint64_t parts = 0;
  NodeWords words;
};

void check_complete(const SampleOptions& options) {
  if (options.merges) {
    if (options.parts == 0 || options.parts > engine::partition::most_parts)
      throw UsageError(
          fmt::format("sample: say with --parts how many parts the splitters make, 1 to {}", engine::partition::most_parts));
    return;
  }
  if (options.words.own.has("--parts")) throw UsageError("sample: --parts goes with --merge");
  if (options.spec.terms.count == 0) throw UsageError("sample: say with --count how many rows are wanted, at least 1");
}

SampleOptions parse_sample(const Words& words) {
  SampleOptions options;
  options.words = read_node_words("sample", words);
  const GivenWords& own = options.words.own;
  if (own.asks_for_help) return options;
  options.merges = own.has("--merge");
  options.parts = own.number("--parts");
  options.spec.range = options.words.range();
  options.spec.terms.source = own.number("--source");
  options.spec.terms.count = own.number("--count");
  options.spec.terms.seed = own.number("--seed");
  check_complete(options);
  return options;
}

void write_rows(const std::string& output, const job::SplitterFile& rows) {
  if (output == "-") return print_out(to_text(rows));
  job::Session session;
  job::publish_text(session.storage(), output, to_text(rows));
}

job::SplitterFile sample_records(const SampleOptions& options) {
  const CommandLine& rows = options.words.line;
  job::Session session;
  job::SampleSpec spec = options.spec;
  spec.output = rows.request.place.output;
  engine::partition::SampleRecordsJob job = job::prepare_sample_of_records(spec, rows.request, session.storage());
  check_report_files({"", rows.reports.events, ""}, rows.request.inputs, {spec.output});
  open_queue(session, rows.request.means.io, engine::partition::sample_read_depth + 4, rows.reports);
  WatchedRun run({"", rows.reports.events, rows.reports.progress, rows.reports.quiet, rows.request.place.output});
  engine::partition::Sample sample = run.watch(
      session,
      [&](const engine::Environment& environment) {
        try {
          return engine::partition::sample_records(job, environment);
        } catch (const io::QueueBroken& broken) {
          end_at_once(environment.progress, broken);
        }
      },
      [&](const engine::partition::Sample& done) {
        return JobSummary{"read", done.traffic.bytes_read, fmt::format("a sample of {}", records_text(done.rows.size()))};
      });
  job::SplitterFile file{std::nullopt, std::move(sample.rows), true};
  job::sort_splitters(file.rows, job::compare_records(records::make_record_format(rows.records())));
  return file;
}

void check_samples(const std::vector<std::string>& samples, const std::string& output) {
  if (samples.empty() || samples == std::vector<std::string>{"-"})
    throw UsageError("sample: no samples; name the files that `ecosort sample` wrote, behind --merge");
  for (const std::string& sample : samples) job::check_is_kept(sample, output, "a sample");
}

job::SplitterFile sample_rows(const SampleOptions& options, job::RowTerms terms) {
  const CommandLine& rows = options.words.line;
  job::Session session;
  job::SampleSpec spec = options.spec;
  spec.output = rows.request.place.output;
  const job::PreparedRowSample prepared = job::prepare_sample_of_rows(spec, std::move(terms), session.storage());
  check_report_files({"", rows.reports.events, ""}, rows.request.inputs, {spec.output});
  session.open_queue("pool", 1);  // it is asked for nothing but to wake up
  WatchedRun run({"", rows.reports.events, rows.reports.progress, rows.reports.quiet, rows.request.place.output});
  engine::partition::Sample sample = run.watch(
      session,
      [&](const engine::Environment& on) { return engine::partition::sample_rows(prepared.job, on.progress, on.interrupted); },
      [&](const engine::partition::Sample& done) {
        return JobSummary{"read", 0, fmt::format("a sample of {} rows", done.rows.size())};
      });
  job::SplitterFile file{prepared.header, std::move(sample.rows), true};
  job::sort_splitters(file.rows, job::compare_rows(*prepared.format));
  return file;
}

int sample(const SampleOptions& options) {
  const Request& request = options.words.line.request;
  const bool are_records = request.format() == Format::records;
  job::RowTerms terms;
  if (!are_records) terms = row_terms_of("sample", options.words.line);
  ignore_write_signals();
  if (!options.merges) {
    check_one_input("sample", request.inputs);
    write_rows(request.place.output, are_records ? sample_records(options) : sample_rows(options, std::move(terms)));
    return 0;
  }
  check_samples(request.inputs, request.place.output);
  const job::SplitterFile all =
      are_records ? job::merge_samples_of_records(request) : job::merge_samples_of_rows(*terms.format, request.inputs);
  write_rows(request.place.output, {all.header, job::quantiles(all.rows, options.parts)});
  return 0;
}

}  // namespace

int run_sample(const Words& words) {
  const SampleOptions options = parse_sample(words);
  if (options.words.own.asks_for_help) return print_help(command_table("sample"));
  return sample(options);
}

}  // namespace ecosort::cli
