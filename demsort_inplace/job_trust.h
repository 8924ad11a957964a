// Decides whether a job directory is what this user made: its journal says which files are read and written, with this user's
// rights.
#pragma once

#include <sys/types.h>

#include <optional>

#include "demsort_inplace/job_directory.h"

namespace ecosort::demsort_inplace {

// Says whose jobs are continued with besides one's own (root's, too, are only root's).
struct Trust {
  std::optional<uid_t> also = std::nullopt;
};

// JobRefused unless the open job directory, and every file of the job in it or beside it, belongs to this process's user or the
// one that is trusted (files but the journal also to root), is a directory or a regular file (no symbolic link), and cannot be
// written by others. In a directory that only its owner can enter, which is how it is made, no one else can write whatever the
// mode of a file is. Where the mount lets everybody write to all files, the owner of the directory has to be trusted by name.
// Stores without descriptors have no other users.
void check_trust(io::NamedStorage& storage, const JobPaths& paths, const io::File& directory, const Trust& trust);

// Checks a directory that this process has just made. Where the mount decides about owner and mode of all files (vfat, exFAT,
// NTFS), that is what there can be of trust.
void check_own_directory(io::NamedStorage& storage, const JobPaths& paths, const io::File& directory);

// The owner of a job's directory that others can write, who has to be trusted by name; else nothing.
[[nodiscard]] std::string owner_to_trust(const JobPaths& paths);

// Checks what a finished job leaves beside FILE, where there is no directory any more.
void check_trust_in_trace(const JobPaths& paths, const Trust& trust);

}  // namespace ecosort::demsort_inplace
