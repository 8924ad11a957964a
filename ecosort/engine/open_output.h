// The file that a sort fills, and how it gets its name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/storage.h"

namespace ecosort::engine {

// An output of at most so many bytes goes through the page cache, from which one sync writes it.
inline constexpr std::uint64_t most_cached_output_bytes = std::uint64_t{1} << 20U;
// `reread`: it is read back from the device.
[[nodiscard]] io::Caching caching_of_output(std::uint64_t most_bytes, bool reread) noexcept;

// Standard output for "-", else a file without a name in the directory of `output`. IoError, NameError.
[[nodiscard]] io::FilePtr open_output(io::Storage& storage, const std::string& output, io::Caching caching);

// Makes an output durable, gives it its name, and closes it; a stream, named "-", is closed alone. The files of `further` get
// their names before it. Returns what a user should know, such as that a close failed which can lose nothing any more: the output
// and its name were synced. May be empty. IoError, NameError.
[[nodiscard]] std::string publish_output(io::Storage& storage, io::FilePtr output, const std::string& path,
                                         std::vector<io::Storage::Named> further = {});

}  // namespace ecosort::engine
