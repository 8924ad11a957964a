#include "formats/lines/grammar.h"

#include <fmt/format.h>
#include <getopt.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>

#include "base/errors.h"
#include "base/size_text.h"
#include "codec/block_codec.h"
#include "codec/codec.h"
#include "formats/lines/key_warnings.h"
#include "formats/lines/key_words.h"
#include "formats/lines/option_words.h"
#include "formats/lines/quoted.h"

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
  opt_verify,
  opt_quiet,
  opt_resumable,
  opt_inplace,
  opt_as_is,
  opt_decompress,
  opt_compress,
  opt_assume_ratio,
  opt_goal,
  opt_compress_output,
  opt_level,
  opt_trace,
  opt_profile,
  opt_no_profile,
};

// GNU sort 9.1 has these.
constexpr std::array gnu_options{
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
    option{nullptr, 0, nullptr, 0},
};

// EcoSort adds these. Whatever may be the beginning of one of GNU sort's means that one.
constexpr std::array own_options{
    option{"header", optional_argument, nullptr, opt_header},
    option{"memory", required_argument, nullptr, opt_memory},
    option{"temp", required_argument, nullptr, opt_temp},
    option{"io", required_argument, nullptr, opt_io},
    option{"stats", required_argument, nullptr, opt_stats},
    option{"events", required_argument, nullptr, opt_events},
    option{"progress", required_argument, nullptr, opt_progress},
    option{"quiet", no_argument, nullptr, opt_quiet},
    option{"resumable", no_argument, nullptr, opt_resumable},
    option{"inplace", no_argument, nullptr, opt_inplace},
    option{"as-is", no_argument, nullptr, opt_as_is},
    option{"verify", required_argument, nullptr, opt_verify},
    option{"decompress", required_argument, nullptr, opt_decompress},
    option{"level", required_argument, nullptr, opt_level},
    option{"compress", required_argument, nullptr, opt_compress},
    option{"assume-ratio", required_argument, nullptr, opt_assume_ratio},
    option{"goal", required_argument, nullptr, opt_goal},
    option{"compress-output", required_argument, nullptr, opt_compress_output},
    option{"trace", required_argument, nullptr, opt_trace},
    option{"profile", required_argument, nullptr, opt_profile},
    option{"no-profile", no_argument, nullptr, opt_no_profile},
    option{nullptr, 0, nullptr, 0},
};

// To sort --compress is the beginning of --compress-program, whose programs it takes, too.
bool is_compress(std::string_view word) { return word == "--compress" || word.starts_with("--compress="); }

// The options to look for the word in. The word of a short option is in neither.
std::span<const option> options_for(std::string_view word) {
  if (is_compress(word)) return own_options;
  const bool is_own = word.starts_with("--") && !begins_an_option(word, gnu_options) && begins_an_option(word, own_options);
  return is_own ? std::span<const option>(own_options) : std::span<const option>(gnu_options);
}

// A leading '-' hands operands over in their place (+N keys are among them), ':' tells missing arguments apart.
constexpr const char* short_options = "-:bcCdfghik:mMno:rRsS:t:T:uVy:z";

// Words in which options and operands mix. getopt's position is process-wide: one parser at a time.
class Parser {
 public:
  Parser(const std::vector<std::string>& words, const PosixRules& rules)
      : words_(words), posixly_correct_(rules.options_first), takes_begin_alone_(rules.takes_begin_alone) {
    words_.insert(words_.begin(), "ecosort lines");
    for (std::string& word : words_) argv_.push_back(word.data());
    argv_.push_back(nullptr);
  }

