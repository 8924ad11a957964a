// A file under the name that a user typed, for the tools that behave like gensort and valsort: every failure is an IoError whose
// line is `NAME: reason`, and no result is left unchecked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ecosort::io {

// Decides whether a large regular file bypasses the page cache: where the file system allows it, never, or else it is an error.
enum class FileCaching : std::uint8_t { automatic, buffered, direct };

// Read and write calls may come from several threads at once; everything else from one. The destructor closes without
// checking: error paths only.
class PlainFile {
 public:
  // "/dev/stdin" and "/dev/stdout" are this process's own descriptors at their present positions; anything else is opened by
  // name, and created or truncated for writing. create(): UsageError where a job waits to write it.
  [[nodiscard]] static PlainFile open_for_reading(const std::string& name);
  [[nodiscard]] static PlainFile create(const std::string& name);
  PlainFile(PlainFile&& other) noexcept;
  PlainFile& operator=(PlainFile&&) = delete;
  ~PlainFile();

  // Positions mean something: a regular file that was opened by name.
  [[nodiscard]] bool has_positions() const noexcept { return has_positions_; }

  struct State {
    std::uint64_t size_bytes = 0;
    std::int64_t modified_ns = 0;
    friend bool operator==(const State&, const State&) = default;
  };
  [[nodiscard]] State state() const;

  // Asks for transfers that bypass the page cache if `size_bytes` is worth it. A transfer must then start at a multiple of 4096
  // in memory and file, and its size be one.
  void choose_caching(FileCaching caching, std::uint64_t size_bytes);

  // Fill `data` from the current position or from `offset`; return fewer bytes only at the end of the file.
  [[nodiscard]] std::size_t read(std::span<std::byte> data);
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> data);
  void write(std::span<const std::byte> data);
  void write_at(std::uint64_t offset, std::span<const std::byte> data);

  // Takes the space for `size_bytes`, if the file system can, and sets the size.
  void reserve(std::uint64_t size_bytes);
  void set_size(std::uint64_t size_bytes);
  void try_to_empty() noexcept;  // after a failure, so that no one takes a part for the whole
  void sync();                   // regular files and block devices; nothing else keeps what is written
  void close();                  // a failure that the system reports late ends up here

 private:
  PlainFile(int fd, std::string name, bool by_name);
  [[nodiscard]] bool drop_direct() const noexcept;  // false: it was not in use

  int fd_;
  std::string name_;
  bool is_durable_ = false, has_positions_ = false;  // a regular file or a block device; a regular file opened by name
};

// The whole file in memory. For small files.
[[nodiscard]] std::vector<std::byte> read_whole_file(const std::string& name);

// Returns the name that links lead to, absolute, whether or not there is a file of that name.
[[nodiscard]] std::string name_behind_links(const std::string& path);
// Both names lead to the same file, which need not be there yet.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

using FileNumber = std::pair<std::uint64_t, std::uint64_t>;  // of its device, and in it
// Returns the numbers of those inputs that are files or block devices. "-" is standard input.
[[nodiscard]] std::set<FileNumber> numbers_of(const std::vector<std::string>& inputs);
// The name leads to one of these files.
[[nodiscard]] bool is_one_of(const std::string& path, const std::set<FileNumber>& files);

// UsageError where a job that was interrupted waits to write this file: when it is continued it would replace what was written
// meanwhile, and of a sort in place the file has records.
void check_no_job(const std::string& file);

}  // namespace ecosort::io
