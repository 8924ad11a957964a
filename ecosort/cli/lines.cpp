// `ecosort lines`: text lines with the grammar, the messages and the exit codes of GNU sort.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>

#include "base/errors.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "base/threads.h"
#include "cli/commands.h"
#include "cli/debug_output.h"
#include "cli/end_at_once.h"
#include "cli/line_contents.h"
#include "cli/lines_bounds.h"
#include "cli/option_table.h"
#include "cli/report.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/sort_space.h"
#include "cli/watched_run.h"
#include "io/backends.h"
#include "io/posix_storage.h"
#include "lines/check_lines.h"
#include "lines/grammar.h"
#include "lines/lines_sort.h"
#include "lines/quoted.h"
#include "pipeline/plain_file.h"
#include "plan/machine.h"

namespace ecosort::cli {
namespace {

using lines::LinesOptions;

constexpr std::uint64_t header_share = 16;  // of the memory; what --header keeps lies there until the output is written
constexpr std::uint64_t least_threaded_bytes = std::uint64_t{4} << 20U;  // less is sorted sooner than threads are started

[[noreturn]] void cannot(const char* what, const std::string& name, int error) {
  throw UsageError(fmt::format("{}: {}: {}", what, lines::quoted_name(name), std::strerror(error)));
}

// Names separated by NUL, as --files0-from gives them.
void read_file_names(LinesOptions& options) {
  const std::string& from = options.files0_from;
  if (from.empty()) return;
  std::vector<std::byte> content;
  try {
    content = pipeline::read_whole_file(from == "-" ? "/dev/stdin" : from);
  } catch (const IoError& error) {
    if (error.error_number() == EISDIR) throw UsageError(fmt::format("cannot read file names from {}", lines::quoted_word(from)));
    cannot("open failed", from, error.error_number());
  }
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    options.inputs.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
    if (options.inputs.back().empty())
      throw UsageError(fmt::format("{}:{}: invalid zero-length file name", lines::quoted_name(from), options.inputs.size()));
    if (options.inputs.back() == "-")  // as sort does, wherever the names come from
      throw UsageError("when reading file names from stdin, no file name of '-' allowed");
  }
  if (options.inputs.empty()) throw UsageError(fmt::format("no input from {}", lines::quoted_word(from)));
}

// The keys of -R: 16 bytes that decide all of its order.
void choose_salt(LinesOptions& options) {
  if (!options.uses_random()) return;
  lines::Digest& salt = options.order.salt;
  if (options.random_source.empty()) {
    if (::getrandom(salt.data(), salt.size(), 0) != static_cast<ssize_t>(salt.size())) cannot("getrandom", "random bytes", errno);
    return;
  }
  try {
    pipeline::PlainFile file = pipeline::PlainFile::open_for_reading(options.random_source);
    if (file.read(std::as_writable_bytes(std::span(salt))) < salt.size())
      throw UsageError(fmt::format("{}: end of file", lines::quoted_word(options.random_source)));
  } catch (const IoError& error) {
    cannot("open failed", options.random_source, error.error_number());
  }
}

// -S is a wish, as for sort: what is too little or more than there is becomes the nearest that can be. --memory is held to, or
// refused.
std::uint64_t memory_of(const LinesOptions& options, const plan::Machine& machine) {
  const std::uint64_t least = lines::least_line_memory_bytes, most = std::max(machine.available_bytes, least);
  std::uint64_t bytes = plan::default_memory_bytes(machine);
  if (!options.memory.empty()) {
    bytes = parse_bytes(options.memory, "--memory");
    if (bytes < least)
      throw UsageError(fmt::format("--memory {} is too little: give at least {}", options.memory, format_bytes(least)));
    if (bytes > most)
      throw UsageError(fmt::format("--memory {} is more than the {} that are available ({}); give less", options.memory,
                                   format_bytes(most), machine.limited_by));
  }
  if (options.memory_bytes != 0) bytes = options.memory_bytes;
  if (options.memory_percent != 0) {
    const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)),
               size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    bytes = pages * size / 100 * options.memory_percent;
  }
  return std::clamp(bytes, least, most);
}

