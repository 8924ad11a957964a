#include "lines/grammar.h"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>

#include "base/errors.h"
#include "lines/key_words.h"

namespace ecosort::lines {
namespace {

enum LongOnly : int {
  opt_check = 256,
  opt_sort,
  opt_random_source,
  opt_parallel,
  opt_batch_size,
  opt_files0_from,
  opt_compress_program,
  opt_debug,
  opt_help,
  opt_version,
  opt_header,
  opt_memory,
  opt_temp,
  opt_io,
  opt_stats,
  opt_events,
  opt_progress,
  opt_quiet,
};

constexpr std::array long_options{
    option{"ignore-leading-blanks", no_argument, nullptr, 'b'},
    option{"check", optional_argument, nullptr, opt_check},
    option{"compress-program", required_argument, nullptr, opt_compress_program},
    option{"debug", no_argument, nullptr, opt_debug},
    option{"dictionary-order", no_argument, nullptr, 'd'},
    option{"ignore-case", no_argument, nullptr, 'f'},
    option{"files0-from", required_argument, nullptr, opt_files0_from},
    option{"general-numeric-sort", no_argument, nullptr, 'g'},
    option{"ignore-nonprinting", no_argument, nullptr, 'i'},
    option{"key", required_argument, nullptr, 'k'},
    option{"merge", no_argument, nullptr, 'm'},
    option{"month-sort", no_argument, nullptr, 'M'},
    option{"numeric-sort", no_argument, nullptr, 'n'},
    option{"human-numeric-sort", no_argument, nullptr, 'h'},
    option{"version-sort", no_argument, nullptr, 'V'},
    option{"random-sort", no_argument, nullptr, 'R'},
    option{"random-source", required_argument, nullptr, opt_random_source},
    option{"sort", required_argument, nullptr, opt_sort},
    option{"output", required_argument, nullptr, 'o'},
    option{"reverse", no_argument, nullptr, 'r'},
    option{"stable", no_argument, nullptr, 's'},
    option{"batch-size", required_argument, nullptr, opt_batch_size},
    option{"buffer-size", required_argument, nullptr, 'S'},
    option{"field-separator", required_argument, nullptr, 't'},
    option{"temporary-directory", required_argument, nullptr, 'T'},
    option{"unique", no_argument, nullptr, 'u'},
    option{"zero-terminated", no_argument, nullptr, 'z'},
    option{"parallel", required_argument, nullptr, opt_parallel},
    option{"help", no_argument, nullptr, opt_help},
    option{"version", no_argument, nullptr, opt_version},
    option{"header", optional_argument, nullptr, opt_header},
    option{"memory", required_argument, nullptr, opt_memory},
    option{"temp", required_argument, nullptr, opt_temp},
    option{"io", required_argument, nullptr, opt_io},
    option{"stats", required_argument, nullptr, opt_stats},
    option{"events", required_argument, nullptr, opt_events},
    option{"progress", required_argument, nullptr, opt_progress},
    option{"quiet", no_argument, nullptr, opt_quiet},
    option{nullptr, 0, nullptr, 0},
};

// A leading '-' hands operands over in their place (+N keys stand among them), ':' tells missing arguments apart.
constexpr const char* short_options = "-:bcCdfghik:mMno:rRsS:t:T:uVy:z";

// Words in which options and operands mix. getopt's position is process-wide: one parser at a time.
class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {
    words_.insert(words_.begin(), "ecosort lines");
    for (std::string& word : words_) argv_.push_back(word.data());
    argv_.push_back(nullptr);
    posixly_correct_ = std::getenv("POSIXLY_CORRECT") != nullptr;
  }

  LinesOptions parse() {
    optind = 0;
    opterr = 0;
    const int argc = static_cast<int>(words_.size());
    bool only_operands = false;
    while (true) {
      if (only_operands && optind >= argc) break;
      const int c = only_operands ? -1 : getopt_long(argc, argv_.data(), short_options, long_options.data(), nullptr);
      if (c == -1) {
        for (; optind < argc; ++optind) operand(argv_[optind], false);
        break;
      }
      if (c == 1) {
        operand(optarg, true);
        only_operands = posixly_correct_ && !options_.inputs.empty();
      } else {
        apply(c);
      }
      if (options_.help || options_.version) return options_;
    }
    finish();
    return options_;
  }

 private:
  void apply(int c);
  void apply_long(int c);
  void operand(const char* word, bool in_place);
  bool obsolescent_key(const char* word);
  void finish();
  void resolve_keys();
  void set_check(Check check);
  void set_separator(std::string_view text);
  void set_size(std::string_view text);
  [[noreturn]] void bad_option(int c) const;

