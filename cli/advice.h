// Says what to do about an error, in the words of the command line: the library knows none of them.
#pragma once

#include <string>
#include <string_view>

#include "base/errors.h"

namespace ecosort::cli {

// The command, and its options that give more memory and other places for runs.
struct AdviceWords {
  std::string_view command, memory, temp;
};

// "; try --memory 4096KiB" and the like, to follow the error's own line; empty where it says enough.
[[nodiscard]] std::string advice_on(const Error& error, const AdviceWords& words);

// Says it for a failure of the system.
[[nodiscard]] std::string advice_on_failure(int error_number, const AdviceWords& words);

}  // namespace ecosort::cli
