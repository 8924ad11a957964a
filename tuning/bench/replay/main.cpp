// ecosort_replay: how fast the drive serves the requests of a traced sort when nothing is computed.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>

#include "base/errors.h"
#include "base/json.h"
#include "base/size_text.h"
#include "io/backends.h"
#include "io/posix_storage.h"
#include "replay/replay.h"

namespace {

using namespace ecosort;

struct Options {
  std::string trace, pace = "recorded", io = "auto";
  ecosort::bench::ReplayJob job;
};

[[nodiscard]] Options parse(int argc, char** argv) {
  Options options;
  CLI::App app("Replays the requests of `ecosort sort --trace TRACE` without its computing; the output's content means nothing.");
  app.add_option("TRACE", options.trace)->required();
  app.add_option("--input", options.job.input, "the file that was sorted")->required();
  app.add_option("--output", options.job.output, "is replaced")->required();
  app.add_option("--temp", options.job.directories, "directory for runs; as often as the sort was given it")->required();
  app.add_option("--pace", options.pace, "recorded or depth")->check(CLI::IsMember({"recorded", "depth"}));
  app.add_option("--read-depth", options.job.read_depth, "for --pace depth")->check(CLI::Range(1, 4096));
  app.add_option("--write-depth", options.job.write_depth, "for --pace depth")->check(CLI::Range(1, 4096));
  std::string memory;
  app.add_option("--memory", memory,
                 "let the buffers take turns through that much memory, as those of a sort do; default: few buffers")
      ->type_name("SIZE");
  bool no_reserve = false;
  app.add_flag("--no-reserve", no_reserve, "leave the allocation of space to the writes");
  app.add_option("--io", options.io, "I/O backend");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  if (!memory.empty()) options.job.memory_bytes = parse_bytes(memory, "--memory");
  options.job.reserve = !no_reserve;
  options.job.pace = options.pace == "depth" ? ecosort::bench::ReplayPace::depth : ecosort::bench::ReplayPace::recorded;
  return options;
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse(argc, argv);
  const ecosort::bench::Trace trace = ecosort::bench::read_trace(options.trace);
  ecosort::io::PosixStorage storage;
  const ecosort::io::Backend backend =
      ecosort::io::make_queue(ecosort::io::parse_backend(options.io), ecosort::bench::depth_of(trace, options.job));
  const ecosort::bench::ReplayReport report = ecosort::bench::replay(trace, options.job, storage, *backend.queue);
  const Json json{{"requests", report.requests},           {"bytes_read", report.bytes_read},
                  {"bytes_written", report.bytes_written}, {"wall_s", report.wall_s},
                  {"io_idle_s", report.io_idle_s},         {"io_backend", backend.queue->backend_name()}};
  fmt::print("{}\n", json.text());
  return 0;
} catch (const ecosort::Error& error) {
  fmt::print(stderr, "ecosort_replay: {}\n", error.what());
  return static_cast<int>(error.code());
} catch (const std::exception& error) {
  fmt::print(stderr, "ecosort_replay: internal error: {}\n", error.what());
  return static_cast<int>(ecosort::ExitCode::internal);
}
