// `ecosort lines`: text lines with the grammar, the messages and the exit codes of GNU sort.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <set>

#include "base/errors.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "base/threads.h"
#include "cli/advice.h"
#include "cli/commands.h"
#include "cli/compression_options.h"
#include "cli/debug_output.h"
#include "cli/error_json.h"
#include "cli/line_contents.h"
#include "cli/lines_bounds.h"
#include "cli/lines_report.h"
#include "cli/option_table.h"
#include "cli/profile_choice.h"
#include "cli/report.h"
#include "cli/report_files.h"
#include "cli/resumable_rows.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/sort_rows.h"
#include "cli/watched_run.h"
#include "cli/write_signals.h"
#include "formats/lines/grammar.h"
#include "formats/lines/quoted.h"
#include "job/prepare_rows.h"
#include "job/session.h"

namespace ecosort::cli {
namespace {

using lines::LinesOptions;

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

LineContents contents_of(const LinesOptions& options) {
  const lines::LineOrderTerms order = options.order();
  return {order.keys.empty() ? std::nullopt : order.separator, !options.names_decompress};
}

std::string plain_output_notice(const LinesOptions& options) {
  const auto codec = codec::codec_of_file_name(options.output);
  if (!codec || options.names_compress_output) return "";
  return fmt::format("{}: is written as it is, and not compressed; to write {}, give --compress-output=auto",
                     lines::quoted_name(options.output), codec::name_of(*codec));
}

// Tells once each what the contents of the inputs suggest.
lines::FirstLook contents_look(const LinesOptions& options, LineContents contents) {
  if (options.quiet) return {};
  return [&options, contents](const std::string& name, Text first) mutable {
    for (const std::string& notice : contents.look(name, first)) print_notice(options, notice);
  };
}

lines::FirstLook contents_look(const LinesOptions& options) { return contents_look(options, contents_of(options)); }

// Those that are sorted as they are.
std::vector<CompressedInput> compressed_inputs(const lines::LinesJob& job) {
  std::vector<CompressedInput> inputs;
  for (const lines::LineInput& input : job.inputs)
    if (input.contents != nullptr && input.codec && !input.decompresses &&
        std::ranges::find(inputs, input.name, &CompressedInput::name) == inputs.end())
      inputs.push_back({input.name, input.contents->name});
  return inputs;
}

int check_order(const LinesOptions& options) {
  const std::vector<std::string>& inputs = options.request.inputs;
  if (inputs.size() > 1)  // named by --files0-from
    throw UsageError(fmt::format("extra operand {} not allowed with -{}", lines::quoted_word(inputs[1]),
                                 options.check == lines::Check::first ? 'c' : 'C'));
  const std::string& name = inputs.front();
  struct stat info{};
  if (name != "-") {
    if (::access(name.c_str(), R_OK) != 0 || ::stat(name.c_str(), &info) != 0) job::cannot("open failed", name, errno);
    if (S_ISDIR(info.st_mode)) job::cannot("read failed", name, EISDIR);
  }
  const auto disorder = job::find_row_disorder(options.request, contents_look(options));
  if (!disorder) return 0;
  if (options.check == lines::Check::first)
    say(fmt::format("ecosort lines: {}:{}: disorder: {}{}", name, disorder->line_number, disorder->line,
                    options.lines().terminator));
  return 1;
}

// --json, which it does not know either.
bool take_json(Words& words) { return std::erase(words, "--json") > 0; }

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
    bytes = parse_assumed_bytes(is_joined ? word.substr(option.size() + 1) : words[++i], option);
    if (bytes == 0) throw UsageError("--assume-size: give at least one byte");
  }
  return bytes;
}

