// The grammar of GNU sort 9.1: bundled letters, options that are cut short, the order of words, and +N [-M].
#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <span>

#include "base/closest_word.h"
#include "base/errors.h"
#include "cli/given_words.h"
#include "formats/lines/key_words.h"
#include "formats/lines/option_words.h"
#include "formats/lines/text.h"
#include "job/plan_codecs.h"

namespace ecosort::cli {

namespace {

constexpr int first_row = 256;  // what getopt_long returns for the first row of a table; below are letters
constexpr int help_option = -2, version_option = -3;

// An option as getopt_long reads it. Names are literals of the tables: last spellings, which end where the literal does.
option long_option(const OptionRow& row, std::string_view spelling, std::size_t place) {
  const int takes = row.argument.empty() ? no_argument : row.may_lack_argument() ? optional_argument : required_argument;
  return {spelling.data() + 2, takes, nullptr, first_row + static_cast<int>(place)};
}

constexpr option no_option{nullptr, 0, nullptr, 0};

// The options of sort, those of ours, and the letters. sort lists possibilities in its own order: those that order lines are
// behind the others.
struct Grammar {
  std::vector<option> of_sort, own;
  std::string letters = "-:";  // operands are handed over in their place (+N keys are among them), missing arguments are marked

  explicit Grammar(const CommandTable& table) {
    std::vector<option> ordering;
    for (std::vector<option>* options : {&ordering, &of_sort, &own}) options->reserve(table.options.size());
    for (std::size_t i = 0; i < table.options.size(); ++i) {
      const OptionRow& row = table.options[i];
      if (!row.name.starts_with("--")) {
        letters += row.name[1];
        if (row.takes_next_word()) letters += ':';
      }
      const std::string_view spelling = last_spelling(row.name);
      if (!spelling.starts_with("--")) continue;
      std::vector<option>& options = !row.is_gnu ? own : row.concern == Concern::rows ? ordering : of_sort;
      options.push_back(long_option(row, spelling, i));
    }
    std::ranges::copy(ordering, std::back_inserter(of_sort));
    of_sort.push_back({"help", no_argument, nullptr, help_option});
    of_sort.push_back({"version", no_argument, nullptr, version_option});
    of_sort.push_back(no_option);
    own.push_back(no_option);
  }

  // The options to look for the word in; the letters are in neither. What may be the beginning of an option of sort means that
  // one, but for --compress, which is the beginning of --compress-program.
  [[nodiscard]] std::span<const option> options_for(std::string_view word) const {
    if (is_key_of_tables(word)) return std::span(&no_option, 1);
    const bool is_compress = word == "--compress" || word.starts_with("--compress=");
    const bool is_own = is_compress || (word.starts_with("--") && !begins_one(word, of_sort) && begins_one(word, own));
    return is_own ? own : of_sort;
  }

  // The option of csv and jsonl is no beginning of --by-group.
  static bool is_key_of_tables(std::string_view word) { return word == "--by" || word.starts_with("--by="); }

  static std::string_view name_in(std::string_view word) { return word.substr(0, word.find('=')).substr(2); }

  static std::vector<std::string_view> names_of(std::span<const option> options) {
    std::vector<std::string_view> names;
    for (const option& one : options)
      if (one.name != nullptr) names.emplace_back(one.name);
    return names;
  }

  static bool begins_one(std::string_view word, std::span<const option> options) {
    const std::string_view begin = name_in(word);
    return std::ranges::any_of(
        options, [&](const option& one) { return one.name != nullptr && std::string_view(one.name).starts_with(begin); });
  }
};

// A long option that getopt_long did not take is unknown, or the beginning of several.
[[noreturn]] void refuse_long(std::string_view word, const Grammar& grammar) {
  if (Grammar::is_key_of_tables(word))
    throw lines::WrongOption(fmt::format("unrecognized option '{}'", word),
                             "ecosort lines: keys are fields here, as in -k2,2; ecosort csv and jsonl have --by");
  std::vector<std::string_view> names = Grammar::names_of(grammar.options_for(word));
  std::string possible;
  for (const std::string_view name : names)
    if (name.starts_with(Grammar::name_in(word))) possible += fmt::format(" '--{}'", name);
  if (!possible.empty())
    throw lines::WrongOption(fmt::format("option '{}' is ambiguous; possibilities:{}", word, possible), lines::see_help);
  std::ranges::copy(Grammar::names_of(grammar.own), std::back_inserter(names));
  const std::optional<std::string_view> near = closest_word(Grammar::name_in(word), names);
  throw lines::WrongOption(
      fmt::format("unrecognized option '{}'", word),
      near ? fmt::format("{}\necosort lines: did you mean '--{}'?", lines::see_help, *near) : lines::see_help);
}

// `word` is the one that getopt_long was at.
[[noreturn]] void refuse(int c, std::string_view word, const Grammar& grammar) {
  const char* const missing = c == ':' ? "requires an argument" : nullptr;
  if (!word.starts_with("--"))
    throw lines::WrongOption(fmt::format("{} -- '{}'", missing != nullptr ? "option requires an argument" : "invalid option",
                                         static_cast<char>(optopt)),
                             lines::see_help);
  if (optopt == 0) refuse_long(word, grammar);
  const char* const name = std::ranges::find(grammar.options_for(word), optopt, &option::val)->name;
  throw lines::WrongOption(fmt::format("option '--{}' {}", name, missing != nullptr ? missing : "doesn't allow an argument"),
                           lines::see_help);
}

// getopt's position is process-wide: one at a time.
class GnuSplitter {
 public:
  GnuSplitter(const CommandTable& table, const Words& words, const lines::PosixRules& rules,
              const std::function<void(const GivenOption&)>& each)
      : table_(table), grammar_(table), rules_(rules), each_(each), words_(words) {
    words_.insert(words_.begin(), "ecosort lines");
    for (std::string& word : words_) argv_.push_back(word.data());
    argv_.push_back(nullptr);
  }

