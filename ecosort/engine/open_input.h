// The files that a sort reads.
#pragma once

#include <string>

#include "io/storage.h"

namespace ecosort::engine {

// Standard input for "-". Files are read past the page cache where that is possible, small ones through it. IoError, UsageError.
[[nodiscard]] io::FilePtr open_input(io::Storage& storage, const std::string& name);

}  // namespace ecosort::engine
