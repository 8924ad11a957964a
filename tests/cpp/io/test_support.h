// The tests of ecosort/io share directories that vanish, small files, memory with a given alignment.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/errors.h"

namespace ecosort::io {

class TempDirectory {
 public:
  explicit TempDirectory(const std::string& parent = std::filesystem::temp_directory_path())
      : path_(parent + "/ecosort-test-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary directory in " + parent);
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) found.push_back(entry.path().filename());
    return found;
  }

 private:
  std::string path_;
};

inline void write_file(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Bytes that differ at every place and between seeds.
inline std::string pattern(std::size_t size, unsigned seed = 1) {
  std::string text(size, '\0');
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (char& c : text) c = static_cast<char>((state = state * 6364136223846793005ULL + 1442695040888963407ULL) >> 56);
  return text;
}

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};

// Page-aligned, as direct I/O wants it.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::size_t size)
      : size_(size), memory_(static_cast<std::byte*>(std::aligned_alloc(4096, (size + 4095) / 4096 * 4096))) {}
  explicit AlignedBuffer(const std::string& text) : AlignedBuffer(text.size()) {
    text.copy(reinterpret_cast<char*>(data()), text.size());
  }
  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string text(std::size_t size) const { return {reinterpret_cast<const char*>(data()), size}; }

 private:
  std::size_t size_;
  std::unique_ptr<std::byte, FreeMemory> memory_;
};

// The line of the error an action ends with; empty if it ends without one.
template <typename Failure, typename Action>
std::string line_of(Action action) {
  try {
    action();
  } catch (const Failure& error) {
    return error.what();
  }
  return {};
}

}  // namespace ecosort::io
