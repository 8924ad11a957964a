// Finds who can have put there, or changed, a file or directory: asked before a program is started or a module loaded from a
// place that no one named, and before a job directory is taken for one's own.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace ecosort {

// Users whose files count as one's own.
using Owners = std::vector<uid_t>;

// This process's user, and root.
[[nodiscard]] Owners root_and_user();

// The group or others have write permission. (An ACL that lets others write shows in the bits of the group.)
[[nodiscard]] bool is_writable_by_others(const struct stat& status) noexcept;

// Says why `status` of `path` is not to be trusted, such as "'/x' belongs to user bob" or "'/x' can be written by others". Empty:
// it is.
[[nodiscard]] std::string reason_to_distrust(const struct stat& status, const std::string& path, const Owners& owners);

// Does the same for a file and every directory on the way to it from the root, through symbolic links: each belongs to one of the
// owners, and others cannot write to it. A directory in which everybody may replace only what is his own (sticky, such as /tmp)
// may be on the way, but not hold the file. `path` is absolute. Never throws: what cannot be looked at is a reason.
[[nodiscard]] std::string reason_to_distrust_place(const std::string& path, const Owners& owners);

}  // namespace ecosort
