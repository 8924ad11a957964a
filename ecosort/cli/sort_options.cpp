#include "cli/sort_options.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "cli/option_table.h"

namespace ecosort::cli {

namespace {

std::uint64_t checked_request_size(const std::string& text) {
  const std::uint64_t bytes = parse_bytes(text, "--request-size");
  if (bytes % page_bytes == 0 && bytes >= plan::least_request_bytes && bytes <= plan::most_request_bytes) return bytes;
  throw UsageError(fmt::format("--request-size {}: give a multiple of 4KiB from {} to {}", text,
                               format_bytes(plan::least_request_bytes), format_bytes(plan::most_request_bytes)));
}

unsigned checked_depth(std::uint64_t depth) {
  if (depth > 0 && depth <= plan::most_depth) return static_cast<unsigned>(depth);
  throw UsageError(fmt::format("--request-depth: give a number from 1 to {}", plan::most_depth));
}

}  // namespace

SortOptions parse_sort_options(const std::string& command, const Words& words) {
  SortOptions options;
  std::uint64_t threads = 0;
  std::string request_size;
  std::uint64_t request_depth = 0;
  OptionTargets targets;
  targets.texts = {{"-o,--output", &options.output}, {"--memory", &options.memory},    {"--io", &options.io},
                   {"--verify", &options.verify},    {"--stats", &options.stats},      {"--events", &options.events},
                   {"--trace", &options.trace},      {"--progress", &options.progress}};
  targets.lists = {{"--key", &options.keys}, {"--temp", &options.temp}};
  targets.switches = {{"--unique", &options.unique},       {"--reverse", &options.reverse}, {"--stable", &options.stable},
                      {"--resumable", &options.resumable}, {"-q,--quiet", &options.quiet},  {"--json", &options.json}};
  targets.texts["--request-size"] = &request_size;
  targets.numbers = {{"--record-size", &options.record_size}, {"--threads", &threads}, {"--request-depth", &request_depth}};
  std::string assume_size, space;
  targets.texts["--assume-size"] = &assume_size;
  targets.texts["--space"] = &space;
  targets.operands = &options.inputs;
  const ParsedWords parsed = parse_words(command_table(command), words, targets);
  if (parsed.asks_for_help) {
    options.help = true;
    return options;
  }
  options.threads = checked_threads(parsed, threads);
  if (parsed.given.contains("--request-size"))
    options.requests.bytes = options.requests.output_bytes = checked_request_size(request_size);
  if (parsed.given.contains("--request-depth")) options.requests.depth = checked_depth(request_depth);
  if (!assume_size.empty()) throw UsageError("--assume-size goes with: ecosort plan inplace");
  if (!space.empty()) throw UsageError("--space goes with: ecosort plan inplace");
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

unsigned checked_threads(const ParsedWords& parsed, std::uint64_t threads) {
  if (parsed.given.contains("--threads") && (threads == 0 || threads > 1024))
    throw UsageError("--threads: give a number from 1 to 1024");
  return static_cast<unsigned>(threads);
}

ProgressMode progress_mode(const std::string& text) {
  if (text == "auto") return ProgressMode::automatic;
  if (text == "none") return ProgressMode::none;
  if (text == "json") return ProgressMode::json;
  throw UsageError(fmt::format("--progress: '{}' is none of auto, none, json", text));
}

}  // namespace ecosort::cli
