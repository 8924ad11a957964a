#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "cli/manual.h"
#include "cli/option_table.h"

namespace ecosort::cli {

namespace {

bool is_choice(const OptionRow& option) { return option.argument.find('|') != std::string_view::npos; }

std::string command_names() {
  std::string names;
  for (const CommandTable& table : command_tables()) names += fmt::format("{} ", table.name);
  return names;
}

// The words that may follow the command at once, where they are a fixed few: `plan sort`, `manual man`.
std::vector<std::string_view> first_words(const CommandTable& table) {
  std::vector<std::string_view> words;
  if (table.name == "plan" || table.name == "manual")
    for (const OperandRow& operand : table.operands) words.push_back(operand.name);
  return words;
}

// Returns the argument of bash's compgen after the option; empty: nothing is proposed.
std::string compgen_of(const OptionRow& option) {
  if (is_choice(option)) return fmt::format("-W '{}'", fmt::join(split(option.argument, '|'), " "));
  if (option.argument == "FILE") return "-f";
  if (option.argument == "DIR") return "-d";
  if (option.argument == "PROG") return "-c";
  return "";
}

std::string bash_values(const CommandTable& table) {
  std::string cases;
  for (const OptionRow& option : table.options) {
    if (!option.takes_next_word() || option.is_hidden) continue;
    std::vector<std::string> patterns;
    for (const std::string_view name : spellings(option)) patterns.push_back(fmt::format("'{} {}'", table.name, name));
    const std::string values = compgen_of(option);
    cases += fmt::format("    {}) {} ;;\n", fmt::join(patterns, "|"),
                         values.empty() ? "return" : fmt::format("_ecosort_propose {}; return", values));
  }
  return cases;
}

std::string bash_options(const CommandTable& table) {
  std::string names;
  for (const OptionRow& option : table.options)
    for (const std::string_view name : spellings(option))
      if (!option.is_hidden) names += fmt::format("{} ", name);
  return fmt::format("    '{}') options='{}--help' ;;\n", table.name, names);
}

std::string bash_first_words(const CommandTable& table) {
  const auto words = first_words(table);
  return words.empty() ? "" : fmt::format("    '{} 2') _ecosort_propose -W '{}'; return ;;\n", table.name, fmt::join(words, " "));
}

// fish puts texts in single quotes, in which only these two are special.
std::string fish_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string fish_option(const CommandTable& table, const OptionRow& option) {
  std::string line = fmt::format("complete -c ecosort -n '__ecosort_is {}'", table.name);
  for (const std::string_view name : spellings(option))
    line += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
  if (option.takes_next_word() || option.joined) line += " -x";
  if (option.takes_next_word() && is_choice(option)) line += fmt::format(" -a '{}'", fmt::join(split(option.argument, '|'), " "));
  if (option.argument == "FILE") line += " -a '(__fish_complete_path)'";
  if (option.argument == "DIR") line += " -a '(__fish_complete_directories)'";
  if (option.argument == "PROG") line += " -a '(__fish_complete_command)'";
  return line + fmt::format(" -d {}\n", fish_quoted(option.text));
}

// Every command with options of its own: `plan` has those of what is planned.
std::vector<CommandTable> tables_with_options() {
  std::vector<CommandTable> tables = command_tables();
  tables.insert(tables.end(), plan_tables().begin(), plan_tables().end());
  return tables;
}

// The names of the commands, and the cases of values, first words and options have places in it.
constexpr const char* bash_script = R"(# bash completion for ecosort
_ecosort_propose() {{
  local IFS=$'\n'
  local word=${{COMP_WORDS[COMP_CWORD]}}
  [[ $word == '=' ]] && word=''
  COMPREPLY=($(IFS=$' \n'; compgen "$@" -- "$word"))
}}

# ecosort-power, ecosort-tune, ecosort-cluster and ecosort-appliance know their own commands, options and values.
_ecosort_ask() {{
  local IFS=$'\n' line
  local program=$1 at=$((COMP_CWORD - 1)) words="${{COMP_WORDS[*]:2}}"
  case $program in
  joulesort) program=power words="joulesort $words" at=$COMP_CWORD ;;
  queue|serve) words="$program $words" program=appliance at=$COMP_CWORD ;;
  esac
  words="ecosort-$program $words"
  words=${{words//$'\n'/ }}
  for line in $(env "COMP_WORDS=$words" COMP_CWORD="$at" "_ECOSORT_${{program^^}}_COMPLETE=bash_complete" "${{COMP_WORDS[0]}}" "$1" 2>/dev/null); do
    case $line in
    plain,*) COMPREPLY+=("${{line#plain,}}") ;;
    dir,*) _ecosort_propose -d ;;
    file,*) _ecosort_propose -f ;;
    esac
  done
  ((${{#COMPREPLY[@]}})) || _ecosort_propose -f
}}

_ecosort() {{
  local command=${{COMP_WORDS[1]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options=''
  # --io=auto reaches us in three words.
  if [[ ${{COMP_WORDS[COMP_CWORD]}} == '=' ]]; then :; elif [[ $before == '=' ]]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _ecosort_propose -W '{}--help --version'
    return
  fi
  case $command in
  power|tune|joulesort|cluster|queue|serve) _ecosort_ask "$command"; return ;;
  plan) ((COMP_CWORD > 2)) && command="plan ${{COMP_WORDS[2]}}" ;;
  esac
  case "$command $before" in
{}  esac
  case "$command $COMP_CWORD" in
{}  esac
  case "$command" in
{}  esac
  if [[ ${{COMP_WORDS[COMP_CWORD]}} == -* ]]; then
    _ecosort_propose -W "$options"
  else
    _ecosort_propose -f
  fi
}}
complete -o filenames -F _ecosort ecosort
)";

}  // namespace

std::string bash_completion() {
  std::string values, options, first;
  for (const CommandTable& table : tables_with_options()) {
    values += bash_values(table);
    options += bash_options(table);
    first += bash_first_words(table);
  }
  return fmt::format(bash_script, command_names(), values, first, options);
}

std::string fish_completion() {
  const std::string none_yet = fmt::format("not __fish_seen_subcommand_from {}", command_names());
  std::string text = R"(# fish completion for ecosort
function __ecosort_is
    set -l words (commandline -opc)
    test "$words[2..]" = "$argv"; or string match -q -- "$argv *" "$words[2..]"
end
# ecosort-power, ecosort-tune, ecosort-cluster and ecosort-appliance know their own commands, options and values.
function __ecosort_ask
    set -l words (commandline -opc)
    set -l program $argv[1]
    set -l given $words[3..]
    if test $program = joulesort
        set program power
        set given joulesort $given
    else if contains $program queue serve
        set given $program $given
        set program appliance
    end
    for line in (env COMP_WORDS="ecosort-$program $given" COMP_CWORD=(commandline -t) _ECOSORT_(string upper $program)_COMPLETE=fish_complete $words[1] $argv[1] 2>/dev/null)
        set -l parts (string split -m 1 ',' -- $line)
        switch $parts[1]
            case dir
                __fish_complete_directories
            case file
                __fish_complete_path
            case '*'
                echo $parts[2]
        end
    end
end
)";
  for (const CommandTable& table : command_tables()) {
    text += fmt::format("complete -c ecosort -n '{}' -f -a {} -d {}\n", none_yet, table.name, fish_quoted(table.summary));
    if (const auto words = first_words(table); !words.empty())
      text += fmt::format("complete -c ecosort -n '__ecosort_is {}' -a '{}'\n", table.name, fmt::join(words, " "));
    if (table.exit_status.empty())  // it is a program of its own
      text += fmt::format("complete -c ecosort -n '__ecosort_is {0}' -f -a '(__ecosort_ask {0})'\n", table.name);
  }
  for (const CommandTable& table : tables_with_options())
    for (const OptionRow& option : table.options)
      if (!option.is_hidden) text += fish_option(table, option);
  return text;
}

}  // namespace ecosort::cli
