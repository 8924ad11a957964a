#include "cli/option_binding.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/closest_word.h"
#include "base/errors.h"

namespace ecosort::cli {

namespace {

// Strictly decimal: CLI11 would read "-1" as a huge number and "0100" as octal.
std::uint64_t parse_whole(const std::string& option, const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) return value;
  const bool is_too_large = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  throw UsageError(fmt::format("{}: '{}' is {}", option, text, is_too_large ? "too large a number" : "not a whole number"));
}

// CLI11 takes the next word for the value of "--name=".
void check_value(const CommandTable& table, const std::string& word) {
  if (!word.starts_with("--") || word.size() < 4 || word.find('=') + 1 != word.size()) return;
  throw UsageError(
      fmt::format("{}: {}: needs a value (see ecosort {} --help)", table.name, word.substr(0, word.size() - 1), table.name));
}

bool wants_value(const CommandTable& table, const std::string& word) {
  return std::ranges::any_of(table.options, [word = fmt::format(",{},", word)](const OptionRow& row) {
    return row.takes_next_word() && fmt::format(",{},", row.name).find(word) != std::string::npos;
  });
}

// CLI11 takes a file named "[a,b]" for two files, but no value of an option.
Words checked_words(const CommandTable& table, const Words& words) {
  Words checked;
  bool is_value = false, are_operands = false;
  for (const std::string& word : words) {
    checked.push_back(word.starts_with('[') && !is_value ? fmt::format("./{}", word) : word);
    if (!is_value && !are_operands) check_value(table, word);
    are_operands |= !is_value && word == "--";
    is_value = !is_value && !are_operands && wants_value(table, word);
  }
  return checked;
}

// Of an option that is understood without an effect, or refused: only that it is given is kept.
bool may_be_unbound(const CommandTable& table, const OptionRow& row) {
  return row.is_hidden || std::ranges::any_of(table.conflicts, [&](const ConflictRow& conflict) {
           return conflict.with.empty() && conflict.option == last_spelling(row.name);
         });
}

void bind_to_nothing(CLI::App& app, const OptionRow& row) {
  const std::string name(row.name);
  if (row.argument.empty())
    app.add_flag(name);
  else
    app.add_option_function<std::string>(name, [](const std::string&) {})->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void bind(CLI::App& app, const CommandTable& table, const OptionTargets& targets) {
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
    else if (may_be_unbound(table, row))
      bind_to_nothing(app, row);
    else
      throw InternalError(fmt::format("option {} of the table is bound to nothing", name));
  }
}

// A letter may have others, or its value, behind it: "-rn", "-k2".
std::string_view advice_on_habit(const CommandTable& table, std::string_view name) {
  constexpr std::size_t letter = 2;
  const std::string_view word = name.starts_with("--") ? name : name.substr(0, letter);
  const auto found = std::ranges::find(table.habits, word, &HabitRow::word);
  return found == table.habits.end() ? std::string_view() : found->advice;
}

std::string unknown_word(const CommandTable& table, const std::string& word) {
  const std::string_view name = std::string_view(word).substr(0, word.find('='));
  std::vector<std::string_view> names{"--help"};
  for (const OptionRow& row : table.options) {
    if (row.is_hidden) continue;
    names.push_back(last_spelling(row.name));
  }
  const std::string_view advice = advice_on_habit(table, name);
  const std::string meant = !advice.empty()          ? fmt::format("; {}", advice)
                            : word.starts_with("--") ? did_you_mean(name, names)
                                                     : "";
  return fmt::format("{}: no such option: '{}'{} (see ecosort {} --help)", table.name, word, meant, table.name);
}

}  // namespace

ParsedWords parse_words(const CommandTable& table, const Words& words, const OptionTargets& targets) {
  ParsedWords parsed;
  CLI::App app;
  app.set_help_flag("-h,--help", "");
  bind(app, table, targets);
  app.add_option(table.operands.empty() ? "OPERAND" : std::string(table.operands.front().name), *targets.operands);
  const Words checked = checked_words(table, words);
  try {
    app.parse(Words(checked.rbegin(), checked.rend()));
  } catch (const CLI::CallForHelp&) {
    parsed.asks_for_help = true;
    return parsed;
  } catch (const CLI::ExtrasError&) {
    throw UsageError(unknown_word(table, app.remaining(true).front()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}: {} (see ecosort {} --help)", table.name, error.what(), table.name));
  }
  for (const OptionRow& row : table.options)
    if (app.count(std::string(last_spelling(row.name))) > 0) parsed.given.insert(row.name);
  check_conflicts(table, parsed.given);
  return parsed;
}

}  // namespace ecosort::cli