  LinesOptions parse() {
    optind = 0;
    opterr = 0;
    const int argc = static_cast<int>(words_.size());
    bool only_operands = false;
    while (true) {
      if (only_operands && optind >= argc) break;
      const std::string_view word = argv_[std::min(std::max(optind, 1), argc - 1)];
      const int c = only_operands ? -1 : getopt_long(argc, argv_.data(), short_options, options_for(word).data(), nullptr);
      if (c == -1) {
        for (; optind < argc; ++optind) operand(argv_[optind], false);
        break;
      }
      if (c == 1) {
        operand(optarg, true);
        only_operands = posixly_correct_ && !request_.inputs.empty();
      } else if (c == ':' || c == '?') {
        bad_option(c, word);
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
  [[nodiscard]] std::string* text_of(int c);
  void apply_own(int c);
  void apply_compression(int c);
  void operand(const char* word, bool in_place);
  bool obsolescent_key(const char* word);
  void finish();
  void resolve_keys();
  void set_check(Check check);
  void set_separator(std::string_view text);
  void set_size(std::string_view text);
  void set_threads(std::uint64_t threads);
  void order_by(char letter);
  void resolve_means();
  void set_compress_program(const char* name);
  [[nodiscard]] char check_letter() const {
    return options_.check == Check::no ? '\0' : options_.check == Check::first ? 'c' : 'C';
  }
  [[noreturn]] static void bad_option(int c, std::string_view word);

  std::vector<std::string> words_;
  bool posixly_correct_;
  bool takes_begin_alone_;
  std::vector<char*> argv_;
  LinesOptions options_;
  Request& request_ = options_.request;
  Lines& lines_ = options_.lines();
  KeyWords global_;
  std::vector<KeyWords> keys_;
  std::uint64_t wished_bytes_ = 0;  // -S
  bool is_resumable_ = false, is_in_place_ = false;
};

// `word` is the one that getopt_long was at.
void Parser::bad_option(int c, std::string_view word) {
  const bool is_long = word.starts_with("--");
  std::string what;
  if (!is_long)
    what = fmt::format("{} -- '{}'", c == ':' ? "option requires an argument" : "invalid option", static_cast<char>(optopt));
  else if (optopt == 0)
    wrong_long_option(word, options_for(word), own_options);
  else
    what = fmt::format("option '--{}' {}", std::ranges::find(options_for(word), optopt, &option::val)->name,
                       c == ':' ? "requires an argument" : "doesn't allow an argument");
  throw WrongOption(what, see_help);
}

void Parser::order_by(char letter) {
  if (!global_.has(letter)) lines_.ordering += letter;
  (void)global_.set(letter, BlankSide::both);
}

void Parser::set_check(Check check) {
  if (options_.check != Check::no && options_.check != check) throw UsageError("options '-cC' are incompatible");
  options_.check = check;
}

void Parser::set_separator(std::string_view text) {
  if (text.empty()) throw UsageError("empty tab");
  if (text.size() > 1 && text != "\\0") throw UsageError(fmt::format("multi-character tab {}", quoted_word(text)));
  const char separator = text.size() > 1 ? '\0' : text[0];
  if (lines_.separator && *lines_.separator != separator) throw UsageError("incompatible tabs");
  lines_.separator = separator;
}

// An empty name must not mean that none was given.
std::string file_name(const char* word) {
  if (*word == '\0') throw UsageError("open failed: '': No such file or directory");
  return word;
}

std::uint64_t share_of_memory(unsigned percent) {
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)),
             size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return pages * size / 100 * percent;
}

void Parser::set_size(std::string_view text) {
  const SizeWord size = parse_size(text);
  wished_bytes_ = std::max(size.percent == 0 ? size.bytes : share_of_memory(size.percent), wished_bytes_);
}

void Parser::set_compress_program(const char* name) {
  std::string& program = request_.compression.program;
  if (!program.empty() && program != name) throw UsageError("multiple compress programs specified");
  if (*name == '\0') throw UsageError("--compress-program: the name of the program is empty");
  program = name;
}

void Parser::apply(int c) {
  if (c != 's' && c != 'u' && c < 256 && std::string_view("bdfghiMnRrV").find(static_cast<char>(c)) != std::string_view::npos)
    return order_by(static_cast<char>(c));
  switch (c) {
    case 'c':
      return set_check(Check::first);
    case 'C':
      return set_check(Check::quiet);
    case 'k':
      keys_.push_back(parse_key_words(optarg));
      return;
    case 'm':
      request_.input_order = InputOrder::believed;
      return;
    case 'o':
      if (!options_.output.empty() && options_.output != optarg) throw UsageError("multiple output files specified");
      options_.output = file_name(optarg);
      return;
    case 's':
      lines_.stable = true;
      return;
    case 'S':
      return set_size(optarg);
    case 't':
      return set_separator(optarg);
    case 'T':
      request_.means.temp_directories.emplace_back(optarg);
      return;
    case 'u':
      request_.unique = true;
      return;
    case 'z':
      lines_.terminator = '\0';
      return;
    case 'y':
      throw UsageError("-y is not supported: it has no meaning in sort either; leave it out, or give the memory with -S");
    default:
      apply_long(c);
  }
}

void Parser::apply_long(int c) {
  switch (c) {
    case opt_check:
      return set_check(check_word(optarg == nullptr ? "diagnose-first" : optarg));
    case opt_sort:
      return order_by(sort_word(optarg));
    case opt_random_source:
      if (!lines_.random_source.empty() && lines_.random_source != optarg) throw UsageError("multiple random sources specified");
      lines_.random_source = file_name(optarg);
      return;
    case opt_parallel:
      return set_threads(parse_saturated_count(optarg, "--parallel"));
    case opt_batch_size:
      request_.means.batch_size = parse_count(optarg, "--batch-size");
      if (request_.means.batch_size < 2)
        throw WrongOption(fmt::format("invalid --batch-size argument {}", quoted_word(optarg)),
                          "ecosort lines: minimum --batch-size argument is '2'");
      return;
    case opt_files0_from:
      options_.files0_from = file_name(optarg);
      return;
    case opt_compress_program:
      return set_compress_program(optarg);
    case opt_debug:
      options_.debug = true;
      return;
    case opt_help:
      options_.help = true;
      return;
    case opt_version:
      options_.version = true;
      return;
    default:
      apply_own(c);
  }
}

// Returns the member that keeps the value as it is written; null for other options.
std::string* Parser::text_of(int c) {
  switch (c) {
    case opt_io:
      options_.names_io = true;
      return &request_.means.io;
    case opt_stats:
      return &options_.stats;
    case opt_events:
      return &options_.events;
    case opt_progress:
      return &options_.progress;
    case opt_compress_output:
      options_.names_compress_output = true;
      return &request_.compression.output;
    case opt_trace:
      return &options_.trace;
    case opt_profile:
      return &options_.profile;
    case opt_goal:
      return &options_.goal;
    default:
      return nullptr;
  }
}

void Parser::apply_own(int c) {
  if (std::string* const text = text_of(c)) {
    *text = optarg;
    return;
  }
  switch (c) {
    case opt_header:
      lines_.header_lines = optarg == nullptr ? 1 : parse_count(optarg, "--header");
      return;
    case opt_temp:
      request_.means.temp_directories.emplace_back(optarg);
      return;
    case opt_quiet:
      options_.quiet = true;
      return;
    case opt_resumable:
      is_resumable_ = true;
      return;
    case opt_inplace:
      is_in_place_ = true;
      return;
    case opt_as_is:
      request_.place.as_is = true;
      return;
    case opt_memory:
      request_.means.memory_bytes = std::max<std::uint64_t>(parse_bytes(optarg, "memory"), 1);
      return;
    case opt_verify:
      request_.verification.reread = is_reread(optarg);
      return;
    case opt_no_profile:
      options_.no_profile = true;
      return;
    default:
      apply_compression(c);
  }
}

void Parser::apply_compression(int c) {
  switch (c) {
    case opt_decompress:
      request_.compression.decompress = codec::decompress_of_word(optarg, "--decompress");
      options_.names_decompress = true;
      return;
    case opt_compress:
      if (!codec::is_run_compression(optarg)) return set_compress_program(optarg);
      (void)codec::run_compression_of_word(optarg, "--compress");
      request_.compression.runs = optarg;
      return;
    case opt_assume_ratio:
      request_.compression.assumed_ratio = codec::ratio_of_word(optarg, "--assume-ratio");
      return;
    case opt_level:
      request_.compression.level = codec::level_of_word(optarg, "--level");
      return;
    default:
      throw InternalError("an option of lines that no one handles");
  }
}

// "+N[.M][opts] [-N[.M][opts]]", the form before -k. A word that does not read as one is a file.
bool Parser::obsolescent_key(const char* word) {
  const char* const next = optind < static_cast<int>(words_.size()) ? argv_[optind] : nullptr;
  const bool has_end = next != nullptr && next[0] == '-' && is_digit(next[1]);
  if (!takes_begin_alone_ && (!has_end || posixly_correct_)) return false;
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
  if (in_place && word[0] == '+' && (!posixly_correct_ || request_.inputs.empty()) && obsolescent_key(word)) return;
  request_.inputs.emplace_back(word);
}

void Parser::resolve_keys() {
  for (const KeyWords& key : keys_) lines_.keys.push_back(key.key());
  const bool is_global_only = keys_.empty() && global_.orders();
  lines::resolve_keys(keys_, global_);
  if (options_.debug)
    options_.warnings = key_warnings({keys_, global_, is_global_only, !lines_.stable && !request_.unique, lines_.separator});
}

void Parser::set_threads(std::uint64_t threads) {
  if (threads == 0) throw UsageError("number in parallel must be nonzero");
  request_.means.threads = static_cast<unsigned>(std::min<std::uint64_t>(threads, std::numeric_limits<unsigned>::max()));
}

// --memory is a bound, -S a suggestion.
void Parser::resolve_means() {
  if (wished_bytes_ != 0) {
    request_.means.memory_bytes = wished_bytes_;
    request_.means.memory_is_a_wish = true;
  }
  request_.place.output = options_.output.empty() ? "-" : options_.output == "-" ? "./-" : options_.output;  // as sort has it
  if (is_resumable_) request_.place.kind = PlaceKind::resumable;
  if (is_in_place_ && is_resumable_) throw UsageError("--inplace can be resumed anyway; leave --resumable out");
  if (is_in_place_) request_.place.kind = PlaceKind::in_place;
}

void Parser::finish() {
  if (!options_.files0_from.empty()) {
    if (!request_.inputs.empty())
      throw WrongOption(fmt::format("extra operand {}", quoted_word(request_.inputs[0])),
                        fmt::format("file operands cannot be combined with --files0-from\n{}", see_help));
  } else if (request_.inputs.empty()) {
    request_.inputs.emplace_back("-");
  }
  resolve_keys();
  resolve_means();
  if (options_.debug && (options_.check != Check::no || !options_.output.empty()))
    throw UsageError(fmt::format("options '-{} --debug' are incompatible", check_letter() != 0 ? check_letter() : 'o'));
  if (options_.check == Check::no) return;
  const char letter = check_letter();
  if (request_.inputs.size() > 1)
    throw UsageError(fmt::format("extra operand {} not allowed with -{}", quoted_word(request_.inputs[1]), letter));
  if (!options_.output.empty()) throw UsageError(fmt::format("options '-{}o' are incompatible", letter));
}

}  // namespace

bool is_reread(std::string_view word) {
  if (word == "always" || word == "reread") return word == "reread";
  throw UsageError(fmt::format("--verify: '{}' is neither 'always' nor 'reread'; verification cannot be turned off", word));
}

PosixRules posix_rules_of_environment() {
  const char* const version = std::getenv("_POSIX2_VERSION");
  const long posix = version == nullptr ? 200809 : std::strtol(version, nullptr, 10);
  return {std::getenv("POSIXLY_CORRECT") != nullptr, posix < 200112 || posix >= 200809};
}

LinesOptions parse_lines_words(const std::vector<std::string>& words, const PosixRules& rules) {
  return Parser(words, rules).parse();
}

}  // namespace ecosort::lines