// The options that have conflicts in the table, whose own parser does not keep their names.
std::set<std::string_view> given_of(const LinesOptions& options) {
  const Request& request = options.request;
  const std::pair<std::string_view, bool> options_given[] = {
      {"--resumable", request.place.kind == PlaceKind::resumable},
      {"--inplace", request.place.kind == PlaceKind::in_place},
      {"--check", options.check != lines::Check::no},
      {"--debug", options.debug},
      {"--merge", request.input_order != InputOrder::any},
      {"--unique", request.unique},
      {"--header", options.lines().header_lines > 0},
      {"--output", !options.output.empty()},
      {"--temp", !request.means.temp_directories.empty()},
      {"--batch-size", request.means.batch_size != 0},
      {"--trace", !options.trace.empty()},
      {"--compress-program", !request.compression.program.empty()},
      {"--compress-output", request.compression.output != "none"},
  };
  std::set<std::string_view> given;
  for (const auto& [name, is_given] : options_given)
    if (is_given) given.insert(name);
  return given;
}

void check_options(const LinesOptions& options) {
  check_conflicts(command_table("lines"), given_of(options));
  if (options.request.place.as_is && options.request.place.kind != PlaceKind::in_place)
    throw UsageError("--as-is goes with --inplace; otherwise lines are sorted as they are, unless --decompress says otherwise");
}

int sort_files(const LinesOptions& options, double started_s) {
  raise_open_files();
  job::Session session;
  tell_waits(session, options.quiet);
  job::PreparedLines prepared = job::prepare_rows(options.request, session.storage(), job::SpecialOutput::redirected);
  lines::LinesJob& job = prepared.job;
  LineContents contents = contents_of(options);
  print_notice(options, contents.compressed_notice(compressed_inputs(job)));
  print_notice(options, plain_output_notice(options));
  job.look = contents_look(options, contents);
  session.open_queue(options.request.means.io, prepared);
  print_notice(options, session.notice());
  if (!prepared.is_small) check_threads_can_start(job.plan.threads + 1, "--parallel");  // and the progress line's
  check_report_files({options.stats, options.events, options.trace}, job.inputs, job.output);
  RunReports reports = reports_of(options);
  reports.output = job.output;
  WatchedRun run(std::move(reports));
  const lines::LinesReport report =
      sort_rows(run, job, session, {"lines", "-S", "-T"}, [](const lines::LinesReport& done) { return summary_of(done); });
  for (const std::string& notice : report.notices) print_notice(options, notice);
  run.write_reports("the sorted output is complete",
                    [&] { return lines_stats_json(report, run.log(), process_usage(started_s), job, session.backend_name()); });
  return 0;
}

void set_energy(LinesOptions& options, const ProfileChoice& choice) {
  Compression& compression = options.request.compression;
  const bool is_resumable = options.request.place.kind == PlaceKind::resumable;
  compression.energy = energy_of_goal(options.goal, compression, "auto", is_resumable, choice);
}

// With what a profile says in addition; its --threads is --parallel here.
LinesOptions parse_with_profile(const Words& words) {
  const LinesOptions asked = lines::parse_lines_words(words);
  if (asked.help || asked.version) return asked;
  std::set<std::string_view> given;
  if (asked.request.means.threads != 0) given.insert("--threads");
  if (asked.names_io) given.insert("--io");
  ProfileChoice choice = choose_profile({asked.profile, asked.no_profile});
  Words all = words_of(choice, {"--threads", "--io"}, given);
  for (std::string& word : all)
    if (word.starts_with("--threads=")) word.replace(0, word.find('='), "--parallel");
  all.insert(all.end(), words.begin(), words.end());
  LinesOptions options = asked;
  try {
    options = lines::parse_lines_words(all);
  } catch (const UsageError& error) {
    reject(choice, "profile '" + choice.path + "' is damaged: " + error.what());
  }
  set_energy(options, choice);
  print_notice(options, notice_of(choice));
  return options;
}