std::vector<lines::LineInput> open_inputs(const LinesOptions& options, std::size_t most_open, io::Storage& storage) {
  std::vector<lines::LineInput> inputs;
  for (const std::string& name : options.inputs) {
    struct stat info {};
    if (name != "-") {
      if (::stat(name.c_str(), &info) != 0 || ::access(name.c_str(), R_OK) != 0) cannot("cannot read", name, errno);
      if (S_ISDIR(info.st_mode)) cannot("read failed", name, EISDIR);
    }
    lines::LineInput input;
    input.name = name;
    input.is_opened_late = inputs.size() >= most_open;
    if (!input.is_opened_late) input.open(storage);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

// Whether the inputs are worth a thread of computing besides the coordinator.
bool are_small(const std::vector<lines::LineInput>& inputs) {
  std::uint64_t bytes = 0;
  for (const lines::LineInput& input : inputs) {
    if (!input.file || input.file->facts().is_stream) return false;
    bytes += input.file->facts().size_bytes;
  }
  return bytes < least_threaded_bytes;
}

io::Backend make_queue(const std::string& name, bool is_small, unsigned depth) {
  const io::BackendChoice choice = io::parse_backend(name);
  return is_small && choice == io::BackendChoice::auto_ ? io::make_queue_for_small_input(depth) : io::make_queue(choice, depth);
}

// Where the output goes. What is no regular file, such as /dev/null or a FIFO, becomes standard output.
std::string resolve_output(const std::string& output) {
  if (output.empty()) return "-";
  struct stat info {};
  const int error = ::stat(output.c_str(), &info) == 0 ? 0 : errno;
  if (error != 0 && error != ENOENT) cannot("open failed", output, error);
  if (error != 0 || S_ISREG(info.st_mode)) {
    if (output == "-") return "./-";  // sort makes a file of this name
    const std::string parent = std::filesystem::path(output).parent_path().string();
    if (::access(parent.empty() ? "." : parent.c_str(), W_OK | X_OK) != 0) cannot("open failed", output, errno);
    return io::resolve_output(output).path;
  }
  if (S_ISDIR(info.st_mode)) cannot("open failed", output, EISDIR);
  const int fd = ::open(output.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0 || ::dup2(fd, STDOUT_FILENO) < 0) cannot("open failed", output, errno);
  ::close(fd);
  return "-";
}

std::vector<std::string> run_directories(const LinesOptions& options, const std::string& output) {
  std::vector<std::string> directories = options.temp;
  if (directories.empty()) {
    const char* const named = std::getenv("TMPDIR");
    const std::string parent = output == "-" ? "" : std::filesystem::path(output).parent_path().string();
    directories.push_back(named != nullptr && *named != '\0' ? named : output == "-" ? "/tmp" : parent.empty() ? "." : parent);
  }
  return directories;
}

// Only where they are needed: sort does not look at them before.
void check_directories(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories)
    if (::access(directory.c_str(), W_OK | X_OK) != 0) cannot("cannot create temporary file in", directory, errno);
}

// The collation that the environment asks for, if it is not that of the C locale.
std::string asked_collation() {
  for (const char* variable : {"LC_ALL", "LC_COLLATE", "LANG"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale = value;
    const bool is_c = locale == "C" || locale == "POSIX" || locale.starts_with("C.");
    return is_c ? "" : std::string(locale);
  }
  return "";
}

void print_notice(const LinesOptions& options, const std::string& notice) {
  if (!options.quiet && !notice.empty()) say_line(fmt::format("ecosort lines: {}", notice));
}

// Tells once each what the contents of the inputs suggest.
lines::FirstLook contents_look(const LinesOptions& options) {
  if (options.quiet) return {};
  const bool has_fields = !options.order.keys.empty();
  return [&options, contents = LineContents(has_fields ? options.order.separator : std::nullopt)](const std::string& name,
                                                                                                  lines::Text first) mutable {
    for (const std::string& notice : contents.look(name, first)) print_notice(options, notice);
  };
}

nlohmann::ordered_json stats(const lines::LinesReport& report, const pipeline::PhaseLog& log, const ProcessUsage& usage,
                             const lines::LinesJob& job, const char* backend) {
  return {{"schema", "ecosort.lines-stats/1"},
          {"lines", report.lines},
          {"lines_dropped", report.dropped},
          {"input_bytes", report.input_bytes},
          {"output_bytes", report.output_bytes},
          {"bytes_read", report.traffic.bytes_read},
          {"bytes_written", report.traffic.bytes_written},
          {"requests", report.traffic.requests},
          {"runs", report.runs},
          {"intermediate_merges", report.merges},
          {"merge_parts", report.merge_parts},
          {"longest_line_bytes", report.longest_line},
          {"phases", phases_json(log)},
          {"wall_s", usage.wall_s},
          {"cpu_user_s", usage.cpu_user_s},
          {"cpu_system_s", usage.cpu_system_s},
          {"io_idle_s", static_cast<double>(report.traffic.idle.count()) * 1e-9},
          {"peak_rss_bytes", usage.peak_rss_bytes},
          {"peak_counted_memory_bytes", report.peak_memory_bytes},
          {"peak_temp_bytes", report.peak_temp_bytes},
          {"hash", report.hash.to_hex()},
          {"io_backend", backend},
          {"threads", job.plan.threads},
          {"memory_limit_bytes", job.plan.memory_bytes + job.header_bytes},
          {"version", ECOSORT_VERSION}};
}

JobSummary summary_of(const lines::LinesReport& report) {
  return {report.is_merge ? "merged" : "sorted", std::max(report.input_bytes, report.output_bytes),
          fmt::format("{} line{}", report.lines, report.lines == 1 ? "" : "s")};
}

int check_order(const LinesOptions& options) {
  if (options.inputs.size() > 1)  // named by --files0-from
    throw UsageError(fmt::format("extra operand {} not allowed with -{}", lines::quoted_word(options.inputs[1]),
                                 options.check == lines::Check::first ? 'c' : 'C'));
  const std::string& name = options.inputs.front();
  struct stat info {};
  if (name != "-") {
    if (::access(name.c_str(), R_OK) != 0 || ::stat(name.c_str(), &info) != 0) cannot("open failed", name, errno);
    if (S_ISDIR(info.st_mode)) cannot("read failed", name, EISDIR);
  }
  const auto disorder = lines::find_disorder(name, lines::LineOrder(options.order), options.terminator(), options.unique,
                                             memory_of(options, plan::read_machine()), contents_look(options));
  if (!disorder) return 0;
  if (options.check == lines::Check::first)
    say(fmt::format("ecosort lines: {}:{}: disorder: {}{}", name, disorder->line_number, disorder->line, options.terminator()));
  return 1;
}

// Every input, and every run, is an open file. Half of what may be open is for inputs; the others are opened when they are
// reached.
std::size_t allow_open_files() noexcept {
  constexpr std::size_t enough = 100'000;
  return std::min<std::uint64_t>(raise_open_files() / 2, enough);
}

// As many as sort runs at a time. Each has two files open.
std::size_t most_programs(std::uint64_t batch_size, std::size_t most_open) {
  constexpr std::size_t usual = 16, files_each = 2;
  return std::clamp<std::uint64_t>(batch_size == 0 ? usual : batch_size, 2, std::max<std::size_t>(most_open / files_each, 2));
}

// Of all inputs that are open and no streams.
std::uint64_t known_bytes(const std::vector<lines::LineInput>& inputs) {
  std::uint64_t bytes = 0;
  for (const lines::LineInput& input : inputs)
    if (input.file && !input.file->facts().is_stream) bytes += input.file->facts().bytes_to_read();
  return bytes;
}

bool are_known(const std::vector<lines::LineInput>& inputs) {
  return std::ranges::all_of(inputs, [](const lines::LineInput& input) { return input.file && !input.file->facts().is_stream; });
}

// The output is as long as the input (with -u, shorter). More than a run buffer holds makes runs of all lines, whose space the
// merge gives back to the output where both are on one drive. What is known of the inputs before they are read is checked, so
// that what cannot fit is refused at once.
void check_space(lines::LinesJob& job, io::Storage& storage) {
  const std::uint64_t bytes = known_bytes(job.inputs);
  if (job.unique || bytes == 0) return;
  std::vector<SpaceNeed> needs;
  const bool has_runs = !job.merge && bytes > job.plan.run_buffer_bytes;
  if (has_runs) check_directories(job.directories);
  std::vector<std::string> places;
  if (job.output != "-") {
    places.push_back(io::resolve_output(job.output).directory);
    needs.push_back({"space for the output", places, bytes, 0, "name another drive with -o"});
  }
  if (has_runs && job.compress_program.empty())  // what compression makes of the runs shows when they are made
    needs.push_back({"temporary space", job.directories, bytes, 0, "name another drive with -T"});
  for (SpaceNeed& need : needs)
    for (const std::string& directory : need.directories) need.free_bytes += storage.settled_free_bytes(directory, need.bytes);
  cli::check_space(needs);
  const bool shared = has_runs && !places.empty() && std::ranges::any_of(job.directories, [&](const std::string& directory) {
                        return drive_of(directory) == drive_of(places.front());
                      });
  if (!places.empty() && !shared && bytes >= least_threaded_bytes) job.reserved_bytes = bytes;
}

// Everything is resolved; nothing is created.
// With `assumed_bytes`, for lines that are not there.
lines::LinesJob make_job(const LinesOptions& options, io::Storage& storage, std::uint64_t assumed_bytes = 0) {
  const plan::Machine machine = plan::read_machine();
  const unsigned threads =
      options.parallel == 0 ? machine.cpus : static_cast<unsigned>(std::min<std::uint64_t>(options.parallel, plan::most_threads));
  const std::size_t most_open = allow_open_files();
  lines::LinesJob job;
  const std::uint64_t memory_bytes = memory_of(options, machine);
  job.header_bytes = options.header_lines == 0 ? 0 : memory_bytes / header_share;
  job.plan = lines::plan_lines(memory_bytes - job.header_bytes, threads,
                               options.batch_size == 0 ? most_open : std::min<std::uint64_t>(options.batch_size, most_open),
                               options.unique);
  job.order = options.order;
  if (assumed_bytes == 0) job.inputs = open_inputs(options, most_open, storage);
  job.output = resolve_output(options.output);
  job.directories = run_directories(options, job.output);
  job.header_lines = options.header_lines;
  job.terminator = options.terminator();
  job.unique = options.unique;
  job.merge = options.merge;
  job.compress_program = options.compress_program;
  const std::uint64_t bytes = assumed_bytes != 0 ? assumed_bytes : known_bytes(job.inputs);
  if (!job.merge && bytes > job.plan.run_buffer_bytes) {
    job.plan = lines::plan_for_stored_runs(job.plan);
    // What -u leaves of the lines is not known, nor how many runs a program takes.
    if (are_known(job.inputs) && !job.unique && job.compress_program.empty()) job.plan.spread_bytes = bytes;
  }
  job.plan.most_programs = most_programs(options.batch_size, most_open);
  return job;
}

// --assume-size, which GNU sort's grammar does not know, is taken out of the words. 0: it is not there.
std::uint64_t take_assumed_size(const Words& words, Words& others) {
  constexpr std::string_view option = "--assume-size";
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with(option) || (word.size() > option.size() && word[option.size()] != '=')) {
      others.push_back(word);
      continue;
    }
    const bool is_joined = word.size() > option.size();
    if (!is_joined && i + 1 == words.size()) throw UsageError("--assume-size needs a size, such as 1TB");
    bytes = parse_bytes(is_joined ? word.substr(option.size() + 1) : words[++i], option);
    if (bytes == 0) throw UsageError("--assume-size: give at least one byte");
  }
  return bytes;
}

