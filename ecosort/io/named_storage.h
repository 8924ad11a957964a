// Files and directories that keep their names while a job runs: what a resumable job (journal, runs) needs beyond io/storage.h.
//
// Nothing here is durable by itself: a created, renamed or removed name survives a power cut only after sync_directory() of
// every directory it is in; contents and size of a file only after its own sync.
// Errors and thread-safety as in io/storage.h.
#pragma once

#include <string>
#include <vector>

#include "io/storage.h"

namespace ecosort::io {

class NamedStorage : public Storage {
 public:
  // A new file, mode 0600, open for reading and writing. An existing one is an error (EEXIST).
  [[nodiscard]] virtual FilePtr create_named(const std::string& path, Role role, Caching caching) = 0;

  // An existing regular file for reading and writing; a symbolic link is an error (ELOOP).
  [[nodiscard]] virtual FilePtr open_named(const std::string& path, Role role, Caching caching) = 0;

  // Gives an open file the owner, mode, ACL and extended attributes of the file `of`; where there is none, the mode of a file
  // that is newly made there. Returns what could not be kept, as one line; usually empty.
  [[nodiscard]] virtual std::string adopt_attributes(File& file, const std::string& of) = 0;

  // A file; atomic; replaces an existing file `to`. NameError where that is a device, a pipe or a socket; so of remove().
  virtual void rename(const std::string& from, const std::string& to) = 0;
  // A file; atomic. IoError with EEXIST if there is a `to`.
  virtual void rename_new(const std::string& from, const std::string& to) = 0;
  virtual void remove(const std::string& path) = 0;            // a file's name
  virtual void make_directory(const std::string& path) = 0;    // mode 0700
  virtual void remove_directory(const std::string& path) = 0;  // an empty one
  virtual void sync_directory(const std::string& path) = 0;    // makes the names in it durable

  // An existing directory. As long as the File lives, names in it (paths that begin with `path` and a slash) are looked up in
  // this very directory, whatever has its own name by then, and none of them is followed where it is a symbolic link.
  [[nodiscard]] virtual FilePtr open_directory(const std::string& path) = 0;
  // Returns whether `path` still leads to this open directory.
  [[nodiscard]] virtual bool leads_to(const std::string& path, const File& directory) = 0;

  // The names in a directory, sorted, without "." and "..".
  [[nodiscard]] virtual std::vector<std::string> list(const std::string& directory) = 0;
  [[nodiscard]] virtual bool exists(const std::string& path) = 0;
};

}  // namespace ecosort::io
