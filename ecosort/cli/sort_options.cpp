#include "cli/sort_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <functional>
#include <map>
#include <ranges>

#include "base/errors.h"
#include "cli/option_table.h"

namespace ecosort::cli {

namespace {

// Where each option of the table puts its value. Every option of the table must be here: parse_sort_options checks it.
struct Targets {
  std::map<std::string_view, std::string*> texts;
  std::map<std::string_view, std::vector<std::string>*> lists;
  std::map<std::string_view, bool*> switches;
  std::map<std::string_view, std::uint64_t*> numbers;
};

// Strictly decimal: CLI11 would read "-1" as a huge number and "0100" as octal.
std::uint64_t parse_whole(const std::string& option, const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) return value;
  throw UsageError(fmt::format("{}: '{}' is not a whole number", option, text));
}

// CLI11 takes a file named "[a,b]" for two files.
std::string protect_brackets(const std::string& word) { return word.starts_with('[') ? fmt::format("./{}", word) : word; }

void bind(CLI::App& app, const CommandTable& table, Targets& targets) {
  for (const OptionRow& row : table.options) {
    const std::string name(row.name);
    if (const auto it = targets.texts.find(row.name); it != targets.texts.end())
      app.add_option(name, *it->second)->check([](const std::string& value) { return value.empty() ? "needs a value" : ""; });
    else if (const auto list = targets.lists.find(row.name); list != targets.lists.end())
      app.add_option(name, *list->second)
          ->expected(1)
          ->allow_extra_args(false)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    else if (const auto flag = targets.switches.find(row.name); flag != targets.switches.end())
      app.add_flag(name, *flag->second);
    else if (const auto number = targets.numbers.find(row.name); number != targets.numbers.end())
      app.add_option_function<std::string>(
          name, [&target = *number->second, name](const std::string& value) { target = parse_whole(name, value); });
    else
      throw InternalError(fmt::format("option {} of the table is bound to nothing", name));
  }
}

}  // namespace

SortOptions parse_sort_options(const std::string& command, const Words& words) {
  SortOptions options;
  std::uint64_t threads = 0;
  Targets targets;
  targets.texts = {{"-o,--output", &options.output}, {"--memory", &options.memory},    {"--io", &options.io},
                   {"--verify", &options.verify},    {"--stats", &options.stats},      {"--events", &options.events},
                   {"--trace", &options.trace},      {"--progress", &options.progress}};
  targets.lists = {{"--key", &options.keys}, {"--temp", &options.temp}};
  targets.switches = {
      {"--unique", &options.unique}, {"--stable", &options.stable}, {"-q,--quiet", &options.quiet}, {"--json", &options.json}};
  targets.numbers = {{"--record-size", &options.record_size}, {"--threads", &threads}};

  CLI::App app;
  app.set_help_flag("-h,--help", "");
  bind(app, command_table(command), targets);
  app.add_option("INPUT", options.inputs);
  try {
    Words last_first;
    for (const std::string& word : std::views::reverse(words)) last_first.push_back(protect_brackets(word));
    app.parse(last_first);
  } catch (const CLI::CallForHelp&) {
    options.help = true;
    return options;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}: {} (see ecosort {} --help)", command, error.what(), command));
  }
  if (app.count("--threads") > 0 && (threads == 0 || threads > 1024)) throw UsageError("--threads: give a number from 1 to 1024");
  options.threads = static_cast<unsigned>(threads);
  if (options.verify != "always" && options.verify != "reread")
    throw UsageError(
        fmt::format("--verify: '{}' is neither 'always' nor 'reread'; verification cannot be turned off", options.verify));
  (void)progress_mode(options.progress);
  (void)io::parse_backend(options.io);
  if (options.inputs.empty())
    throw UsageError(fmt::format("{}: no input; name one or more files, or - for standard input", command));
  if (options.output.empty())
    throw UsageError(fmt::format("{}: no output; name it with -o FILE, or -o - for standard output", command));
  return options;
}

ProgressMode progress_mode(const std::string& text) {
  if (text == "auto") return ProgressMode::automatic;
  if (text == "none") return ProgressMode::none;
  if (text == "json") return ProgressMode::json;
  throw UsageError(fmt::format("--progress: '{}' is none of auto, none, json", text));
}

}  // namespace ecosort::cli
