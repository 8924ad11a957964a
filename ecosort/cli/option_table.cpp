#include "cli/option_table.h"

#include <fmt/format.h>

#include "base/errors.h"

namespace ecosort::cli {

namespace {

std::vector<OptionRow> sort_options() {
  return {
      {"-o,--output", "FILE", "",
       "where the sorted records go; `-` is standard output. An existing file is replaced only when all went well"},
      {"--record-size", "BYTES", "100", "length of every record, 1 byte to 1 MiB"},
      {"--key", "OFFSET:LENGTH[:bytes][:desc]", "0:10",
       "sort key, compared as unsigned bytes; repeatable, the first one decides first", true},
      {"--unique", "", "", "keep only the first record, in input order, of those with equal keys"},
      {"--stable", "", "", "accepted and changes nothing: the order is always stable"},
      {"--memory", "SIZE", "half of the available RAM, or the limit of the control group",
       "bound on all buffers, such as 512MiB"},
      {"--threads", "N", "the CPUs this process may use", "compute threads"},
      {"--temp", "DIR", "beside the output", "directory for sorted runs; repeatable, runs are striped over all of them", true},
      {"--io", "auto|uring|pool|stxxl", "auto", "I/O backend"},
      {"--verify", "always|reread", "always", "`reread` also reads the written output back from the device"},
      {"--stats", "FILE", "", "write a report of the run as JSON"},
      {"--events", "FILE", "", "write phase begin and end times as JSON lines, as they happen"},
      {"--trace", "FILE", "", "write every I/O request as a line of text, for a replay without computing (for developers)"},
      {"--progress", "auto|none|json", "auto", "`auto`: a line on standard error if it is a terminal; `json`: JSON lines there"},
      {"-q,--quiet", "", "", "no notices"},
  };
}

std::vector<OptionRow> plan_options() {
  std::vector<OptionRow> options = sort_options();
  options.push_back({"--json", "", "", "print the plan as one JSON object"});
  return options;
}

}  // namespace

const std::vector<CommandTable>& command_tables() {
  static const std::vector<CommandTable> tables{
      {"sort",
       "[options] INPUT... -o OUTPUT",
       "sorts files of fixed-size records, however large",
       {"ecosort sort input.dat -o sorted.dat                      the defaults suit gensort records",
        "ecosort sort --memory 1GiB --temp /ssd1 --temp /ssd2 a b -o out    two inputs, runs striped over two drives",
        "ecosort sort --record-size 16 --key 8:8 - -o - < in > out  16-byte records, key in the second half"},
       sort_options()},
      {"plan",
       "sort [options] INPUT... -o OUTPUT",
       "prints what sort would do; writes nothing",
       {"ecosort plan sort --memory 1GiB input.dat -o sorted.dat", "ecosort plan sort --json input.dat -o sorted.dat"},
       plan_options()},
  };
  return tables;
}

const CommandTable& command_table(std::string_view name) {
  for (const CommandTable& table : command_tables())
    if (table.name == name) return table;
  throw InternalError(fmt::format("no option table for '{}'", name));
}

std::string help_text(const CommandTable& table) {
  std::string text = fmt::format("Usage: ecosort {} {}\n{}.\n\nExamples:\n", table.name, table.synopsis, table.summary);
  for (const std::string_view example : table.examples) text += fmt::format("  {}\n", example);
  text += "\nOptions:\n";
  for (const OptionRow& option : table.options) {
    std::string name(option.name);
    if (const std::size_t comma = name.find(','); comma != std::string::npos) name.insert(comma + 1, " ");
    text += fmt::format("  {}{}{}\n      {}", name, option.argument.empty() ? "" : " ", option.argument, option.text);
    if (!option.fallback.empty()) text += fmt::format(" (default: {})", option.fallback);
    text += "\n";
  }
  return text + "  --help\n      print this text\n";
}

}  // namespace ecosort::cli
