// The file system a file is on, as the kernel tells everybody, and what a crash may do to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ecosort::io {

struct FileSystem {
  std::string type;     // "ext4", "xfs", "btrfs", ...; if it has no such name, its number: "0x1234"
  std::string source;   // the device it is mounted from
  std::string device;   // its name in /sys, such as "sda1"; empty: none
  std::string options;  // of the file system, not of the mount: "rw,volatile"
};

// Of the file or directory `path`, whose st_dev is `device_number`.
[[nodiscard]] FileSystem file_system_of(const std::string& path, std::uint64_t device_number);

// Its name in /sys, such as "sda1"; empty: it has none.
[[nodiscard]] std::string device_name_of(std::uint64_t device_number);

// Whether an ext2, ext3 or ext4 has a journal. Nothing: that cannot be told, or it is another file system.
[[nodiscard]] std::optional<bool> has_journal(const FileSystem& system);

// How often an ext4 has made a fast commit since it was mounted: 0 where it has none (ext4 with the feature fast_commit).
[[nodiscard]] std::uint64_t fast_commits(const FileSystem& system);

// What is cut off a file there is free at once, and belongs to one file only after a crash: XFS, and ext4 with a journal.
[[nodiscard]] bool frees_safely(const FileSystem& system);

}  // namespace ecosort::io