int sort_files(const LinesOptions& options, double started_s) {
  io::PosixStorage storage;
  tell_waits(storage, options.quiet);
  lines::LinesJob job = make_job(options, storage);
  const bool is_small = are_small(job.inputs);
  if (is_small) job.plan = lines::plan_for_small_input(job.plan);
  check_space(job, storage);
  job.look = contents_look(options);
  const io::Backend backend = make_queue(options.io, is_small, job.plan.read_depth + job.plan.write_depth + 2);
  print_notice(options, backend.notice);
  if (!is_small) check_threads_can_start(job.plan.threads + 1, "--parallel");  // and the progress line's
  WatchedRun run({options.stats, options.events, options.progress, options.quiet, job.output});
  const lines::LinesReport report = run.watch(
      *backend.queue,
      [&](auto& progress, auto& log, const auto& interrupted) {
        try {
          return lines::sort_lines(job, storage, *backend.queue, progress, log, interrupted);
        } catch (const io::QueueBroken& broken) {
          end_at_once(progress, broken);
        }
      },
      summary_of);
  for (const std::string& notice : report.notices) print_notice(options, notice);
  run.write_reports("the sorted output is complete",
                    [&] { return stats(report, run.log(), process_usage(started_s), job, backend.queue->backend_name()); });
  return 0;
}

