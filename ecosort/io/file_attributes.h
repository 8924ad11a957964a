// Owner, mode, ACL and extended attributes of a new output (promise P2).
#pragma once

#include <string>

namespace ecosort::io {

// Gives the open file what the file `replaced_path` has. Returns what could not be kept and why, as one line without the
// path ("the owner (Operation not permitted), the attribute user.x (...)"), empty if everything was. A file whose owner or
// group could not be kept gets no set-id bits, and its group no more rights than others have. Throws IoError if even
// the mode cannot be set, unless the mount decides about modes: then it is one of what could not be kept.
[[nodiscard]] std::string adopt_attributes(int fd, const std::string& path, const std::string& replaced_path);

// Gives the open file, made with mode 0600, the mode a file created in `directory` by open(..., 0666) would have: by the
// directory's default ACL if it has one, else by the umask, or the one that a mount gives all files. Throws IoError.
void adopt_default_mode(int fd, const std::string& path, const std::string& directory);

}  // namespace ecosort::io
