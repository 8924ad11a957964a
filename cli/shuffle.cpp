// `ecosort shuffle`: rows of any kind in a random order.
#include "base/errors.h"
#include "base/open_files.h"
#include "cli/rows_command.h"
#include "cli/run_job.h"
#include "cli/sorts.h"
#include "job/session.h"
#include "job/shuffle_request.h"

namespace ecosort::cli {

namespace {

void check_complete(const CommandLine& line) {
  for (const char* const option : {"--delimiter", "--quote", "--no-header"})
    if (line.has(option) && !line.has("--csv")) throw UsageError(std::string("shuffle: ") + option + " is for CSV; add --csv");
  if (line.request.inputs.empty()) throw UsageError("shuffle: no input; name one or more files, or - for standard input");
  if (line.request.place.output.empty())
    throw UsageError("shuffle: no output; name it with -o FILE, or -o - for standard output");
}

}  // namespace

int shuffle_rows(CommandLine line, double started_s) {
  job::choose_seed(line.request);
  raise_open_files();
  job::Session session;
  tell_waits(session, line.reports.quiet);
  job::PreparedLines prepared = job::prepare_rows(line.request, session.storage(), job::SpecialOutput::redirected);
  return run_rows({.request = line.request,
                   .reports = line.reports,
                   .words = {"shuffle", "--memory", "--temp"},
                   .threads_option = "--threads",
                   .done = "the shuffled output is complete",
                   .notice = [&](const std::string& text) { print_notice(line.reports.quiet, text); },
                   .started_s = started_s},
                  prepared, session);
}

int run_shuffle(const Words& words) {
  const double started_s = engine::monotonic_seconds();
  CommandLine line = read_command_line("shuffle", words);
  if (line.asks_for_help()) return print_help(line);
  // Any bytes may be a record, also those that look like a compressed file.
  if (line.request.format() == Format::records && !line.has("--decompress")) line.request.compression.decompress = false;
  check_complete(line);
  take_profile(line);
  begin(line);
  return shuffle_rows(std::move(line), started_s);
}

}  // namespace ecosort::cli
