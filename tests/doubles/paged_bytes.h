// The contents of a file in memory: sparse, and cheap to copy, because copies share their pages until one is written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace ecosort::io {

// Not thread-safe, and copies that share pages belong to the same thread or lock.
class PagedBytes {
 public:
  static constexpr std::size_t page_bytes = 4096;

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return pages_allocated_ * page_bytes; }

  // Returns the bytes read: fewer than `size` at the end, 0 behind it. Holes read as zeros.
  std::size_t read(std::uint64_t offset, std::byte* data, std::size_t size) const;
  [[nodiscard]] bool holds(std::string_view text) const;                      // this and nothing else, as read() would return it
  void write(std::uint64_t offset, const std::byte* data, std::size_t size);  // extends the file
  void resize(std::uint64_t size);                                            // truncates or adds a hole
  void release(std::uint64_t offset, std::uint64_t size);                     // zeros; whole pages are given back
  void reserve(std::uint64_t offset, std::uint64_t size);                     // allocates, and extends the file

  // Returns what write() and reserve() would allocate there.
  [[nodiscard]] std::uint64_t missing_bytes(std::uint64_t offset, std::uint64_t size) const;

 private:
  using Page = std::array<std::byte, page_bytes>;

  [[nodiscard]] Page& writable(std::size_t page);
  void drop(std::size_t page);
  void zero(std::uint64_t begin, std::uint64_t end);

  std::vector<std::shared_ptr<Page>> pages_;  // null: a hole; may be shorter than the file
  std::uint64_t size_ = 0;
  std::uint64_t pages_allocated_ = 0;
};

}  // namespace ecosort::io
