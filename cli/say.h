// The two standard streams as the program uses them: messages for people, and data.
#pragma once

#include <string_view>

namespace ecosort::cli {

// To standard error, in one write. A closed terminal is no reason to fail: what cannot be said is left out.
void say(std::string_view text) noexcept;

// One line to standard error, likewise. A newline or another control character in it (file names may hold them) is written as
// \n, \t or \xHH, so that one message stays one line and a terminal does nothing it was not asked for.
void say_line(std::string_view text) noexcept;

// To standard error what somebody waits for (a checksum, a report): IoError if it cannot be written.
void report(std::string_view text);

// To standard output, all of it. IoError if it cannot be written.
void print_out(std::string_view text);

}  // namespace ecosort::cli
