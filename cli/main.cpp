// The program `ecosort`: finds the subcommand and maps errors to exit codes. Nothing else prints or exits.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "base/closest_word.h"
#include "base/cpu_features.h"
#include "base/errors.h"
#include "base/size_text.h"
#include "base/system_page.h"
#include "base/threads.h"
#include "build_info.h"
#include "cli/addresses.h"
#include "cli/advice.h"
#include "cli/commands.h"
#include "cli/error_json.h"
#include "cli/option_table.h"
#include "cli/say.h"
#include "cli/text_layout.h"
#include "cli/write_signals.h"
#include "job/cores.h"

namespace {

constexpr std::array<std::string_view, 3> examples{
    "ecosort gen -a 10000000 in.dat                       10 million records, 1 GB",
    "ecosort sort --memory 256MiB in.dat -o sorted.dat    sorts them",
    "ecosort check sorted.dat                             are they in order?"};

// A file opened while standard output or standard error is closed would get its number, and the messages meant for people. The
// stand-ins are open the other way round, so that using them fails.
void fill_closed_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int print_help() {
  const std::size_t columns = ecosort::cli::help_columns();
  ecosort::cli::TextRows rows;
  for (const ecosort::cli::CommandRow& command : ecosort::cli::command_rows())
    rows.emplace_back(command.name, ecosort::cli::command_table(command.name).summary);
  ecosort::cli::print_out(fmt::format(
      "Usage: ecosort COMMAND ...\nSorts files far larger than memory.\n\nExamples:\n{}\nCommands:\n{}\n{}\n",
      ecosort::cli::examples_text({examples.begin(), examples.end()}, columns), ecosort::cli::rows_text(rows, columns),
      ecosort::cli::wrapped("`ecosort COMMAND --help` explains a command. `ecosort --version` prints the version.", 0, 0,
                            columns)));
  return 0;
}

// The last line is what the program finds of the machine; ecosort-tune shows it.
int print_version() {
  ecosort::cli::print_out(fmt::format(
      "ecosort " ECOSORT_VERSION "\ncommit: " ECOSORT_COMMIT "\ncompiler: " ECOSORT_COMPILER "\nflags: " ECOSORT_FLAGS
      "\nmachine: kernels for {}, pages of {}, {} of its CPUs for --threads auto\n",
      to_string(ecosort::cpu_level()), ecosort::format_bytes(ecosort::system_page_bytes()), ecosort::job::threads_for_cores()));
  return 0;
}

[[noreturn]] void refuse_name(std::string_view name) {
  std::vector<std::string_view> names{"--help", "--version"};
  for (const ecosort::cli::CommandRow& command : ecosort::cli::command_rows()) names.push_back(command.name);
  struct stat found{};
  const bool is_file = ::stat(std::string(name).c_str(), &found) == 0 && !S_ISDIR(found.st_mode);
  throw ecosort::UsageError(fmt::format("no such command: '{}'{} (see ecosort --help)", name,
                                        is_file ? "; it is a file: name the command first" : ecosort::did_you_mean(name, names)));
}

int run(std::string_view name, const ecosort::cli::Words& words) {
  if (name == "help" && !words.empty()) {
    ecosort::cli::Words rest(words.begin() + 1, words.end());
    rest.emplace_back("--help");
    return run(words.front(), rest);
  }
  if (name == "--help" || name == "-h" || name == "help") return print_help();
  if (name == "--version") return print_version();
  if (ecosort::cli::mention_addresses(words))
    if (const ecosort::cli::Words remote = ecosort::cli::words_of_remote(name, words); !remote.empty())
      return ecosort::cli::run_remote(remote);
  for (const ecosort::cli::CommandRow& command : ecosort::cli::command_rows())
    if (command.name == name) return command.run != nullptr ? command.run(words) : ecosort::cli::run_typed(name, words);
  if (name.empty()) throw ecosort::UsageError("no command; see ecosort --help");
  refuse_name(name);
}

ecosort::cli::Words all_words(int argc, char** argv) { return {argv + 1, argv + std::max(argc, 1)}; }

// `plan COMMAND` plans that command.
std::string_view command_of(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  return first == "plan" && argc > 2 ? argv[2] : first;
}

}  // namespace

int main(int argc, char** argv) try {
  fill_closed_standard_streams();
  ecosort::keep_threads_small();
  const ecosort::cli::Words words(argv + (argc > 1 ? 2 : 1), argv + argc);
  return run(argc > 1 ? argv[1] : "", words);
} catch (const ecosort::Interrupted& interrupted) {
  ecosort::cli::say_error_json(all_words(argc, argv), interrupted);
  ecosort::cli::say_line(fmt::format("ecosort: {}", interrupted.what()));
  return 128 + interrupted.signal_number();
} catch (const ecosort::Error& error) {
  ecosort::cli::end_if_no_one_reads(error);
  ecosort::cli::say_error_json(all_words(argc, argv), error);
  ecosort::cli::say_line(
      fmt::format("ecosort: {}{}", error.what(), ecosort::cli::advice_on(error, {command_of(argc, argv), "--memory", "--temp"})));
  return static_cast<int>(error.code());
} catch (const std::exception& error) {
  ecosort::cli::say_line(fmt::format("ecosort: internal error: {}", error.what()));
  return static_cast<int>(ecosort::ExitCode::internal);
}
