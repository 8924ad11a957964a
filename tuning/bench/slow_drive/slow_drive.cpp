// ecosort_slow_drive shared|duplex MB_PER_S lines|sort WORDS... : `ecosort lines WORDS`, or `ecosort sort WORDS`, as it would be
// with a drive that moves so many MB (10^6 bytes) a second, of reads and writes together or of each. Prints one JSON object.
// All files must be in memory (/dev/shm): of a drive the system knows how fast it is, and --compress=auto asks it.
#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/compression_options.h"
#include "cli/sorts.h"
#include "doubles/throttled_queue.h"
#include "engine/fixed/sort.h"
#include "engine/rows/lines_sort.h"
#include "io/posix_storage.h"
#include "job/prepare_records.h"
#include "job/prepare_rows.h"
#include "job/session.h"

namespace {

using namespace ecosort;

constexpr int first_word = 4;

double seconds(const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; }

double processor_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Sorts by `work`, which returns the report.
template <class Work>
auto timed(const ecosort::io::ThrottledQueue::Drive& drive, ecosort::io::Storage& storage, ecosort::io::Queue& below,
           unsigned depth, Json& json, const Work& work) {
  ecosort::io::ThrottledQueue queue(below, depth, drive);
  ecosort::engine::Progress progress;
  ecosort::engine::PhaseLog log("");
  const std::atomic<int> interrupted{0};
  const double begin_s = ecosort::engine::monotonic_seconds(), begin_processor_s = processor_s();
  const auto report = work({storage, queue, progress, log, interrupted});
  json = {{"wall_s", ecosort::engine::monotonic_seconds() - begin_s},
          {"cpu_s", processor_s() - begin_processor_s},
          {"input_bytes", report.input_bytes},
          {"bytes_read", report.traffic.bytes_read},
          {"bytes_written", report.traffic.bytes_written},
          {"peak_temp_bytes", report.peak_temp_bytes},
          {"runs", report.runs}};
  return report;
}

void sort_lines(const ecosort::io::ThrottledQueue::Drive& drive, const std::vector<std::string>& words) {
  ecosort::io::PosixStorage storage;
  const Request request = ecosort::cli::read_command_line("lines", words).request;
  ecosort::job::PreparedLines prepared = ecosort::job::prepare_rows(request, storage, ecosort::job::SpecialOutput::refused);
  const ecosort::io::Backend backend = ecosort::job::make_row_queue(request.means.io, prepared);
  Json json;
  const ecosort::engine::rows::LinesReport report =
      timed(drive, storage, *backend.queue, prepared.job.plan.read_depth + prepared.job.plan.write_depth + 2, json,
            [&](const ecosort::engine::Environment& environment) {
              return ecosort::engine::rows::sort_lines(prepared.job, environment);
            });
  json["compression"] = ecosort::cli::compression_json(prepared.job, report)["runs"];
  fmt::print("{}\n", json.text());
}

void sort_records(const ecosort::io::ThrottledQueue::Drive& drive, const std::vector<std::string>& words) {
  ecosort::io::PosixStorage storage;
  const ecosort::cli::CommandLine line = ecosort::cli::read_sort_words("sort", words);
  ecosort::job::PreparedRecords prepared =
      ecosort::job::prepare_records(ecosort::cli::request_of(line), storage, ecosort::cli::leeway_of(line));
  const unsigned depth = ecosort::job::queue_depth(prepared.job.plan);
  const ecosort::io::Backend backend = ecosort::io::make_queue(ecosort::io::parse_backend(line.request.means.io), depth);
  Json json;
  const ecosort::engine::fixed::SortReport report = timed(
      drive, storage, *backend.queue, depth, json,
      [&](const ecosort::engine::Environment& environment) { return ecosort::engine::fixed::sort(prepared.job, environment); });
  json["compression"] = ecosort::cli::run_compression_json(report.plan.packing, report.run_packing);
  fmt::print("{}\n", json.text());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc > first_word ? argv[1] : "";
  const double megabytes_per_s = argc > first_word ? std::strtod(argv[2], nullptr) : 0;
  const std::string_view command = argc > first_word ? argv[3] : "";
  if ((kind != "shared" && kind != "duplex") || !(megabytes_per_s > 0) || (command != "lines" && command != "sort")) {
    fmt::print(stderr, "usage: ecosort_slow_drive shared|duplex MB_PER_S lines|sort WORDS...\n");
    return 2;
  }
  try {
    const ecosort::io::ThrottledQueue::Drive drive{megabytes_per_s * 1e6, kind == "duplex"};
    (command == "lines" ? sort_lines : sort_records)(drive, {argv + first_word, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "ecosort_slow_drive: {}\n", error.what());
    return 1;
  }
  return 0;
}
