// ecosort manual: the man pages, the shell completions and the options as data, made from the same tables as the help.
#include "cli/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/closest_word.h"
#include "base/errors.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/say.h"
#include "cli/text_layout.h"
#include "ecosort/request.hpp"

namespace ecosort::cli {

namespace {

// Text for man: what it would read as an instruction is escaped, `words` become bold.
std::string roff(std::string_view text) {
  std::string escaped;
  bool bold = false, line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) escaped += "\\&";
    line_start = c == '\n';
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else if (c == '`')
      escaped += (bold = !bold) ? "\\fB" : "\\fR";
    else
      escaped += c;
  }
  return escaped;
}

std::string item(std::string_view word, std::string_view text) { return fmt::format(".TP\n.B {}\n{}\n", roff(word), roff(text)); }

// A word beside its text, as in a table.
std::string table_item(std::string_view word, std::string_view text) {
  return fmt::format(".TP 17\n.B {}\n{}\n", roff(word), roff(text));
}

// Paragraphs; lines of the form "  WORD   TEXT" are rows of a table.
std::string paragraphs(std::string_view text) {
  std::string page;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("  ")) {
      const auto [word, meaning] = parts_of_example(line.substr(2));
      page += table_item(word, meaning);
    } else {
      page += fmt::format(".PP\n{}\n", roff(line));
    }
  }
  return page;
}

// Lists what commands read and write besides what their words name.
struct Fact {
  std::string_view commands;  // separated by blanks
  std::string_view name, text;

  [[nodiscard]] bool is_of(std::string_view command) const {
    for (std::size_t at = commands.find(command); at != std::string_view::npos; at = commands.find(command, at + 1)) {
      const std::size_t end = at + command.size();
      if ((at == 0 || commands[at - 1] == ' ') && (end == commands.size() || commands[end] == ' ')) return true;
    }
    return false;
  }
};

constexpr Fact file_facts[] = {
    {"sort merge inplace plan tune", "$XDG_CONFIG_HOME/ecosort/profile.toml, ~/.config/ecosort/profile.toml",
     "the profile that `ecosort tune` writes: values for options that are not given"},
    {"sort resume", "OUTPUT.ecosort/", "of sort --resumable: the runs and the journal, until the output is complete"},
    {"merge", "OUTPUT.ecosort/", "with --runs: the runs of an interrupted job and its journal, which are only read"},
    {"inplace resume", "FILE.ecosort/", "the records of FILE, and the journal, until FILE is complete again"},
    {"sort merge lines csv jsonl shuffle sample partition", ".ecosort-*.tmp",
     "an output that is not complete yet, where the file system has no unnamed files"},
    {"check", "SUMMARY_FILE", "280 bytes of what a partition holds, as valsort 1.5 writes them"},
    {"gen", "/dev/null, /dev/stdout", "no file is written, or a stream"},
    {"lines", "/tmp, the directory of the output",
     "sorted runs that do not fit the memory, unnamed, where no -T and no $TMPDIR say else"},
    {"csv jsonl shuffle", "/tmp, the directory of the output",
     "sorted runs that do not fit the memory, unnamed, where no --temp and no $TMPDIR say else"},
    {"manual", "PREFIX/share/man/man1, PREFIX/share/bash-completion/completions, PREFIX/share/fish/vendor_completions.d",
     "where `make install` puts what this command prints"},
    {"power joulesort serve", "~/.config/ecosort/meters.toml", "meters by name; see ecosort power --help"},
    {"cluster", "DIR/part-00000, DIR/MANIFEST.json", "the sorted parts; the manifest appears when all of them are complete"},
    {"cluster", "DIR/part-00000.sum", "of 100-byte records by their first 10 bytes: what valsort 1.5 keeps of a part"},
    {"cluster", "DIR.ecosort", "the journal of a sort that has not ended; resume continues with it"},
    {"cluster", "FILE, FILE.MANIFEST.json, FILE.ecosort", "the same with --single: one output, its manifest, and its journal"},
    {"cluster", "TEMP/BUCKET,PREFIX.ecosort", "the journal of a sort into s3://BUCKET/PREFIX; TEMP is the first --nodes-temp"},
    {"queue serve", "$XDG_STATE_HOME/ecosort, ~/.local/state/ecosort, /var/lib/ecosort",
     "the queue and what its jobs said; the last one is root's"},
};

constexpr Fact environment_facts[] = {
    {"sort merge inplace resume lines csv jsonl shuffle sample partition plan run request gen check manual", "COLUMNS",
     "the width that help is laid out for, and the progress line where the terminal does not report its own"},
    {"sort merge inplace plan run request tune", "XDG_CONFIG_HOME, HOME", "where the profile is looked for"},
    {"lines", "TMPDIR", "directory for sorted runs where there is no -T"},
    {"csv jsonl shuffle run", "TMPDIR", "directory for sorted runs where there is no --temp"},
    {"lines", "LC_ALL, LC_COLLATE, LANG",
     "are not followed: the order is that of the C locale; a notice says so where they ask for another"},
    {"lines request", "POSIXLY_CORRECT, _POSIX2_VERSION",
     "whether options may follow files, and whether +N is a key, as in sort"},
    {"sort merge inplace resume lines csv jsonl shuffle partition run gen check", "ECOSORT_CPU",
     "the newest instructions that may be used, for tests"},
    {"parquet", "TMPDIR", "directory for sorted runs where there is no --temp"},
    {"power tune joulesort cluster parquet queue serve", "ECOSORT_PROGRAM",
     "the program that sorts and validates; set to the one that is running"},
    {"cluster parquet sort lines csv jsonl", "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL",
     "who may use buckets of s3://, and where they are; also on the nodes"},
    {"queue serve", "ECOSORT_QUEUE", "the directory of the queue, in place of those below FILES"},
};

