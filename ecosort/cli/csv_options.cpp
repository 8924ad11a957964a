#include "cli/csv_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "cli/compression_options.h"
#include "cli/option_binding.h"
#include "cli/option_table.h"
#include "cli/progress_line.h"
#include "cli/sort_options.h"
#include "io/backends.h"
#include "job/places.h"

namespace ecosort::cli {
namespace {

// The words that are not values yet.
struct CsvWords {
  std::string output, delimiter, quote, nulls, memory, io = "auto";
  std::uint64_t threads = 0;
  bool no_header = false;
  CompressionWords compression{"auto", "auto", ""};
};

char one_byte(const std::string& option, const std::string& word) {
  if (word.size() == 1) return word.front();
  throw UsageError(fmt::format("{}: '{}' is not one byte", option, word));
}

char delimiter_of(const std::string& word) { return word == "tab" || word == "\\t" ? '\t' : one_byte("--delimiter", word); }

bool are_nulls_first(const std::string& word) {
  if (word != "first" && word != "last") throw UsageError(fmt::format("--nulls: '{}' is neither 'first' nor 'last'", word));
  return word == "first";
}

void resolve(const CsvWords& words, const ParsedWords& parsed, CsvOptions& options) {
  SortSpec& spec = options.spec;
  spec.format = Format::csv;
  spec.output = is_standard_output(words.output) ? std::string(1, '-') : words.output;
  if (!words.delimiter.empty()) spec.csv.delimiter = delimiter_of(words.delimiter);
  if (words.quote == "none")
    spec.csv.quote.reset();
  else if (!words.quote.empty())
    spec.csv.quote = one_byte("--quote", words.quote);
  spec.csv.header = !words.no_header;
  if (!words.nulls.empty()) spec.csv.nulls_first = are_nulls_first(words.nulls);
  if (!words.memory.empty()) spec.memory_bytes = std::max<std::uint64_t>(parse_bytes(words.memory, "--memory"), 1);
  spec.threads = checked_threads(parsed, words.threads);
  spec.io = words.io;
  spec.compression = words.compression.terms();
  (void)io::parse_backend(spec.io);
  (void)progress_mode(options.progress);
}

void check_complete(const CsvOptions& options) {
  const SortSpec& spec = options.spec;
  if (spec.csv.keys.empty()) throw UsageError("csv: no key; name a column with --by NAME[:TYPE][:desc]");
  if (spec.inputs.empty()) throw UsageError("csv: no input; name one or more files, or - for standard input");
  if (options.check) {
    if (spec.csv.merge) throw UsageError("csv: --check sorts nothing, and goes without --merge");
    if (!spec.output.empty()) throw UsageError("csv: --check writes nothing, and goes without -o");
    if (spec.inputs.size() > 1) throw UsageError("csv: --check takes one input");
    return;
  }
  if (spec.output.empty()) throw UsageError("csv: no output; name it with -o FILE, or -o - for standard output");
}

}  // namespace

CsvOptions parse_csv_options(const Words& words) {
  CsvOptions options;
  CsvWords texts;
  OptionTargets targets;
  targets.texts = {{"-o,--output", &texts.output},    {"--delimiter", &texts.delimiter},
                   {"--quote", &texts.quote},         {"--nulls", &texts.nulls},
                   {"--memory", &texts.memory},       {"--io", &texts.io},
                   {"--stats", &options.stats},       {"--events", &options.events},
                   {"--progress", &options.progress}, {"--date-format", &options.spec.csv.date_format}};
  targets.lists = {{"--by", &options.spec.csv.keys}, {"--temp", &options.spec.temp_directories}};
  targets.switches = {{"--no-header", &texts.no_header},  {"--strict", &options.spec.csv.strict},
                      {"--unique", &options.spec.unique}, {"--merge", &options.spec.csv.merge},
                      {"--check", &options.check},        {"-q,--quiet", &options.quiet}};
  targets.numbers = {{"--threads", &texts.threads}};
  texts.compression.bind(targets);
  targets.operands = &options.spec.inputs;
  const ParsedWords parsed = parse_words(command_table("csv"), words, targets);
  options.help = parsed.asks_for_help;
  if (options.help) return options;
  resolve(texts, parsed, options);
  check_complete(options);
  return options;
}

}  // namespace ecosort::cli
