// Decides which failures to open or create are the user's to mend.
#pragma once

#include <string>

namespace ecosort::io {

// Throws NameError if the name, a permission or a read-only file system is in the way, else IoError.
// `call` as in IoError::from_call: "open", "create a file in".
[[noreturn]] void throw_open_error(const char* call, const std::string& path, int error_number);

}  // namespace ecosort::io
