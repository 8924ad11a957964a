// Names of temporary files: unpredictable (promise P10), and recognisable by the next run should one be left behind (P2).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"

namespace ecosort::io {

// A name that is taken by chance this often is taken on purpose.
inline constexpr int name_attempts = 100;

// ".ecosort-XXXXXXXX.tmp" with 40 random bits; its creator must still use O_EXCL.
[[nodiscard]] std::string fresh_temporary_name();
[[nodiscard]] bool is_temporary_name(std::string_view name) noexcept;

// Paths of temporary files in `directory` that no running program holds any more: a living one has its file locked (flock).
// Empty if the directory cannot be read.
[[nodiscard]] std::vector<std::string> abandoned_temporaries(const std::string& directory);

// A temporary file that still has a name; removes the name unless released before.
class TemporaryName : public Attachment {
 public:
  explicit TemporaryName(std::string path) : path_(std::move(path)) {}
  ~TemporaryName() override;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  void release() noexcept { path_.clear(); }

 private:
  std::string path_;
};

}  // namespace ecosort::io
