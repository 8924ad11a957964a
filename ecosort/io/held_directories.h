// Directories that are held open: names in them are looked up in what was opened, wherever its own name leads by now.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "io/file.h"

namespace ecosort::io {

// Thread-safe. A directory is held as long as what hold() returned lives, and so must its descriptor.
class HeldDirectories {
 public:
  // For a File that has `directory` open under `path`. What was held under that path before is held no longer.
  [[nodiscard]] std::shared_ptr<Attachment> hold(const std::string& path, int directory);

  // Says where to look a path up: by a name in a directory. Not held: the path itself, from the working directory.
  struct Place {
    int directory;
    std::string name;
    bool is_held = false;
    // For calls that know only paths.
    [[nodiscard]] std::string path() const;
    // No one but us makes names in a directory that is held: none of them is a symbolic link.
    [[nodiscard]] int open_flags() const noexcept;
  };
  [[nodiscard]] Place find(const std::string& path) const;

  // The descriptor of a directory that is held under this path; -1: none is.
  [[nodiscard]] int directory(const std::string& path) const;

 private:
  struct Held;
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Held>> held_;
};

}  // namespace ecosort::io
