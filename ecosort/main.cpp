// The program `ecosort`: finds the subcommand and maps errors to exit codes. Nothing else prints or exits.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>
#include <string_view>

#include "base/errors.h"
#include "cli/commands.h"

namespace {

struct Command {
  std::string_view name;
  int (*run)(const ecosort::cli::Words&);
};

constexpr std::array commands{
    Command{"sort", ecosort::cli::run_sort},
    Command{"plan", ecosort::cli::run_plan},
    Command{"gen", ecosort::cli::run_gen},
    Command{"check", ecosort::cli::run_check},
};

}  // namespace

int main(int argc, char** argv) try {
  const ecosort::cli::Words words(argv + (argc > 1 ? 2 : 1), argv + argc);
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Command& command : commands)
    if (command.name == name) return command.run(words);
  throw ecosort::UsageError(fmt::format("no such command: '{}' (see ecosort --help)", name));
} catch (const ecosort::Interrupted& interrupted) {
  fmt::print(stderr, "ecosort: {}\n", interrupted.what());
  return 128 + interrupted.signal_number();
} catch (const ecosort::Error& error) {
  fmt::print(stderr, "ecosort: {}\n", error.what());
  return static_cast<int>(error.code());
} catch (const std::exception& error) {
  fmt::print(stderr, "ecosort: internal error: {}\n", error.what());
  return static_cast<int>(ecosort::ExitCode::internal);
}
