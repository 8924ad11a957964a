// Finds the file system that a file is on, as the kernel shows it to everybody, and what a crash may do to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ecosort::io {

struct FileSystem {
  std::string type;       // "ext4", "xfs", "btrfs", ...; if it has no such name, its number: "0x1234"
  std::string source{};   // the device it is mounted from
  std::string device{};   // its name in /sys, such as "sda1"; empty: none
  std::string options{};  // of the file system, not of the mount: "rw,volatile"
};

// `path` is a file or directory whose st_dev is `device_number`.
[[nodiscard]] FileSystem file_system_of(const std::string& path, std::uint64_t device_number);

// Its name in /sys, such as "sda1"; empty: it has none.
[[nodiscard]] std::string device_name_of(std::uint64_t device_number);

// Returns whether an ext2, ext3 or ext4 has a journal. Nothing: that is not known, or it is another file system.
[[nodiscard]] std::optional<bool> has_journal(const FileSystem& system);

// Counts the fast commits that an ext4 has made since it was mounted: 0 where it has none (ext4 with the feature fast_commit).
[[nodiscard]] std::uint64_t fast_commits(const FileSystem& system);

// Returns whether space that is cut off a file is free at once, and belongs to one file only after a crash: XFS, and ext4 with a
// journal.
[[nodiscard]] bool frees_safely(const FileSystem& system);

}  // namespace ecosort::io
