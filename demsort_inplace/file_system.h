// The file system a file is on, as the kernel tells it.
#pragma once

#include <cstdint>
#include <string>

namespace ecosort::inplace {

struct FileSystem {
  std::string type;    // "ext4", "xfs", "btrfs", ...; "?" if it cannot be told
  std::string source;  // the device it is mounted from
  std::string device;  // its name in /sys, such as "sda1"; empty: none
};

// `device_number`: st_dev of the file.
[[nodiscard]] FileSystem file_system_of(std::uint64_t device_number);

// An ext4 with a journal; false also where that cannot be told.
[[nodiscard]] bool has_ext4_journal(const FileSystem& system);

}  // namespace ecosort::inplace
