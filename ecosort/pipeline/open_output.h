// The file that a sort fills before it gets its name.
#pragma once

#include <string>

#include "io/storage.h"

namespace ecosort::pipeline {

// Standard output for "-", else a file without a name in the directory of `output`. IoError, NameError.
[[nodiscard]] io::FilePtr open_output(io::Storage& storage, const std::string& output);

}  // namespace ecosort::pipeline