int run(const Words& words, bool checks_order) {
  const double started_s = engine::monotonic_seconds();
  LinesOptions options = parse_with_profile(words);
  if (checks_order) options.request.input_order = InputOrder::sorted;
  if (options.help) {
    print_out(help_text(command_table("lines")));
    return 0;
  }
  if (options.version) {
    print_out(fmt::format("ecosort lines " ECOSORT_VERSION "\ncompressed files: {}\n", codec::versions()));
    return 0;
  }
  (void)progress_mode(options.progress);
  check_options(options);
  if (const std::string collation = asked_collation(); !collation.empty())
    print_notice(options, fmt::format("the order is that of the C locale (bytes), not of '{}'; LC_ALL=C or --quiet silences this",
                                      collation));
  job::add_named_inputs(options.files0_from, options.request.inputs);
  job::choose_salt(options.request);
  ignore_write_signals();
  std::signal(SIGCHLD, SIG_DFL);  // how each program ended is ours to learn
  for (const std::string& warning : options.warnings) print_notice(options, warning);
  const PlaceKind kind = options.request.place.kind;
  if (kind != PlaceKind::file) {
    check_job(options);
    RowsCommand command = rows_command(options);
    command.look = contents_look(options);
    if (const std::optional<int> code = run_rows_job(command, started_s)) return *code;
  }
  if (options.check != lines::Check::no) return check_order(options);
  if (!options.debug) return sort_files(options, started_s);
  const Lines& lines = options.lines();
  DebugOutput output({options.order(), lines.terminator, lines.header_lines});
  const int code = sort_files(options, started_s);
  output.finish();
  return code;
}

}  // namespace

int plan_lines(const Words& words) {
  Words others;
  const std::uint64_t assumed_bytes = take_assumed_size(words, others);
  const bool is_json = take_json(others);
  LinesOptions options = lines::parse_lines_words(others);
  if (options.help) {
    print_out(help_text(command_table("plan lines")));
    return 0;
  }
  if (assumed_bytes != 0 && (options.request.inputs != Words{"-"} || !options.files0_from.empty()))
    throw UsageError("--assume-size is for lines that are not there; leave one of them out");
  check_options(options);
  const PlaceKind kind = options.request.place.kind;
  const bool is_job = kind != PlaceKind::file;
  if (is_json && !is_job) throw UsageError("plan lines: --json is for --resumable and --inplace; the bounds are told as text");
  if (assumed_bytes != 0 && is_job)
    throw UsageError(
        fmt::format("plan lines: --assume-size goes without {}", kind == PlaceKind::resumable ? "--resumable" : "--inplace"));
  if (options.check != lines::Check::no) throw UsageError("plan lines: -c and -C sort nothing, so there is nothing to plan");
  if (!options.goal.empty()) set_energy(options, choose_profile({options.profile, options.no_profile}));
  job::add_named_inputs(options.files0_from, options.request.inputs);
  raise_open_files();
  job::Session session;
  if (is_job) {
    check_job(options);
    if (plan_rows_job(rows_command(options), is_json, session.storage())) return 0;
  }
  const lines::LinesJob job =
      job::make_rows_job(options.request, session.storage(), job::SpecialOutput::redirected, assumed_bytes);
  const std::uint64_t known = job::are_known(job.inputs) ? job::known_bytes(job.inputs) : 0;
  print_out(lines_bounds_text(job, assumed_bytes != 0 ? assumed_bytes : known));
  return 0;
}

namespace {

// Everything that goes wrong is exit 2, as of sort; only -c uses 1, words that an option does not know, and files whose order is
// checked.
int run_telling(const Words& words, bool checks_order) try { return run(words, checks_order); } catch (const NotSorted& error) {
  say_error_json(words, error);
  say_line(fmt::format("ecosort lines: {}; sort it first (ecosort lines), or say by which keys it is sorted", error.what()));
  return 1;
} catch (const lines::WrongOption& error) {
  say_line(fmt::format("ecosort lines: {}", error.what()));
  say(error.further() + "\n");
  return dynamic_cast<const lines::WrongWord*>(&error) != nullptr ? 1 : 2;
} catch (const Error& error) {
  end_if_no_one_reads(error);
  say_error_json(words, error);
  say_line(fmt::format("ecosort lines: {}{}", error.what(), advice_on(error, {"lines", "-S", "-T"})));
  return 2;
} catch (const std::bad_alloc&) {
  say("ecosort lines: memory exhausted\n");
  return 2;
}

}  // namespace

int run_lines(const Words& words) { return run_telling(words, false); }

int merge_lines(const Words& words) {
  Words all{"--merge"};
  all.insert(all.end(), words.begin(), words.end());
  return run_telling(all, true);
}

}  // namespace ecosort::cli
