// Direct I/O: whether a file can do it, and in which unit.
#pragma once

#include <cstddef>
#include <string>

namespace ecosort::io {

// Turns O_DIRECT on for a descriptor of our own (the flag belongs to the open file description, so never for an inherited
// one). Returns the unit in bytes, a power of two >= 512, that memory addresses, offsets and sizes must be multiples of; 1 if
// the file system cannot do direct I/O: then the file stays buffered. Never fails.
[[nodiscard]] std::size_t enable_direct_io(int fd) noexcept;

// The directory's file system keeps its files in memory (tmpfs, ramfs): direct I/O and temporary files make no sense there.
// Throws IoError.
[[nodiscard]] bool is_in_memory(const std::string& directory);

// Returns whether space that is punched out of a file can be taken by another file at once. Not so where the file system cannot
// punch holes, or frees an extent only when nothing refers to any part of it (btrfs). Throws IoError.
[[nodiscard]] bool reuses_released_space(const std::string& directory);

}  // namespace ecosort::io
