// Words behind the options of `ecosort lines`, and what is said about those that are none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/errors.h"

namespace ecosort::lines {

// A message of several lines, as sort writes about a wrong option.
class WrongOption : public UsageError {
 public:
  WrongOption(const std::string& line, std::string further) : UsageError(line), further_(std::move(further)) {}
  // Lines below the first one, as they are written.
  [[nodiscard]] const std::string& further() const noexcept { return further_; }

 private:
  std::string further_;
};

// A word that is none of those that an option takes: sort ends with 1 then, not with 2.
class WrongWord : public WrongOption {
 public:
  using WrongOption::WrongOption;
};

// The last line of a message about a word that is no option, as sort writes it.
inline constexpr const char* see_help = "Try 'ecosort lines --help' for more information.";

// -S: KiB where no unit follows; b, K, M, G, T, P, E, and % of the machine's memory.
struct SizeWord {
  std::uint64_t bytes = 0;  // or
  unsigned percent = 0;     // up to 100; 0: bytes are meant
};

// UsageError where there is no number.
[[nodiscard]] SizeWord parse_size(std::string_view text);
[[nodiscard]] std::uint64_t parse_count(std::string_view text, std::string_view option);            // too large: UsageError
[[nodiscard]] std::uint64_t parse_saturated_count(std::string_view text, std::string_view option);  // too large: the largest

// The letter of --sort=WORD, and of --check=WORD: c or C. Words may be cut short where they stay unique. WrongWord.
[[nodiscard]] char sort_word(std::string_view word);
[[nodiscard]] char check_word(std::string_view word);

}  // namespace ecosort::lines