  GivenWords split() {
    optind = 0;
    opterr = 0;
    const int argc = static_cast<int>(words_.size());
    bool only_operands = false;
    while (!found_.asks_for_help && !found_.asks_for_version) {
      if (only_operands && optind >= argc) break;
      const std::string_view word = argv_[std::min(std::max(optind, 1), argc - 1)];
      const int c = only_operands
                        ? -1
                        : getopt_long(argc, argv_.data(), grammar_.letters.c_str(), grammar_.options_for(word).data(), nullptr);
      if (c == -1) {
        for (; optind < argc; ++optind) found_.operands.emplace_back(argv_[optind]);
        break;
      }
      if (c == ':' || c == '?') refuse(c, word, grammar_);
      take(c);
      only_operands = c == 1 && rules_.options_first && !found_.operands.empty();
    }
    return std::move(found_);
  }

 private:
  void take(int c) {
    if (c == 1) return take_operand(optarg);
    if (c == help_option) return void(found_.asks_for_help = true);
    if (c == version_option) return void(found_.asks_for_version = true);
    const OptionRow& row =
        c >= first_row ? table_.options[static_cast<std::size_t>(c - first_row)] : row_of(static_cast<char>(c));
    add({&row, optarg == nullptr ? std::nullopt : std::optional<std::string>(optarg)});
  }

  // Some words of an option mean another one.
  void add(GivenOption given) {
    const std::string_view name = last_spelling(given.row->name);
    if (name == "--compress" && !codec::is_run_compression(*given.word)) given.row = find_row(table_, "--compress-program");
    if (name == "--check" && given.word && lines::check_word(*given.word) == 'C') given.row = find_row(table_, "-C");
    each_(given);
    found_.options.push_back(std::move(given));
  }

  const OptionRow& row_of(char letter) const {
    return *std::ranges::find_if(
        table_.options, [&](const OptionRow& row) { return row.name.size() > 1 && row.name[0] == '-' && row.name[1] == letter; });
  }

  void take_operand(const char* word) {
    const bool may_be_key = word[0] == '+' && (!rules_.options_first || found_.operands.empty());
    if (!may_be_key || !take_obsolescent_key(word)) found_.operands.emplace_back(word);
  }

  // "+N[.M][opts] [-N[.M][opts]]", the form before -k. A word that does not read as one is a file.
  bool take_obsolescent_key(const char* word) {
    const char* const next = optind < static_cast<int>(words_.size()) ? argv_[optind] : nullptr;
    const bool has_end = next != nullptr && next[0] == '-' && lines::is_digit(next[1]);
    if (!rules_.takes_begin_alone && (!has_end || rules_.options_first)) return false;
    std::optional<lines::KeyWords> key = lines::parse_obsolescent_begin(word + 1);
    if (!key) return false;
    if (has_end) {
      lines::parse_obsolescent_end(next + 1, *key);
      ++optind;
    }
    add({&row_of('k'), to_string(key->key()), true});
    return true;
  }

  const CommandTable& table_;
  const Grammar grammar_;
  const lines::PosixRules rules_;
  const std::function<void(const GivenOption&)>& each_;
  Words words_;
  std::vector<char*> argv_;
  GivenWords found_;
};

}  // namespace

lines::PosixRules posix_rules_of_environment() {
  const char* const version = std::getenv("_POSIX2_VERSION");
  const long posix = version == nullptr ? 200809 : std::strtol(version, nullptr, 10);
  return {std::getenv("POSIXLY_CORRECT") != nullptr, posix < 200112 || posix >= 200809};
}

GivenWords split_gnu_words(const CommandTable& table, const Words& words, const lines::PosixRules& rules,
                           const std::function<void(const GivenOption&)>& each) {
  return GnuSplitter(table, words, rules, each).split();
}

}  // namespace ecosort::cli
