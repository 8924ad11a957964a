// The file system a file is on, as the kernel tells it.
#pragma once

#include <cstdint>
#include <string>

namespace ecosort::inplace {

struct FileSystem {
  std::string type;    // "ext4", "xfs", "btrfs", ...; if it has no such name, its number: "0x1234"
  std::string source;  // the device it is mounted from
  std::string device;  // its name in /sys, such as "sda1"; empty: none
};

// Of the file or directory `path`, whose st_dev is `device_number`.
[[nodiscard]] FileSystem file_system_of(const std::string& path, std::uint64_t device_number);

// An ext4 with a journal; false also where that cannot be told.
[[nodiscard]] bool has_ext4_journal(const FileSystem& system);

// What is cut off a file there is free at once, and belongs to one file only after a crash: XFS, and ext4 with a journal.
[[nodiscard]] bool frees_safely(const FileSystem& system);

}  // namespace ecosort::inplace
