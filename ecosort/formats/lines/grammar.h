// The words after `ecosort lines`: the grammar of GNU sort 9.1, and what EcoSort adds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "ecosort/ecosort.hpp"
#include "formats/lines/key_words.h"

namespace ecosort::lines {

// A message of several lines, as sort writes about a wrong option.
class WrongOption : public UsageError {
 public:
  WrongOption(const std::string& line, std::string further) : UsageError(line), further_(std::move(further)) {}
  [[nodiscard]] const std::string& further() const noexcept {
    return further_;
  }  // lines below the first one, as they are written

 private:
  std::string further_;
};

// A word that is none of those that an option takes: sort ends with 1 then, not with 2.
class WrongWord : public WrongOption {
 public:
  using WrongOption::WrongOption;
};

enum class Check : std::uint8_t { no, first, quiet };  // -c, -C

// Holds what the user wrote, checked for form only.
struct LinesOptions {
  Request request{.rows = Lines{}};  // its inputs are "-" alone where none is named, its output "-"
  std::string output;                // as it was written; empty: none was named
  std::string files0_from, profile, goal;
  std::string stats, events, trace, progress = "auto";
  std::vector<std::string> warnings;                             // of --debug
  bool names_decompress = false, names_compress_output = false;  // they are given: no notice is due
  bool names_io = false;
  Check check = Check::no;
  bool debug = false, quiet = false, help = false, version = false, no_profile = false;

  [[nodiscard]] Lines& lines() { return std::get<Lines>(request.rows); }
  [[nodiscard]] const Lines& lines() const { return std::get<Lines>(request.rows); }
  void set_salt(const Digest& salt) { lines().random_salt = salt_text(salt); }
  [[nodiscard]] bool uses_chance() const { return lines::uses_chance(order()); }
  [[nodiscard]] LineOrderTerms order() const { return order_terms(lines(), request.unique); }
};

// Returns what --verify says, of all commands: whether the output is read again. UsageError.
[[nodiscard]] bool is_reread(std::string_view word);

// POSIXLY_CORRECT and _POSIX2_VERSION change how words are read, as in GNU sort.
struct PosixRules {
  bool options_first = false;     // behind the first operand all words are operands
  bool takes_begin_alone = true;  // +N without -M is a key, which POSIX of 2001 to 2008 forbids
  friend bool operator==(const PosixRules&, const PosixRules&) = default;
};
[[nodiscard]] PosixRules posix_rules_of_environment();

// UsageError with the line that sort would write.
[[nodiscard]] LinesOptions parse_lines_words(const std::vector<std::string>& words,
                                             const PosixRules& rules = posix_rules_of_environment());

}  // namespace ecosort::lines
