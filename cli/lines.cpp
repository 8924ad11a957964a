// `ecosort lines`: text lines with the grammar, the messages and the exit codes of GNU sort.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/errors.h"
#include "base/open_files.h"
#include "cli/advice.h"
#include "cli/commands.h"
#include "cli/debug_output.h"
#include "cli/error_json.h"
#include "cli/jobs.h"
#include "cli/line_contents.h"
#include "cli/rows_command.h"
#include "cli/say.h"
#include "cli/sorts.h"
#include "cli/write_signals.h"
#include "formats/lines/key_warnings.h"
#include "formats/lines/key_words.h"
#include "formats/lines/option_words.h"
#include "formats/lines/quoted.h"
#include "job/groups.h"
#include "job/prepare_rows.h"
#include "job/session.h"

namespace ecosort::cli {
namespace {

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

lines::LineOrderTerms order_of(const CommandLine& line) {
  return lines::order_terms(line.lines(), job::keys_make_groups(line.request));
}

LineContents contents_of(const CommandLine& line) {
  const lines::LineOrderTerms order = order_of(line);
  const bool unpacks = line.request.compression.decompress;
  return {order.keys.empty() ? std::nullopt : order.separator, !unpacks && !line.has("--decompress"),
          unpacks && line.lines().terminator != '\0'};
}

std::string plain_output_notice(const CommandLine& line) {
  const std::string& output = line.request.place.output;
  const auto codec = codec::codec_of_file_name(output);
  if (!codec || line.has("--compress-output") || line.request.compression.output != Compression{}.output) return "";
  return fmt::format("{}: is written as it is, and not compressed; to write {}, give --compress-output=auto",
                     lines::quoted_name(output), codec::name_of(*codec));
}

engine::rows::FirstLook look_with(LineContents contents, const RunReports& reports) {
  if (reports.quiet) return {};
  return [contents, reports](const std::string& name, Text first) mutable {
    for (const std::string& notice : contents.look(name, first)) reports.print(notice);
  };
}

// Returns those that are sorted as they are.
std::vector<CompressedInput> compressed_inputs(const engine::rows::LinesJob& job) {
  std::vector<CompressedInput> inputs;
  for (const engine::rows::LineInput& input : job.inputs)
    if (input.contents != nullptr && input.codec && !input.decompresses &&
        std::ranges::find(inputs, input.name, &CompressedInput::name) == inputs.end())
      inputs.push_back({input.name, input.contents->name});
  return inputs;
}

bool checks_only(const CommandLine& line) { return line.has("--check") || line.has("-C"); }

int check_order(const CommandLine& line) {
  const std::vector<std::string>& inputs = line.request.inputs;
  const bool names_line = line.has("--check");
  if (inputs.size() > 1)  // named by --files0-from
    throw UsageError(fmt::format("extra operand {} not allowed with -{}", lines::quoted_word(inputs[1]), names_line ? 'c' : 'C'));
  const std::string& name = inputs.front();
  struct stat info{};
  if (name != "-") {
    if (::access(name.c_str(), R_OK) != 0 || ::stat(name.c_str(), &info) != 0) job::cannot("open failed", name, errno);
    if (S_ISDIR(info.st_mode)) job::cannot("read failed", name, EISDIR);
  }
  const engine::CheckTerms terms{.unique = line.request.has_groups()};
  const auto disorder = job::check_rows(line.request, terms, look_at_contents(line)).first;
  if (!disorder) return 0;
  if (names_line)
    say(fmt::format("ecosort lines: {}:{}: disorder: {}{}", name, disorder->line_number, disorder->line,
                    line.lines().terminator));
  return 1;
}

void check_plan(const CommandLine& line) {
  const bool is_assumed = line.assumed_bytes() != 0;
  if (is_assumed && (line.request.inputs != Words{"-"} || line.has("--files0-from")))
    throw UsageError("--assume-size is for lines that are not there; leave one of them out");
  const PlaceKind kind = line.request.place.kind;
  if (line.has("--json") && kind == PlaceKind::file)
    throw UsageError("plan lines: --json is for --resumable and --inplace; the bounds are printed as text");
  if (is_assumed && kind != PlaceKind::file)
    throw UsageError(fmt::format("plan lines: --assume-size cannot be combined with {}",
                                 kind == PlaceKind::resumable ? "--resumable" : "--inplace"));
  if (checks_only(line)) throw UsageError("plan lines: -c and -C sort nothing, so there is nothing to plan");
}

void check_as_is(const CommandLine& line) {
  if (line.request.place.as_is && line.request.place.kind != PlaceKind::in_place)
    throw UsageError("--as-is goes with --inplace; otherwise lines are sorted as they are, unless --decompress says otherwise");
}

// Returns what --debug says about the keys.
std::vector<std::string> warnings_of(const CommandLine& line) {
  std::vector<lines::KeyWords> keys;
  for (const GivenOption& given : line.given.options) {
    if (last_spelling(given.row->name) != "--key") continue;
    keys.push_back(lines::parse_key_words(*given.word));
    keys.back().is_obsolescent = given.is_obsolescent;
  }
  lines::KeyWords global;
  for (const char letter : line.lines().ordering) (void)global.set(letter, lines::BlankSide::both);
  const bool is_global_only = keys.empty() && global.orders(),
             has_last_resort = !line.lines().stable && !job::keys_make_groups(line.request);
  lines::resolve_keys(keys, global);
  return lines::key_warnings({keys, global, is_global_only, has_last_resort, line.lines().separator});
}

int sort_files(const CommandLine& line, double started_s) {
  raise_open_files();
  job::Session session;
  tell_waits(session, line.reports);
  job::PreparedLines prepared = job::prepare_rows(line.request, session.storage(), job::SpecialOutput::redirected);
  LineContents contents = contents_of(line);
  line.reports.print(contents.compressed_notice(compressed_inputs(prepared.job)));
  line.reports.print(plain_output_notice(line));
  prepared.job.look = look_with(contents, line.reports);
  return run_rows({.request = line.request,
                   .reports = line.reports,
                   .words = {"lines", "-S", "-T"},
                   .threads_option = "--parallel",
                   .done = "the sorted output is complete",
                   .started_s = started_s},
                  prepared, session);
}

int run(const Words& words, bool checks_order) {
  const double started_s = engine::monotonic_seconds();
  CommandLine line = read_lines_words("lines", words);
  if (line.asks_for_help()) return print_help(*line.table);
  if (line.given.asks_for_version) {
    print_out(fmt::format("ecosort lines " ECOSORT_VERSION "\ncompressed files: {}\n", codec::versions()));
    return 0;
  }
  if (checks_order) line.request.input_order = InputOrder::sorted;
  line.reports.teller = "ecosort lines";
  line.reports.print(notice_of(line.profile));
  ignore_write_signals();
  return sort_lines(std::move(line), started_s);
}

}  // namespace

engine::rows::FirstLook look_at_contents(const CommandLine& line) { return look_with(contents_of(line), line.reports); }

CommandLine read_lines_words(std::string_view command, const Words& words) {
  CommandLine line = read_command_line(command, words);
  if (line.asks_for_help() || line.given.asks_for_version) return line;
  take_profile(line);
  check_as_is(line);
  job::add_named_inputs(std::string(line.word("--files0-from")), line.request.inputs);
  if (command.starts_with("plan ")) check_plan(line);
  return line;
}

int sort_lines(CommandLine line, double started_s) {
  line.reports.teller = "ecosort lines";
  if (const std::string collation = asked_collation(); !collation.empty() && line.lines().collate.empty())
    line.reports.print(
        fmt::format("the order is that of the C locale (bytes), not of '{}'; LC_ALL=C or --quiet silences this", collation));
  job::choose_salt(line.request);
  std::signal(SIGCHLD, SIG_DFL);  // how each program ended is ours to learn
  if (line.has("--debug"))
    for (const std::string& warning : warnings_of(line)) line.reports.print(warning);
  if (line.request.place.kind != PlaceKind::file) {
    check_job(line);
    const RowsCommand command{line.request, line.reports, look_at_contents(line)};
    if (const std::optional<int> code = run_rows_job(command, started_s)) return *code;
  }
  if (checks_only(line)) return check_order(line);
  if (!line.has("--debug")) return sort_files(line, started_s);
  DebugOutput output({order_of(line), line.lines().terminator, line.lines().header_lines});
  const int code = sort_files(line, started_s);
  output.finish();
  return code;
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
