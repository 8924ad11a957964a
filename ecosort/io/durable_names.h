// Names that outlive a power cut: what the sync of a directory leaves open on some file systems.
//
// ext4 with the feature fast_commit writes what one fsync needs into a part of its journal that the kernel replays, but e2fsck
// (1.47.0) does not or does wrong, and that runs first when a machine starts. (Images of a drive in the moment after a sort,
// checked by e2fsck: the name was gone in 60 of 60; mounted without that check in none of 60, and in none of 40 without
// fast_commit.) syncfs makes a full commit, which both understand.
#pragma once

#include <string>

#include "io/file_system.h"

namespace ecosort::io {

// Makes the names in an open directory durable. `path` is for the message. IoError.
void sync_names(int directory, const std::string& path);
// Syncs them where the file system is known, by system_for_names().
void sync_names(int directory, const std::string& path, const FileSystem& system);

// Says as a notice why names in `directory` may not outlive a power cut all the same; empty: they do. Where only a program or
// another machine could know (FUSE, 9p, NFS), its answer to the sync is believed.
[[nodiscard]] std::string doubt_about_names(const std::string& directory);
[[nodiscard]] std::string doubt_about_names(const std::string& directory, const FileSystem& system);

// Returns what the functions here have to know of it. The list of all mounts is read only where the kernel does not say it
// otherwise.
[[nodiscard]] FileSystem system_for_names(int directory, const std::string& path);

// Returns whether a file that got its name is synced once more: on ext4 without a journal e2fsck removes the name of a file that
// had none when it was synced. True where no one knows.
[[nodiscard]] bool needs_sync_with_name(const FileSystem& system);

// A job that must outlive a crash is refused with this where makes_fast_commits().
inline constexpr const char* fast_commits_reason =
    "its ext4 file system makes fast commits, which e2fsck may lose after a crash; turn them off on the unmounted drive with "
    "tune2fs -O ^fast_commit, or use ecosort sort";

// Returns whether an ext4 makes fast commits: tries some with a file without a name there. False where it cannot be found out.
[[nodiscard]] bool makes_fast_commits(const std::string& directory);

}  // namespace ecosort::io
