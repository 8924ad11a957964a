// ecosort_slow_drive shared|duplex MB_PER_S WORDS... : `ecosort lines WORDS` as it would be with a drive that moves so many MB
// (10^6 bytes) a second, of reads and writes together or of each. Prints one JSON object.
#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/compression_options.h"
#include "doubles/throttled_queue.h"
#include "engine/rows/lines_sort.h"
#include "formats/lines/grammar.h"
#include "io/posix_storage.h"
#include "job/prepare_lines.h"

namespace {

using namespace ecosort;

constexpr int first_word = 3;

double seconds(const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; }

double processor_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void sort(const io::ThrottledQueue::Drive& drive, const std::vector<std::string>& words) {
  io::PosixStorage storage;
  lines::LinesOptions options = lines::parse_lines_words(words);
  job::PreparedLines prepared = job::prepare_lines(options, storage, job::SpecialOutput::refused);
  const io::Backend backend = job::make_line_queue(options.io, prepared);
  io::ThrottledQueue queue(*backend.queue, prepared.job.plan.read_depth + prepared.job.plan.write_depth + 2, drive);
  engine::Progress progress;
  engine::PhaseLog log("");
  const std::atomic<int> interrupted{0};
  const double begin_s = engine::monotonic_seconds(), begin_processor_s = processor_s();
  const lines::LinesReport report = lines::sort_lines(prepared.job, {storage, queue, progress, log, interrupted});
  const nlohmann::ordered_json json{{"wall_s", engine::monotonic_seconds() - begin_s},
                                    {"cpu_s", processor_s() - begin_processor_s},
                                    {"input_bytes", report.input_bytes},
                                    {"bytes_read", report.traffic.bytes_read},
                                    {"bytes_written", report.traffic.bytes_written},
                                    {"peak_temp_bytes", report.peak_temp_bytes},
                                    {"runs", report.runs},
                                    {"compression", cli::compression_json(prepared.job, report)["runs"]}};
  fmt::print("{}\n", json.dump());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc > first_word ? argv[1] : "";
  const double megabytes_per_s = argc > first_word ? std::strtod(argv[2], nullptr) : 0;
  if ((kind != "shared" && kind != "duplex") || !(megabytes_per_s > 0)) {
    fmt::print(stderr, "usage: ecosort_slow_drive shared|duplex MB_PER_S WORDS-OF-LINES...\n");
    return 2;
  }
  try {
    sort({megabytes_per_s * 1e6, kind == "duplex"}, {argv + first_word, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "ecosort_slow_drive: {}\n", error.what());
    return 1;
  }
  return 0;
}
