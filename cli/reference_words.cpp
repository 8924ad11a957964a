#include "cli/reference_words.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>

#include "base/closest_word.h"
#include "base/cpus.h"
#include "base/errors.h"
#include "cli/say.h"

namespace ecosort::cli {
namespace {

constexpr unsigned most_threads = 1024;

const OptionRow* find_flag(const CommandTable& table, char letter) {
  const char name[] = {'-', letter};
  return find_row(table, {name, sizeof name});
}

// "-as" -> "-a -s", if all letters are flags without value.
std::optional<std::string> separated(std::string_view letters, const CommandTable& table) {
  std::string text;
  for (const char letter : letters) {
    const OptionRow* const flag = find_flag(table, letter);
    if (flag == nullptr || !flag->argument.empty()) return std::nullopt;
    text += fmt::format("{}-{}", text.empty() ? "" : " ", letter);
  }
  return text;
}

void refuse_attached_text(const std::string& word, const CommandTable& table) {
  if (word.size() <= 2) return;
  if (const auto apart = separated(std::string_view(word).substr(1), table)) {
    throw UsageError(fmt::format("'{}' would be read as -{} alone by the reference tool; type {}", word, word[1], *apart));
  }
  throw UsageError(fmt::format("'{}': -{} takes nothing behind the letter; type -{} alone", word, word[1], word[1]));
}

// The value of the flag in words[i]; moves i to the last word used.
std::string flag_value(const OptionRow& flag, const Words& words, std::size_t& i, const CommandTable& table) {
  const std::string& word = words[i];
  if (flag.argument.empty()) {
    refuse_attached_text(word, table);
    return {};
  }
  if (flag.joined) {
    if (word.size() == 2) throw UsageError(fmt::format("{} needs its number right behind the letter, such as {}4", word, word));
    return word.substr(2);
  }
  if (word.size() > 2) throw UsageError(fmt::format("'{}': type {} {}", word, flag.name, word.substr(2)));
  if (i + 1 == words.size() || words[i + 1].starts_with('-'))
    throw UsageError(fmt::format("{} needs a file name behind it", word));
  return words[++i];
}

// Returns what a number with a unit or an exponent was meant to be: "1e6" and "1M" -> "1000000", "1,000" -> "1000".
std::optional<std::string> digits_meant(std::string_view text) {
  std::string digits(text);
  std::erase_if(digits, [](char c) { return c == ',' || c == '_' || c == '\''; });
  const std::size_t length = digits.find_first_not_of("0123456789");
  if (length == 0) return std::nullopt;
  if (length == std::string::npos) return digits;
  const std::string unit = digits.substr(length);
  digits.resize(length);
  if ((unit[0] == 'e' || unit[0] == 'E') && is_decimal(unit.substr(1)) && unit.size() <= 3) {
    return digits.append(static_cast<std::size_t>(std::stoi(unit.substr(1))), '0');
  }
  const std::size_t thousands = std::string_view("kmgt").find(static_cast<char>(unit[0] | 0x20));
  if (unit.size() > 1 || thousands == std::string_view::npos) return std::nullopt;
  return digits.append(3 * (thousands + 1), '0');
}

// Returns what the reference tool would take for the number.
std::string digits_read(std::string_view text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  return digits.empty() ? "0" : std::string(digits);
}

struct LongWords {
  std::string progress = "auto";
  bool quiet = false, teragen = false;
};

// words[at]; its value may be the next one.
void take_long_word(const Words& words, std::size_t& at, const CommandTable& table, LongWords& found) {
  constexpr std::string_view progress = "--progress";
  constexpr std::array known{progress, std::string_view("--quiet"), std::string_view("--help")};
  const std::string& word = words[at];
  const std::string_view name = std::string_view(word).substr(0, word.find('='));
  if (word == "--quiet") {
    found.quiet = true;
  } else if (word == "--teragen" && find_row(table, word) != nullptr) {
    found.teragen = true;
  } else if (name != progress) {
    throw UsageError(fmt::format("no such option: '{}'{}", word, did_you_mean(name, known)));
  } else if (name.size() < word.size()) {
    found.progress = word.substr(name.size() + 1);
  } else {
    if (at + 1 == words.size()) throw UsageError("--progress needs a value: auto, none or json");
    found.progress = words[++at];
  }
}

io::FileCaching parse_file_option(std::string_view option, const std::string& word) {
  if (option == "buf") return io::FileCaching::buffered;
  if (option == "dir") return io::FileCaching::direct;
  if (option.starts_with("trans=") || option.starts_with("count=")) {
    throw UsageError(fmt::format("'{}': transfer size and count are chosen for you; leave ',{}' out", word, option));
  }
  throw UsageError(fmt::format("'{}': unknown file option '{}' (there are ,buf and ,dir; a new file's name cannot hold a comma)",
                               word, option));
}

}  // namespace

ReferenceWords parse_reference_words(const Words& words, const CommandTable& table) {
  ReferenceWords result;
  LongWords long_words;
  std::size_t i = 0;
  for (; i < words.size() && words[i].starts_with('-'); ++i) {
    const std::string& word = words[i];
    if (word == "--help" || word == "-h") {
      result.wants_help = true;
      return result;
    }
    if (word == "--") {
      ++i;
      break;
    }
    if (word.starts_with("--")) {
      take_long_word(words, i, table, long_words);
      continue;
    }
    if (word == "-") throw UsageError("'-' is no file name here; type /dev/stdin or /dev/stdout");
    const OptionRow* const flag = find_flag(table, word[1]);
    if (flag == nullptr) throw UsageError(fmt::format("unknown flag '{}'", word));
    const std::string value = flag_value(*flag, words, i, table);
    result.flags[flag->name[1]] = value;
  }
  result.progress = progress_mode(long_words.progress, long_words.quiet);
  result.teragen = long_words.teragen;
  result.positionals.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  for (const std::string& word : result.positionals) {
    if (word.starts_with('-')) throw UsageError(fmt::format("'{}' comes too late; flags go before everything else", word));
  }
  return result;
}

uint128 parse_number(const std::string& what, const std::string& text, unsigned bits) {
  if (!is_decimal(text)) {
    const auto meant = digits_meant(text);
    throw UsageError(fmt::format("{} '{}' is no whole number (the reference tool would read {}); type {}", what, text,
                                 digits_read(text), meant ? *meant : "its decimal digits only"));
  }
  const auto value = parse_decimal(text);
  if (!value || (bits < 128 && *value >> bits != 0)) {
    throw UsageError(fmt::format("{} {} is too large; it must be below 2^{}", what, text, bits));
  }
  return *value;
}

unsigned thread_count(const ReferenceWords& words) {
  if (!words.has('t')) return std::min(usable_cpus(), most_threads);
  const uint128 threads = parse_number("-t", words.flags.at('t'), 64);
  if (threads == 0 || threads > most_threads) throw UsageError(fmt::format("-t takes 1 to {} threads", most_threads));
  return static_cast<unsigned>(threads);
}

FileWord parse_file_word(const std::string& word) {
  if (word.empty()) throw UsageError("the file name is empty");
  const std::size_t comma = word.find(',');
  if (comma == std::string::npos || ::access(word.c_str(), F_OK) == 0) return {.name = word};
  FileWord result{.name = word.substr(0, comma)};
  for (std::size_t begin = comma; begin != std::string::npos;) {
    const std::size_t end = word.find(',', begin + 1);
    result.caching =
        parse_file_option(std::string_view(word).substr(begin + 1, end == std::string::npos ? end : end - begin - 1), word);
    begin = end;
  }
  return result;
}

int with_reference_exit_codes(std::string_view command, const std::function<int()>& body) try {
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond `ulimit -f` is then an error like a full disk
  return body();
} catch (const Interrupted&) {
  throw;
} catch (const UsageError& error) {
  say_line(fmt::format("ecosort {}: {} (see ecosort {} --help)", command, error.what(), command));
  return 1;
} catch (const Error& error) {
  say_line(error.what());
  return 1;
} catch (const std::exception& error) {
  say_line(fmt::format("ecosort {}: internal error: {}", command, error.what()));
  return 1;
}

}  // namespace ecosort::cli