int run(const Words& words) {
  const double started_s = pipeline::monotonic_seconds();
  LinesOptions options = lines::parse_lines_words(words);
  if (options.help) {
    print_out(help_text(command_table("lines")));
    return 0;
  }
  if (options.version) {
    print_out("ecosort lines " ECOSORT_VERSION "\n");
    return 0;
  }
  (void)progress_mode(options.progress);
  if (const std::string collation = asked_collation(); !collation.empty())
    print_notice(options, fmt::format("the order is that of the C locale (bytes), not of '{}'; LC_ALL=C or --quiet silences this",
                                      collation));
  read_file_names(options);
  choose_salt(options);
  ignore_write_signals();
  std::signal(SIGCHLD, SIG_DFL);  // how each program ended is ours to learn
  for (const std::string& warning : options.warnings) print_notice(options, warning);
  if (options.check != lines::Check::no) return check_order(options);
  if (!options.debug) return sort_files(options, started_s);
  DebugOutput output({options.order, options.terminator(), options.header_lines});
  const int code = sort_files(options, started_s);
  output.finish();
  return code;
}

}  // namespace

int plan_lines(const Words& words) {
  Words others;
  const std::uint64_t assumed_bytes = take_assumed_size(words, others);
  LinesOptions options = lines::parse_lines_words(others);
  if (options.help) {
    print_out(help_text(command_table("plan lines")));
    return 0;
  }
  if (assumed_bytes != 0 && (options.inputs != Words{"-"} || !options.files0_from.empty()))
    throw UsageError("--assume-size is for lines that are not there; leave one of them out");
  if (options.check != lines::Check::no) throw UsageError("plan lines: -c and -C sort nothing, so there is nothing to plan");
  read_file_names(options);
  io::PosixStorage storage;
  const lines::LinesJob job = make_job(options, storage, assumed_bytes);
  const std::uint64_t known = are_known(job.inputs) ? known_bytes(job.inputs) : 0;
  print_out(lines_bounds_text(job, assumed_bytes != 0 ? assumed_bytes : known));
  return 0;
}

// Everything that goes wrong is exit 2, as of sort; only -c uses 1, and words that an option does not know.
int run_lines(const Words& words) try { return run(words); } catch (const lines::WrongOption& error) {
  say_line(fmt::format("ecosort lines: {}", error.what()));
  say(error.further() + "\n");
  return dynamic_cast<const lines::WrongWord*>(&error) != nullptr ? 1 : 2;
} catch (const Error& error) {
  say_line(fmt::format("ecosort lines: {}", error.what()));
  return 2;
} catch (const std::bad_alloc&) {
  say("ecosort lines: memory exhausted\n");
  return 2;
}

}  // namespace ecosort::cli
