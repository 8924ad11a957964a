// The file that a sort fills, and how it gets its name.
#pragma once

#include <string>

#include "io/storage.h"

namespace ecosort::engine {

// Standard output for "-", else a file without a name in the directory of `output`. IoError, NameError.
[[nodiscard]] io::FilePtr open_output(io::Storage& storage, const std::string& output, io::Caching caching);

// Makes an output durable, gives it its name, and closes it; a stream, named "-", is closed alone. Returns what a user should know,
// such as that a close failed which can lose nothing any more: the output and its name were synced. May be empty. IoError,
// NameError.
[[nodiscard]] std::string publish_output(io::Storage& storage, io::FilePtr output, const std::string& path);

}  // namespace ecosort::engine
