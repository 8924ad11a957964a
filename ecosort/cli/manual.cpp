// ecosort manual: the man page and the shell completions, made from the same tables as the help.
#include <fmt/format.h>

#include "base/errors.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/option_table.h"
#include "cli/say.h"

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

std::string section_of(const CommandTable& table) {
  std::string text = fmt::format(".SS ecosort {} {}\n", table.name, roff(table.synopsis));
  text += table.description.empty() ? fmt::format("{}.\n", roff(table.summary)) : fmt::format("{}\n", roff(table.description));
  for (const OptionRow& option : table.options) text += item(option_words(option), option_text(option));
  for (const OperandRow& operand : table.operands) text += item(operand.name, operand.text);
  if (!table.ending.empty()) text += fmt::format(".PP\n{}\n", roff(table.ending));
  text += ".PP\nExamples:\n.PP\n.nf\n.RS\n";
  for (const std::string_view example : table.examples) text += roff(example) + "\n";
  return text + ".RE\n.fi\n";
}

constexpr std::string_view exit_codes = R"(.SH EXIT STATUS
Of sort, plan, inplace, resume and manual; gen, check and lines say theirs above, power and tune in their own --help.
.TP
.B 0
done
.TP
.B 1
the written records failed their verification
.TP
.B 2
wrong usage, bad input, or a plan that cannot work
.TP
.B 3
an I/O error, also an input that changed while it was read; after inplace and sort \-\-resumable, resume goes on
.TP
.B 4
an internal error
.TP
.B 128+N
ended by signal N
)";

std::string man_page() {
  std::string text = ".TH ECOSORT 1 \"\" \"ecosort " ECOSORT_VERSION "\" \"User Commands\"\n";
  text += ".SH NAME\necosort \\- sorts files far larger than memory\n.SH SYNOPSIS\n.nf\n";
  for (const CommandTable& table : command_tables()) text += fmt::format(".B ecosort {}\n{}\n", table.name, roff(table.synopsis));
  text += ".fi\n.SH DESCRIPTION\n";
  for (const CommandTable& table : command_tables()) text += item(table.name, table.summary);
  text += ".SH COMMANDS\nEvery command explains itself with\n.BR \\-\\-help .\n";
  for (const CommandTable& table : command_tables()) text += section_of(table);
  return text + std::string(exit_codes) + ".SH SEE ALSO\n.BR sort (1)\n";
}

}  // namespace

int run_manual(const Words& words) {
  const CommandTable& table = command_table("manual");
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h"))
    print_out(help_text(table));
  else if (words == Words{"man"})
    print_out(man_page());
  else if (words == Words{"bash"})
    print_out(bash_completion());
  else if (words == Words{"fish"})
    print_out(fish_completion());
  else
    throw UsageError(fmt::format("manual: give one of {} (see ecosort manual --help)", table.synopsis));
  return 0;
}

}  // namespace ecosort::cli