template <std::size_t n>
std::string facts_section(const char* title, const Fact (&facts)[n], std::string_view command) {
  std::string rows;
  for (const Fact& fact : facts)
    if (command.empty() || fact.is_of(command)) rows += item(fact.name, fact.text);
  return rows.empty() ? "" : fmt::format(".SH {}\n{}", title, rows);
}

std::string examples_section(const std::vector<std::string>& examples) {
  std::string text = ".SH EXAMPLES\n";
  for (const std::string_view example : examples) {
    const auto [command, what] = parts_of_example(example);
    text += fmt::format(".PP\n.nf\n.RS\n.B {}\n.RE\n.fi\n", roff(command));
    if (!what.empty()) text += fmt::format(".RS 8\n{}\n.RE\n", roff(what));
  }
  return text;
}

std::string options_of(const CommandTable& table) {
  std::string text;
  for (const OptionRow& option : table.options)
    if (!option.is_hidden) text += item(option_words(option), option_text(option));
  for (const OperandRow& operand : table.operands) text += item(operand.name, operand.text);
  text += item("--help", "print a summary of this page");
  return text + paragraphs(table.explanation());
}

std::string exit_section(const CommandTable& table) {
  if (table.exit_status.empty()) return fmt::format(".SH EXIT STATUS\n.PP\nAs \\fBecosort {} \\-\\-help\\fR says.\n", table.name);
  std::string text = ".SH EXIT STATUS\n";
  for (const OperandRow& row : table.exit_status) text += table_item(row.name, row.text);
  return text;
}

std::string title(std::string_view page, std::string_view summary) {
  std::string upper(page);
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return fmt::format(".TH {} 1 \"\" \"ecosort " ECOSORT_VERSION "\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", roff(upper),
                     roff(page), roff(summary));
}

std::string command_page(const CommandTable& table) {
  std::string text = title(fmt::format("ecosort-{}", table.name), table.summary);
  text += fmt::format(".SH SYNOPSIS\n.B ecosort {}\n{}\n.SH DESCRIPTION\n", table.name, roff(table.synopsis));
  text += paragraphs(table.description.empty() ? fmt::format("`ecosort {}` {}.", table.name, table.summary)
                                               : std::string(table.description));
  text += ".SH OPTIONS\n" + options_of(table);
  if (table.name == "plan")
    for (const CommandTable& what : plan_tables())
      text += fmt::format(".SS ecosort {} {}\n", what.name, roff(what.synopsis)) + options_of(what);
  text += facts_section("FILES", file_facts, table.name) + facts_section("ENVIRONMENT", environment_facts, table.name) +
          exit_section(table);
  return text + examples_section(table.examples) + ".SH SEE ALSO\n.BR ecosort (1),\n.BR sort (1)\n";
}

std::string overview_page() {
  std::string text = title("ecosort", "sorts files far larger than memory");
  text += ".SH SYNOPSIS\n.nf\n";
  for (const CommandTable& table : command_tables()) text += fmt::format(".B ecosort {}\n{}\n", table.name, roff(table.synopsis));
  text +=
      ".fi\n.SH DESCRIPTION\n.PP\nSorts files far larger than memory, and loses no record. Every command has a page of its own, "
      "and explains itself with\n.BR \\-\\-help .\n.SH COMMANDS\n";
  std::vector<std::string> examples;
  for (const CommandTable& table : command_tables()) {
    text += fmt::format(".TP\n.BR ecosort\\-{} (1)\n{}\n", table.name, roff(table.summary));
    examples.push_back(table.examples.front());
  }
  text += facts_section("FILES", file_facts, "") + facts_section("ENVIRONMENT", environment_facts, "");
  text += exit_section(command_table("sort")) + ".PP\ngen, check and lines have codes of their own, which their pages list.\n";
  text += examples_section(examples) + ".SH SEE ALSO\n";
  for (const CommandTable& table : command_tables()) text += fmt::format(".BR ecosort\\-{} (1),\n", table.name);
  return text + ".BR sort (1)\n";
}

// "man|bash|fish|json|request"
std::string forms() {
  std::vector<std::string_view> names;
  for (const OperandRow& operand : command_table("manual").operands) names.push_back(operand.name);
  return fmt::format("{}", fmt::join(names, "|"));
}

std::string page_of(const std::string& command) {
  std::vector<std::string_view> names;
  for (const CommandTable& table : command_tables()) {
    if (table.name == command) return command_page(table);
    names.push_back(table.name);
  }
  throw UsageError(fmt::format("manual: no such command: '{}'{}; give {}, and after man a command or nothing", command,
                               did_you_mean(command, names), forms()));
}

}  // namespace

int run_manual(const Words& words) {
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h"))
    print_out(help_text(command_table("manual")));
  else if (words == Words{"man"})
    print_out(overview_page());
  else if (words.size() == 2 && words[0] == "man")
    print_out(page_of(words[1]));
  else if (words == Words{"bash"})
    print_out(bash_completion());
  else if (words == Words{"fish"})
    print_out(fish_completion());
  else if (words == Words{"json"})
    print_out(manual_json());
  else if (words == Words{"request"})
    print_out(request_schema() + "\n");
  else
    throw UsageError(fmt::format("manual: give one of {} (see ecosort manual --help)", forms()));
  return 0;
}

}  // namespace ecosort::cli
