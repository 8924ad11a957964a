// The words after `ecosort lines`: the grammar of GNU sort 9.1, and what EcoSort adds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "ecosort/ecosort.hpp"
#include "formats/lines/line_order.h"

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

// What the user wrote, checked for form only.
struct LinesOptions {
  LineOrderTerms order;
  std::vector<std::string> inputs;  // "-" alone where none is named
  std::string files0_from, output, random_source, compress_program;
  std::vector<std::string> temp;
  std::string memory;              // as the option of the other commands takes it; empty: default
  std::uint64_t memory_bytes = 0;  // from -S; 0: not given
  unsigned memory_percent = 0;     // from -S N%
  std::uint64_t batch_size = 0, parallel = 0;
  std::uint64_t header_lines = 0;
  std::string io, profile, goal;  // empty: no word about it
  std::string stats, events, trace, progress = "auto", verify = "always";
  std::vector<std::string> warnings;  // of --debug
  CompressionTerms compression;
  bool names_decompress = false, names_compress_output = false;  // they are given: no one has to be told of them
  Check check = Check::no;
  bool unique = false, merge = false, zero_terminated = false, debug = false, quiet = false, help = false, version = false;
  bool resumable = false, inplace = false, as_is = false, no_profile = false;
  bool checks_order = false;  // of what is merged, which is no word of sort

  [[nodiscard]] char terminator() const noexcept { return zero_terminated ? '\0' : '\n'; }
  [[nodiscard]] bool uses_random() const noexcept;
};

// What POSIXLY_CORRECT and _POSIX2_VERSION make of words, as sort has it.
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
