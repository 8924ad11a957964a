// Inputs and outputs behind s3:// and http(s)://, which the program ecosort-remote streams to and from a sort.
#pragma once

#include <string_view>

#include "cli/commands.h"

namespace ecosort::cli {

[[nodiscard]] bool is_address(std::string_view name) noexcept;

// Returns whether a word of the command may be an address; most commands have none, which costs a look at each word.
[[nodiscard]] bool mention_addresses(const Words& words) noexcept;

// Returns the words for ecosort-remote where an input or the output is an address: the command, its options as --name=value, and
// behind `--` the inputs. Empty: none is. Throws UsageError where the command cannot stream.
[[nodiscard]] Words words_of_remote(std::string_view command, const Words& words);

}  // namespace ecosort::cli