  std::vector<std::string> words_;
  std::vector<char*> argv_;
  LinesOptions options_;
  KeyWords global_;
  std::vector<KeyWords> keys_;
  bool stable_ = false;
  bool posixly_correct_ = false;
};

void Parser::bad_option(int c) const {
  const std::string word = argv_[optind - 1];
  const bool is_long = word.starts_with("--") && word.size() > 2;
  if (c == ':')
    throw UsageError(is_long ? fmt::format("option '{}' requires an argument", word)
                             : fmt::format("option requires an argument -- '{}'", static_cast<char>(optopt)));
  if (optopt != 0 && optopt < 256) throw UsageError(fmt::format("invalid option -- '{}'", static_cast<char>(optopt)));
  if (optopt != 0) throw UsageError(fmt::format("option '{}' doesn't allow an argument", word.substr(0, word.find('='))));
  throw UsageError(fmt::format("unrecognized or ambiguous option '{}'", word));
}

void Parser::set_check(Check check) {
  if (options_.check != Check::no && options_.check != check) throw UsageError("options '-cC' are incompatible");
  options_.check = check;
}

void Parser::set_separator(std::string_view text) {
  if (text.empty()) throw UsageError("empty tab");
  if (text.size() > 1 && text != "\\0") throw UsageError(fmt::format("multi-character tab '{}'", text));
  const char separator = text.size() > 1 ? '\0' : text[0];
  if (options_.order.separator && *options_.order.separator != separator) throw UsageError("incompatible tabs");
  options_.order.separator = separator;
}

std::uint64_t decimal(std::string_view text, std::string_view what) {
  std::uint64_t value = 0;
  for (const char c : text)
    if (!is_digit(c) || __builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, static_cast<std::uint64_t>(c - '0'), &value))
      throw UsageError(fmt::format("invalid {} argument '{}'", what, text));
  if (text.empty()) throw UsageError(fmt::format("invalid {} argument '{}'", what, text));
  return value;
}

// -S: KiB where no unit follows; b, K, M, G, T, P, E, and % of the machine's memory.
void Parser::set_size(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::uint64_t number = decimal(text.substr(0, end), "-S");
  const std::string_view unit = text.substr(end);
  constexpr std::string_view units = "bKMGTPE";
  if (unit == "%") {
    if (number == 0 || number > 100) throw UsageError(fmt::format("-S argument '{}' is no share of the memory", text));
    options_.memory_percent = static_cast<unsigned>(number);
    options_.memory_bytes = 0;
    return;
  }
  const std::size_t power = unit.empty() ? 1 : units.find(unit == "k" ? 'K' : unit[0]);
  if (unit.size() > 1 || power == std::string_view::npos)
    throw UsageError(fmt::format("invalid suffix in -S argument '{}'", text));
  std::uint64_t bytes = number;
  for (std::size_t i = 0; i < power; ++i)
    if (__builtin_mul_overflow(bytes, 1024, &bytes)) throw UsageError(fmt::format("-S argument '{}' too large", text));
  options_.memory_bytes = std::max({bytes, options_.memory_bytes, std::uint64_t{1}});
  options_.memory_percent = 0;
}

void Parser::apply(int c) {
  if (c != 's' && c != 'u' && c < 256 && std::string_view("bdfghiMnRrV").find(static_cast<char>(c)) != std::string_view::npos)
    return (void)global_.set(static_cast<char>(c), BlankSide::both);
  switch (c) {
    case 'c':
      return set_check(Check::first);
    case 'C':
      return set_check(Check::quiet);
    case 'k':
      keys_.push_back(parse_key_words(optarg));
      return;
    case 'm':
      options_.merge = true;
      return;
    case 'o':
      if (!options_.output.empty() && options_.output != optarg) throw UsageError("multiple output files specified");
      options_.output = optarg;
      return;
    case 's':
      stable_ = true;
      return;
    case 'S':
      return set_size(optarg);
    case 't':
      return set_separator(optarg);
    case 'T':
      options_.temp.emplace_back(optarg);
      return;
    case 'u':
      options_.unique = true;
      return;
    case 'z':
      options_.zero_terminated = true;
      return;
    case 'y':
      throw UsageError("-y is not supported: it has no meaning in sort either; leave it out, or give the memory with -S");
    case ':':
    case '?':
      bad_option(c);
    default:
      apply_long(c);
  }
}

char sort_word(std::string_view word) {
  constexpr std::pair<std::string_view, char> words[] = {{"general-numeric", 'g'}, {"human-numeric", 'h'}, {"month", 'M'},
                                                         {"numeric", 'n'},         {"random", 'R'},        {"version", 'V'}};
  char found = 0;
  for (const auto& [name, letter] : words) {
    if (name == word) return letter;
    if (word.empty() || !name.starts_with(word)) continue;
    if (found != 0) throw WrongWord(fmt::format("ambiguous argument '{}' for '--sort'", word));
    found = letter;
  }
  if (found == 0) throw WrongWord(fmt::format("invalid argument '{}' for '--sort'", word));
  return found;
}

