// Memory that was given back and may serve again. Its pages are there already: the system clears a page before a program sees it,
// and that is as expensive as sorting the records that fit into it.
//
// The next phase seldom wants pieces of the sizes that the phase before gave back. A mapping that is too large is cut; one that
// is too small is moved to where there is room behind it, by its page tables.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ecosort {

// Not thread-safe.
class IdlePages {
 public:
  // Mappings in large pages; smaller ones are not worth it.
  static constexpr std::size_t least_bytes = std::size_t{2} << 20U;

  IdlePages();
  IdlePages(const IdlePages&) = delete;
  IdlePages& operator=(const IdlePages&) = delete;
  ~IdlePages() { keep_at_most(0); }

  // A whole mapping, of whole pages. One for which there is no place is unmapped.
  void add(std::span<std::byte> mapping) noexcept;

  // A mapping of `size` bytes, whole pages, that begins with as much of an idle one as there is; empty: there is none. What it
  // holds is left over from before.
  [[nodiscard]] std::span<std::byte> take(std::size_t size) noexcept;

  // Unmaps what is more, of the smallest ones first. Whole pages.
  void keep_at_most(std::size_t bytes) noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::span<std::byte>> mappings_;  // by size, the smallest first
  std::size_t bytes_ = 0;
};

}  // namespace ecosort
