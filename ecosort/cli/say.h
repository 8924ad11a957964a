// The two standard streams as the program uses them: messages for people, and data.
#pragma once

#include <string_view>

namespace ecosort::cli {

// To standard error, in one write. A closed terminal is no reason to fail: what cannot be said is left out.
void say(std::string_view text) noexcept;

// To standard output, all of it. IoError if it cannot be written.
void print_out(std::string_view text);

}  // namespace ecosort::cli
