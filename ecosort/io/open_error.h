// Decides which failures to open or create are the user's to mend.
#pragma once

#include <string>

namespace ecosort::io {

// Throws NameError if the name, a permission or a read-only file system is in the way, else IoError.
// `call` as in IoError::from_call: "open", "create a file in".
// The message names the directory on the way there that denies it.
[[noreturn]] void throw_open_error(const char* call, const std::string& path, int error_number);

// " (the directory 'DIRECTORY' may not be entered)" for the first directory on the way to `path` that is why it was denied; empty
// where none is, and for other errors.
[[nodiscard]] std::string denied_on_the_way(const std::string& path, int error_number);

}  // namespace ecosort::io