Check check_word(const char* word) {
  const std::string_view text = word == nullptr ? "diagnose-first" : word;
  if (!text.empty() && (std::string_view("quiet").starts_with(text) || std::string_view("silent").starts_with(text)))
    return Check::quiet;
  if (!text.empty() && std::string_view("diagnose-first").starts_with(text)) return Check::first;
  throw WrongWord(fmt::format("invalid argument '{}' for '--check'", text));
}

void Parser::apply_long(int c) {
  switch (c) {
    case opt_check:
      return set_check(check_word(optarg));
    case opt_sort:
      (void)global_.set(sort_word(optarg), BlankSide::both);
      return;
    case opt_random_source:
      if (!options_.random_source.empty() && options_.random_source != optarg)
        throw UsageError("multiple random sources specified");
      options_.random_source = optarg;
      return;
    case opt_parallel:
      options_.parallel = decimal(optarg, "--parallel");
      if (options_.parallel == 0) throw UsageError("number in parallel must be nonzero");
      return;
    case opt_batch_size:
      options_.batch_size = decimal(optarg, "--batch-size");
      if (options_.batch_size < 2)
        throw UsageError(fmt::format("invalid --batch-size argument '{}'; minimum --batch-size argument is '2'", optarg));
      return;
    case opt_files0_from:
      options_.files0_from = optarg;
      return;
    case opt_compress_program:
      throw UsageError("--compress-program is not supported: temporary files are never compressed; leave it out");
    case opt_debug:
      throw UsageError("--debug is not supported; leave it out");
    case opt_help:
      options_.help = true;
      return;
    case opt_version:
      options_.version = true;
      return;
    case opt_header:
      options_.header_lines = optarg == nullptr ? 1 : decimal(optarg, "--header");
      return;
    case opt_memory:
      options_.memory = optarg;
      return;
    case opt_temp:
      options_.temp.emplace_back(optarg);
      return;
    case opt_io:
      options_.io = optarg;
      return;
    case opt_stats:
      options_.stats = optarg;
      return;
    case opt_events:
      options_.events = optarg;
      return;
    case opt_progress:
      options_.progress = optarg;
      return;
    case opt_quiet:
      options_.quiet = true;
      return;
    default:
      throw InternalError("an option of lines that nobody handles");
  }
}

// "+N[.M][opts] [-N[.M][opts]]", the form before -k. A word that does not read as one is a file.
bool Parser::obsolescent_key(const char* word) {
  const char* const next = optind < static_cast<int>(words_.size()) ? argv_[optind] : nullptr;
  const bool has_end = next != nullptr && next[0] == '-' && is_digit(next[1]);
  std::optional<KeyWords> key = parse_obsolescent_begin(word + 1);
  if (!key) return false;
  if (has_end) {
    parse_obsolescent_end(next + 1, *key);
    ++optind;
  }
  keys_.push_back(*key);
  return true;
}

void Parser::operand(const char* word, bool in_place) {
  if (in_place && word[0] == '+' && (!posixly_correct_ || options_.inputs.empty()) && obsolescent_key(word)) return;
  options_.inputs.emplace_back(word);
}

void Parser::resolve_keys() {
  std::vector<KeyWords> all = keys_;
  all.push_back(global_);
  for (const KeyWords& key : all) key.check_compatible();
  for (KeyWords& key : keys_)
    if (!key.has_options()) key.inherit(global_);
  if (keys_.empty() && global_.orders()) keys_.push_back(global_);
  for (const KeyWords& key : keys_) options_.order.keys.push_back(key.resolved());
  options_.order.reverse = global_.has('r');
  options_.order.last_resort = !stable_ && !options_.unique;
}

void Parser::finish() {
  if (!options_.files0_from.empty()) {
    if (!options_.inputs.empty())
      throw UsageError(
          fmt::format("extra operand '{}'; file operands cannot be combined with --files0-from", options_.inputs[0]));
  } else if (options_.inputs.empty()) {
    options_.inputs.emplace_back("-");
  }
  resolve_keys();
  if (options_.header_lines > 0 && (options_.merge || options_.check != Check::no))
    throw UsageError("--header does not go with -m, -c or -C: what is sorted already has no header to keep apart");
  if (options_.check == Check::no) return;
  const char letter = options_.check == Check::first ? 'c' : 'C';
  if (options_.inputs.size() > 1)
    throw UsageError(fmt::format("extra operand '{}' not allowed with -{}", options_.inputs[1], letter));
  if (!options_.output.empty()) throw UsageError(fmt::format("options '-{}o' are incompatible", letter));
}

}  // namespace

bool LinesOptions::uses_random() const noexcept {
  return std::ranges::any_of(order.keys, [](const SortKey& key) { return key.kind == KeyKind::random; });
}

LinesOptions parse_lines_words(const std::vector<std::string>& words) { return Parser(words).parse(); }

}  // namespace ecosort::lines
