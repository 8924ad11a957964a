// Words behind the options of `ecosort lines`, and what is said about those that are none.
#pragma once

#include <getopt.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/lines/grammar.h"

namespace ecosort::lines {

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

// The letter of --sort=WORD, the kind of --check=WORD; words may be cut short where they stay unique. WrongWord.
[[nodiscard]] char sort_word(std::string_view word);
[[nodiscard]] Check check_word(std::string_view word);

// Returns whether "--NAME" or "--NAME=VALUE" is an option of these, or may be the beginning of one.
[[nodiscard]] bool begins_an_option(std::string_view word, std::span<const option> options);

// Throws WrongOption for a long option that getopt_long did not take: unknown, or the beginning of several. For an unknown one,
// it names the nearest of these and of `more`.
[[noreturn]] void wrong_long_option(std::string_view word, std::span<const option> options, std::span<const option> more);

}  // namespace ecosort::lines
